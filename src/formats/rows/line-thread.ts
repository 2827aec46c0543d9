import { parentPort, workerData } from 'node:worker_threads';
import { openTimeZone } from '../../model/time-zone.js';
import { memoryOf, type ReadStretch, type Stretch } from './line-threads.js';
import { countLineFeeds, readStretch } from './lines.js';
import { type Piece, PieceBuilder } from './piece.js';

// entry of a thread that reads lines

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

parentPort!.on('message', ({ bytes, isFirst }: Stretch) => {
  const pieces: Piece[] = [];
  for (const row of readStretch(bytes, isFirst)) {
    const piece = builder.add(row);
    if (piece !== undefined) pieces.push(piece);
  }
  pieces.push(builder.take());
  const read: ReadStretch = { pieces, lines: countLineFeeds(bytes) };
  parentPort!.postMessage(read, memoryOf(read));
});
