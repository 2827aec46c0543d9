import { parentPort, workerData } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import { openTimeZone } from '../../model/time-zone.js';
import { countLineFeeds, LineSplitter, readLine } from './lines.js';
import { type Piece, PieceBuilder } from './piece.js';
import { memoryOf, type ReadBatch, type Reading } from './read-threads.js';
import type { RawRecord } from './row.js';

// entry of a thread that reads lines

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

function read(bytes: Uint8Array, isFirst: boolean): ReadBatch {
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
  return { pieces, lines: countLineFeeds(bytes) };
}

new Calls(parentPort!, { read } satisfies Reading, (_, value: ReadBatch) => memoryOf(value));
