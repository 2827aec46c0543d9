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

/**
 * Reads lines in threads, some `batchBytes` at a time; the pieces come in the order of the file.
 * Gives the memory of the chunks away. `zone` is the name of the time zone of times without an
 * offset. Threads end with the generator. Throws what `chunks` throws, and what a thread throws.
 */
export async function* readInThreads(
  chunks: AsyncIterable<Uint8Array>,
  zone: string,
  threads: number,
  batchBytes: number = BATCH_BYTES,
): AsyncGenerator<Piece> {
  const started = Array.from({ length: Math.min(threads, MOST_THREADS) }, () =>
    startThread<Reading>('read', import.meta.url, zone, (_, [chunks]: Batch) =>
      chunks.map(({ buffer }) => buffer as ArrayBuffer),
    ),
  );
  const reading: Promise<ReadBatch>[] = [];
  let next = 0;
  let lines = 0;
  const nextPiece = async (): Promise<Piece> => {
    const { growth, places, problems, ...piece } = await reading.shift()!;
    const before = lines;
    lines += growth;
    return {
      ...piece,
      places: places.map((place) => place + before),
      problems: problems.map(([place, problems]) => [place + before, problems]),
    };
  };
  try {
    for await (const batch of batchesOf(chunks, batchBytes)) {
      const read = started[next++ % started.length]!.calls.call('read', ...batch);
      // whoever reads the file may have given up by then
      read.catch(() => {});
      reading.push(read);
      if (reading.length >= AHEAD * started.length) yield await nextPiece();
    }
    while (reading.length > 0) yield await nextPiece();
  } finally {
    await Promise.all(started.map(({ thread }) => thread.terminate()));
  }
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

type Reading = { read(...batch: Batch): ReadBatch };

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
