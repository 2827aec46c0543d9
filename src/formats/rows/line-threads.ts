import { type Transferable, Worker } from 'node:worker_threads';
import { RECORD_SEPARATOR } from './lines.js';
import type { Piece } from './piece.js';
import { MAX_RAW_BYTES } from './row.js';

/** How lines are read in threads. */
export interface LineThreads {
  readonly threads: number;
  /** The name of the time zone of times without an offset. */
  readonly zone: string;
  /** Bytes that a thread gets at a time, about. */
  readonly stretchBytes?: number;
}

/** Whole lines of a file. */
export interface Stretch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isFirst: boolean;
}

/** What a thread makes of a stretch: places count from its first line, which is line 1. */
export interface ReadStretch {
  readonly pieces: readonly Piece[];
  readonly lines: number;
}

const STRETCH_BYTES = 4 * 1024 * 1024;
/** Stretches that each thread has, so that none waits for the next. */
const AHEAD = 2;
/** The thread that puts their pieces together keeps up with no more. */
const MOST_THREADS = 4;
const LINE_FEED = 0x0a;

/**
 * Reads NDJSON in threads, each some lines at a time; the pieces come in the order of the file.
 * Threads end with the generator.
 */
export async function* readInThreads(
  chunks: AsyncIterable<Uint8Array>,
  { threads, zone, stretchBytes = STRETCH_BYTES }: LineThreads,
): AsyncGenerator<Piece> {
  const workers = Array.from(
    { length: Math.min(threads, MOST_THREADS) },
    () => new LineThread(zone),
  );
  const reading: Promise<ReadStretch>[] = [];
  let next = 0;
  let lines = 0;

  async function* takeOldest(): AsyncGenerator<Piece> {
    const read = await reading.shift()!;
    for (const piece of read.pieces) yield lines === 0 ? piece : moved(piece, lines);
    lines += read.lines;
  }

  try {
    for await (const stretch of cutStretches(chunks, stretchBytes)) {
      reading.push(workers[next++ % workers.length]!.read(stretch));
      if (reading.length >= AHEAD * workers.length) yield* takeOldest();
    }
    while (reading.length > 0) yield* takeOldest();
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
  }
}

/** One thread, which reads its stretches in their order. */
class LineThread {
  readonly #worker: Worker;
  readonly #waiting: { resolve(read: ReadStretch): void; reject(error: unknown): void }[] = [];

  constructor(zone: string) {
    const url = new URL('./line-thread.js', import.meta.url);
    this.#worker = new Worker(url, { workerData: { zone } });
    this.#worker.on('message', (read: ReadStretch) => this.#waiting.shift()!.resolve(read));
    this.#worker.on('error', (error) => {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    });
  }

  read(stretch: Stretch): Promise<ReadStretch> {
    const read = new Promise<ReadStretch>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
    // whoever reads the file may have given up by then
    read.catch(() => {});
    this.#worker.postMessage(stretch, [stretch.bytes.buffer]);
    return read;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Cuts chunks where lines end. Of a line that is too long only so much is kept as shows that. */
async function* cutStretches(
  chunks: AsyncIterable<Uint8Array>,
  stretchBytes: number,
): AsyncGenerator<Stretch> {
  let parts: Uint8Array[] = [];
  let size = 0;
  /** Bytes of the line that is open. */
  let open = 0;
  let isFirst = true;
  let cutAt: ((chunk: Uint8Array) => number) | undefined;

  function take(last: Uint8Array): Stretch {
    const stretch = { bytes: joined([...parts, last]), isFirst };
    isFirst = false;
    return stretch;
  }

  for await (const chunk of chunks) {
    // a text sequence has its separators before the texts, which may go over several lines
    cutAt ??=
      chunk[0] === RECORD_SEPARATOR
        ? (one) => Math.max(0, one.lastIndexOf(RECORD_SEPARATOR))
        : (one) => one.lastIndexOf(LINE_FEED) + 1;
    const end = cutAt(chunk);
    if (end === 0 && open > MAX_RAW_BYTES) continue;
    if (end > 0 && size + end >= stretchBytes) {
      yield take(chunk.subarray(0, end));
      parts = [chunk.subarray(end)];
      size = chunk.length - end;
    } else {
      parts.push(chunk);
      size += chunk.length;
    }
    open = end > 0 ? chunk.length - end : open + chunk.length;
  }
  yield take(new Uint8Array(0));
}

/** In memory of their own, which can be given to a thread. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** A piece that stands so many lines further behind. */
function moved(piece: Piece, lines: number): Piece {
  const { places, problems } = piece;
  for (let i = 0; i < places.length; i++) places[i] = places[i]! + lines;
  return { ...piece, problems: problems.map(([place, own]) => [place + lines, own]) };
}

/** The memory of what a thread has read, to be given away with it. */
export function memoryOf({ pieces }: ReadStretch): Transferable[] {
  return pieces.flatMap(({ block, places }) => {
    const own = block === undefined ? [] : [block.records, block.id, block.lat, block.lon];
    const times = block === undefined ? [] : [block.createdAt, block.modifiedAt, block.length];
    return [places, ...own, ...times].map(({ buffer }) => buffer as ArrayBuffer);
  });
}
