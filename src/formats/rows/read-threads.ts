import { type Transferable, Worker } from 'node:worker_threads';
import type { Cut, Dialect } from './dialect.js';
import type { Piece } from './piece.js';
import { BrokenRows } from './row.js';

/** How records are read in threads. */
export interface ReadThreads {
  readonly threads: number;
  /** The name of the time zone of times without an offset. */
  readonly zone: string;
  /** Bytes that a thread gets at a time, about. */
  readonly batchBytes?: number;
}

/** Records for a thread, end to end. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of each record; -1 of one that is too long. */
  readonly lengths: Float64Array<ArrayBuffer>;
  readonly places: Float64Array<ArrayBuffer>;
  readonly starts: Float64Array<ArrayBuffer>;
  readonly dialect: Dialect;
}

/** What a thread makes of a batch; `broken` is why nothing behind the pieces can be read. */
export interface ReadBatch {
  readonly pieces: readonly Piece[];
  readonly broken: string | undefined;
}

const BATCH_BYTES = 4 * 1024 * 1024;
/** What a record without bytes counts as. */
const LEAST_BYTES = 16;
/** Batches that each thread has, so that none waits for the next. */
const AHEAD = 2;
/** The thread that cuts keeps up with no more. */
const MOST_THREADS = 4;

/**
 * Reads records in threads, a batch at a time; the pieces come in the order of the file. Threads end
 * with the generator. Throws what the cuts throw, and {@link BrokenRows}.
 */
export async function* readInThreads(
  cuts: AsyncIterable<Cut>,
  { threads, zone, batchBytes = BATCH_BYTES }: ReadThreads,
): AsyncGenerator<Piece> {
  const count = Math.min(threads, MOST_THREADS);
  const workers = Array.from({ length: count }, () => new ReadThread(zone));
  const reading: Promise<ReadBatch>[] = [];
  let next = 0;

  async function* takeOldest(): AsyncGenerator<Piece> {
    const { pieces, broken } = await reading.shift()!;
    yield* pieces;
    if (broken !== undefined) throw new BrokenRows(broken);
  }

  try {
    let fault: unknown;
    try {
      for await (const batch of batchesOf(cuts, batchBytes)) {
        reading.push(workers[next++ % count]!.read(batch));
        if (reading.length >= AHEAD * count) yield* takeOldest();
      }
    } catch (error) {
      fault = error;
    }
    // what stands before a fault may have another one, which comes first
    while (reading.length > 0) yield* takeOldest();
    if (fault !== undefined) throw fault;
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
  }
}

/** One thread, which reads its batches in their order. */
class ReadThread {
  readonly #worker: Worker;
  readonly #waiting: { resolve(read: ReadBatch): void; reject(error: unknown): void }[] = [];

  constructor(zone: string) {
    const url = new URL('./read-thread.js', import.meta.url);
    this.#worker = new Worker(url, { workerData: { zone } });
    this.#worker.on('message', (read: ReadBatch) => this.#waiting.shift()!.resolve(read));
    this.#worker.on('error', (error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
  }

  read(batch: Batch): Promise<ReadBatch> {
    const read = new Promise<ReadBatch>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
    // whoever reads the file may have given up by then
    read.catch(() => {});
    const { bytes, lengths, places, starts } = batch;
    this.#worker.postMessage(
      batch,
      [bytes, lengths, places, starts].map(({ buffer }) => buffer),
    );
    return read;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Puts cuts together, as many as make a batch. What the cuts throw comes behind the last batch. */
async function* batchesOf(cuts: AsyncIterable<Cut>, batchBytes: number): AsyncGenerator<Batch> {
  let waiting: Cut[] = [];
  let size = 0;
  let fault: unknown;
  try {
    for await (const cut of cuts) {
      waiting.push(cut);
      for (const { bytes } of cut.records) size += bytes?.length ?? LEAST_BYTES;
      if (size < batchBytes) continue;
      yield batchOf(waiting);
      waiting = [];
      size = 0;
    }
  } catch (error) {
    fault = error;
  }
  if (waiting.length > 0) yield batchOf(waiting);
  if (fault !== undefined) throw fault;
}

/** Copies the records of cuts, which have one dialect, into memory that can be given to a thread. */
function batchOf(cuts: readonly Cut[]): Batch {
  const records = cuts.flatMap((cut) => cut.records);
  const bytes = new Uint8Array(records.reduce((sum, one) => sum + (one.bytes?.length ?? 0), 0));
  const lengths = new Float64Array(records.length);
  let at = 0;
  for (const [i, record] of records.entries()) {
    lengths[i] = record.bytes?.length ?? -1;
    if (record.bytes === undefined) continue;
    bytes.set(record.bytes, at);
    at += record.bytes.length;
  }
  return {
    bytes,
    lengths,
    places: Float64Array.from(records, ({ place }) => place),
    starts: Float64Array.from(records, ({ start = 0 }) => start),
    // of a JSON document that has no records yet it is not known
    dialect: cuts.at(-1)!.dialect,
  };
}

/** The memory of what a thread has read, to be given away with it. */
export function memoryOf({ pieces }: ReadBatch): Transferable[] {
  return pieces.flatMap(({ block, places }) => {
    if (block === undefined) return [places.buffer as ArrayBuffer];
    const { records, id, lat, lon, createdAt, modifiedAt, length } = block;
    const all = [places, records, id, lat, lon, createdAt, modifiedAt, length];
    return all.map(({ buffer }) => buffer as ArrayBuffer);
  });
}
