import type { Worker } from 'node:worker_threads';
import { type Offer, startThread } from '../../model/calls.js';
import { ownedBytes } from '../../model/memory.js';
import { openTimeZone } from '../../model/time-zone.js';
import { JSON_FORM } from './canonical.js';
import { LineSplitter, lineEndOf, RECORD_SEPARATOR, readChunk, readLine } from './lines.js';
import { memoryOfPiece, type Piece, PieceBuilder } from './piece.js';
import { MAX_RAW_BYTES, type Row } from './row.js';

/** A batch that was read. Lines are counted from 1 in the first batch of a file, else from 2. */
interface ReadBatch extends Piece {
  /** By how much the numbers of lines grow with the next batch. */
  readonly growth: number;
}

const BATCH_BYTES = 4 * 1024 * 1024;
/** Batches that a thread has at a time, so that it never waits for the next one. */
const AHEAD = 2;
/** The thread that reads the file keeps up with this many. */
const MOST_THREADS = 4;
const LINE_FEED = 0x0a;

/** What a thread offers that reads parts of a file. */
export type PartReader<Part extends readonly unknown[], Read> = { read(...part: Part): Read };

interface PartThread<Part extends readonly unknown[], Read> {
  readonly thread: Worker;
  readonly calls: { call(name: 'read', ...part: Part): Promise<Read> };
}

/**
 * Has threads read the parts of a file; yields what they read in the order of the parts. Threads
 * end with the generator. Throws what `parts` throws, and what a thread throws.
 */
export async function* readParts<Part extends readonly unknown[], Read>(
  parts: AsyncIterable<Part> | Iterable<Part>,
  threads: number,
  start: () => PartThread<Part, Read>,
): AsyncGenerator<Read> {
  const started = Array.from({ length: Math.min(threads, MOST_THREADS) }, start);
  const reading: Promise<Read>[] = [];
  let next = 0;
  try {
    for await (const part of parts) {
      const read = started[next++ % started.length]!.calls.call('read', ...part);
      // whoever reads the file may have given up by then
      read.catch(() => {});
      reading.push(read);
      if (reading.length >= AHEAD * started.length) yield await reading.shift()!;
    }
    while (reading.length > 0) yield await reading.shift()!;
  } finally {
    await Promise.all(started.map(({ thread }) => thread.terminate()));
  }
}

/**
 * Reads lines in threads, some `batchBytes` at a time; the pieces come in the order of the file.
 * Gives the memory of the chunks away. `zone` is the name of the time zone of times without an offset.
 */
export async function* readInThreads(
  chunks: AsyncIterable<Uint8Array>,
  zone: string,
  threads: number,
  batchBytes: number = BATCH_BYTES,
): AsyncGenerator<Piece> {
  const batches = readParts(batchesOf(chunks, batchBytes), threads, () =>
    startThread<Reading>('read', import.meta.url, zone, (_, [chunks]: [Uint8Array[]]) =>
      chunks.map(({ buffer }) => buffer as ArrayBuffer),
    ),
  );
  let lines = 0;
  for await (const { growth, ...piece } of batches) {
    yield movedBy(lines, piece);
    lines += growth;
  }
}

function movedBy(lines: number, piece: Piece): Piece {
  return {
    ...piece,
    places: piece.places.map((place) => place + lines),
    problems: piece.problems.map(([place, problems]) => [place + lines, problems]),
  };
}

type Batch = readonly [
  chunks: readonly Uint8Array[],
  isFirst: boolean,
  lineEnd: number | undefined,
];

/**
 * Batches of whole lines, or of texts behind record separators, each in memory of its own. The
 * middle of a line that is too long is dropped.
 */
async function* batchesOf(
  chunks: AsyncIterable<Uint8Array>,
  batchBytes: number,
): AsyncGenerator<Batch> {
  let isFirst = true;
  let batch: Uint8Array[] = [];
  let size = 0;
  // bytes of the last line, which has not ended, and the byte that ends a line
  let open = 0;
  let end: number | undefined;
  for await (const given of chunks) {
    const chunk = ownedBytes(given);
    end ??= lineEndOf(chunk);
    const last = chunk.lastIndexOf(end ?? LINE_FEED);
    if (last === -1 && open > MAX_RAW_BYTES) continue;
    // a record separator stands before its text
    const cut = last + (end === RECORD_SEPARATOR ? 0 : 1);
    let rest = chunk;
    if (cut > 0 && size + cut >= batchBytes) {
      rest = new Uint8Array(chunk.subarray(cut));
      yield [[...batch, chunk.subarray(0, cut)], isFirst, end];
      isFirst = false;
      batch = [];
      size = 0;
    }
    batch.push(rest);
    size += rest.length;
    open = last === -1 ? open + chunk.length : chunk.length - cut;
  }
  if (size > 0) yield [batch, isFirst, end];
}

type Reading = PartReader<Batch, ReadBatch>;

/** The functions of a thread that reads lines. */
export async function offer(zone: string): Promise<Offer> {
  const builder = new PieceBuilder(await openTimeZone(zone));

  function read(...[chunks, isFirst, lineEnd]: Batch): ReadBatch {
    // only the first line of a file may have a byte order mark
    const lines = new LineSplitter(isFirst ? 1 : 2, JSON_FORM, lineEnd);
    const add = (row: Row): void => builder.add(row);
    for (const chunk of chunks) readChunk(lines, chunk, add);
    const last = lines.last();
    const row = last && readLine(last);
    if (row !== undefined) add(row);
    return { ...builder.take(), growth: lines.place - 2 };
  }

  return [{ read } satisfies Reading, (_, piece: ReadBatch) => memoryOfPiece(piece)];
}
