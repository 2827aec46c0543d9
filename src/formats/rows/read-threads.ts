import { type Transferable, Worker } from 'node:worker_threads';
import { RECORD_SEPARATOR } from './lines.js';
import type { Piece } from './piece.js';
import { MAX_RAW_BYTES } from './row.js';

/** How lines are read in threads. */
export interface ReadThreads {
  readonly threads: number;
  /** The name of the time zone of times without an offset. */
  readonly zone: string;
  /** Bytes that a thread gets at a time, about. */
  readonly batchBytes?: number;
}

/** Whole lines of a file. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isFirst: boolean;
}

/** What a thread makes of a batch, whose lines are counted from 1, or from 2 behind the first one. */
export interface ReadBatch {
  readonly pieces: readonly Piece[];
  readonly lines: number;
}

const BATCH_BYTES = 4 * 1024 * 1024;
/** Batches that each thread has, so that none waits for the next. */
const AHEAD = 2;
/** The thread that reads the file keeps up with no more. */
const MOST_THREADS = 4;
const LINE_FEED = 0x0a;

/**
 * Reads lines in threads, a batch at a time; the pieces come in the order of the file. Threads end
 * with the generator. Throws what the chunks throw.
 */
export async function* readInThreads(
  chunks: AsyncIterable<Uint8Array>,
  { threads, zone, batchBytes = BATCH_BYTES }: ReadThreads,
): AsyncGenerator<Piece> {
  const count = Math.min(threads, MOST_THREADS);
  const workers = Array.from({ length: count }, () => new ReadThread(zone));
  const reading: Promise<ReadBatch>[] = [];
  let next = 0;
  let taken = 0;
  let before = 0;

  async function* takeOldest(): AsyncGenerator<Piece> {
    const { pieces, lines } = await reading.shift()!;
    for (const piece of pieces) yield taken === 0 ? piece : movedBy(before - 1, piece);
    taken++;
    before += lines;
  }

  try {
    for await (const bytes of batchesOf(chunks, batchBytes)) {
      reading.push(workers[next % count]!.read({ bytes, isFirst: next === 0 }));
      next++;
      if (reading.length >= AHEAD * count) yield* takeOldest();
    }
    while (reading.length > 0) yield* takeOldest();
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
  }
}

/** The same piece, so many lines further on in the file. */
function movedBy(lines: number, piece: Piece): Piece {
  return {
    ...piece,
    places: piece.places.map((place) => place + lines),
    problems: piece.problems.map(([place, problems]) => [place + lines, problems]),
  };
}

/**
 * Whole lines, or texts behind record separators, in memory that can be given away. Of one that is
 * too long no more is kept than shows that it is.
 */
async function* batchesOf(
  chunks: AsyncIterable<Uint8Array>,
  batchBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let parts: Uint8Array[] = [];
  let size = 0;
  // bytes behind the last line end, and what ends a line
  let open = 0;
  let end: number | undefined;
  const join = (): Uint8Array<ArrayBuffer> => {
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  };
  for await (const chunk of chunks) {
    end ??= chunk[0] === RECORD_SEPARATOR ? RECORD_SEPARATOR : LINE_FEED;
    const first = chunk.indexOf(end);
    const kept = first === -1 && open > MAX_RAW_BYTES ? 0 : chunk.length;
    parts.push(chunk.subarray(0, kept));
    size += kept;
    open = first === -1 ? open + kept : chunk.length - chunk.lastIndexOf(end) - 1;
    if (size < batchBytes || open >= size) continue;
    const bytes = join();
    // a record separator begins its text
    const cut = bytes.lastIndexOf(end) + (end === LINE_FEED ? 1 : 0);
    if (cut > 0) yield bytes.slice(0, cut);
    parts = [bytes.subarray(cut)];
    size -= cut;
  }
  if (size > 0) yield join();
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
    this.#worker.postMessage(batch, [batch.bytes.buffer]);
    return read;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
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
