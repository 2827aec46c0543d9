import { parentPort, workerData } from 'node:worker_threads';
import { openTimeZone } from '../../model/time-zone.js';
import { readRecord } from './dialect.js';
import { type Piece, PieceBuilder } from './piece.js';
import { type Batch, memoryOf, type ReadBatch } from './read-threads.js';
import { BrokenRows } from './row.js';

// entry of a thread that reads records

const { zone } = workerData as { readonly zone: string };
const builder = new PieceBuilder(await openTimeZone(zone));

parentPort!.on('message', (batch: Batch) => {
  const pieces: Piece[] = [];
  let broken: string | undefined;
  try {
    readInto(pieces, batch);
  } catch (error) {
    if (!(error instanceof BrokenRows)) throw error;
    broken = error.message;
  }
  pieces.push(builder.take());
  const read: ReadBatch = { pieces, broken };
  parentPort!.postMessage(read, memoryOf(read));
});

function readInto(pieces: Piece[], { bytes, lengths, places, starts, dialect }: Batch): void {
  let at = 0;
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i]!;
    const own = length < 0 ? undefined : bytes.subarray(at, at + length);
    const row = readRecord({ place: places[i]!, bytes: own, start: starts[i]! }, dialect);
    const piece = row && builder.add(row);
    if (piece !== undefined) pieces.push(piece);
    at += Math.max(0, length);
  }
}
