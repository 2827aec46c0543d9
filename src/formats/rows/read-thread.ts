import { parentPort, workerData } from 'node:worker_threads';
import { openTimeZone } from '../../model/time-zone.js';
import { countLineFeeds, LineSplitter, readLine } from './lines.js';
import { type Piece, PieceBuilder } from './piece.js';
import { type Batch, memoryOf, type ReadBatch } from './read-threads.js';
import type { RawRecord } from './row.js';

// entry of a thread that reads lines

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

parentPort!.on('message', ({ bytes, isFirst }: Batch) => {
  // only the first line of a file may have a byte order mark
  const splitter = new LineSplitter(isFirst ? 1 : 2);
  const pieces: Piece[] = [];
  const add = (line: RawRecord | undefined): void => {
    const row = line && readLine(line);
    const piece = row && builder.add(row);
    if (piece !== undefined) pieces.push(piece);
  };
  splitter.add(bytes);
  for (let line = splitter.nextFilled(); line !== undefined; line = splitter.nextFilled())
    add(line);
  add(splitter.last());
  pieces.push(builder.take());
  const read: ReadBatch = { pieces, lines: countLineFeeds(bytes) };
  parentPort!.postMessage(read, memoryOf(read));
});
