import { parentPort, workerData } from 'node:worker_threads';
import { openTimeZone } from '../../model/time-zone.js';
import { countLineFeeds, LineSplitter, lastRows, rowsOf } from './lines.js';
import { type Piece, PieceBuilder } from './piece.js';
import { type Batch, memoryOf, type ReadBatch } from './read-threads.js';

// entry of a thread that reads lines

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

parentPort!.on('message', ({ bytes, isFirst }: Batch) => {
  // only the first line of a file may have a byte order mark
  const splitter = new LineSplitter(isFirst ? 1 : 2);
  const pieces: Piece[] = [];
  for (const row of [...rowsOf(splitter, bytes), ...lastRows(splitter)]) {
    const piece = builder.add(row);
    if (piece !== undefined) pieces.push(piece);
  }
  pieces.push(builder.take());
  const read: ReadBatch = { pieces, lines: countLineFeeds(bytes) };
  parentPort!.postMessage(read, memoryOf(read));
});
