import { parentPort, workerData } from 'node:worker_threads';
import { Calls } from '../../model/calls.js';
import { openTimeZone } from '../../model/time-zone.js';
import { LineSplitter, readChunk, readLine } from './lines.js';
import { type Piece, PieceBuilder } from './piece.js';
import { memoryOf, type ReadBatch, type Reading } from './read-threads.js';
import type { Row } from './row.js';

// entry of a thread that reads lines

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

function read(bytes: Uint8Array, isFirst: boolean): ReadBatch {
  // only the first line of a file may have a byte order mark
  const first = isFirst ? 1 : 2;
  const lines = new LineSplitter(first);
  const pieces: Piece[] = [];
  const add = (row: Row): void => {
    const piece = builder.add(row);
    if (piece !== undefined) pieces.push(piece);
  };
  readChunk(lines, bytes, add);
  const last = lines.last();
  const row = last && readLine(last);
  if (row !== undefined) add(row);
  pieces.push(builder.take());
  return { pieces, lines: lines.place - first };
}

new Calls(parentPort!, { read } satisfies Reading, (_, value: ReadBatch) => memoryOf(value));
