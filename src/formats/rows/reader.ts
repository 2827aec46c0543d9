import { joinedBytes } from '../../model/memory.js';
import { InputError } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { allocateColumns, COLUMN_NAMES, type PointBlock } from '../block.js';
import { IdSet } from '../id-set.js';
import type { LoadReport, ReadOptions, SnapshotFormat, SnapshotReader } from '../snapshot.js';
import { readCsv } from './csv.js';
import { readJson } from './json.js';
import { readLines } from './lines.js';
import { readMsgpack } from './msgpack.js';
import { type Piece, piecesOf } from './piece.js';
import { readInThreads } from './read-threads.js';
import { BrokenRows, ProblemLog, type RowParser, UnknownKeys } from './row.js';
import { RowFile } from './row-file.js';

/** Formats whose files are read from front to back. */
export type RowFormat = Exclude<SnapshotFormat, 'native' | 'parquet'>;

export const PARSERS: Readonly<Record<RowFormat, RowParser>> = {
  ndjson: readLines,
  csv: readCsv,
  json: readJson,
  geojson: readJson,
  msgpack: readMsgpack,
};

/** Turns a {@link BrokenRows} into an InputError that names the file. */
export function nameFile(source: RowFile, error: unknown): unknown {
  if (!(error instanceof BrokenRows)) return error;
  const path = source.gzipped ? `${source.path} (gunzipped)` : source.path;
  return new InputError(`${path}: ${error.message}`, { cause: error });
}

/** Invalid records beyond the allowed ones that end reading: 0.3 MB of gzip can be 150M lines. */
const GIVE_UP_AFTER = 100_000;
/** Smaller files are read before threads have started. */
const LEAST_BYTES_FOR_THREADS = 16 * 1024 * 1024;

/** Reads a snapshot of rows, gzipped or not. `blocks` throws where the content is wrong. */
export class RowsReader implements SnapshotReader {
  readonly format: RowFormat | 'parquet';
  readonly #source: RowFile;
  readonly #options: ReadOptions;
  readonly #allowed: number;
  readonly #zone: TimeZone;
  #localTimes = 0;
  readonly #ids = new IdSet();
  readonly #problems: ProblemLog;
  readonly #unknownKeys = new UnknownKeys();

  /**
   * Opens a file, whose format was detected. Throws an InputError when it cannot be opened. Times
   * without an offset are of `zone`.
   */
  constructor(path: string, format: RowFormat | 'parquet', options: ReadOptions, zone: TimeZone) {
    this.#source = new RowFile(path);
    this.format = format;
    this.#options = options;
    this.#allowed = options.maxInvalid ?? 0;
    this.#zone = zone;
    this.#problems = new ProblemLog(format);
  }

  get marks(): string {
    return this.#source.marks;
  }

  async *blocks(): AsyncGenerator<PointBlock> {
    try {
      for await (const piece of this.#pieces()) {
        yield* this.#accept(piece);
        if (this.#problems.invalid > this.#allowed + GIVE_UP_AFTER)
          this.#checkInvalid('the first ');
      }
    } catch (error) {
      throw nameFile(this.#source, error);
    }
    // a file that changed may be half old, half new
    this.#source.requireUnchanged();
    this.#checkInvalid();
    this.#ids.forget();
  }

  async *#pieces(): AsyncGenerator<Piece> {
    const { onProgress, threads = 1 } = this.#options;
    if (this.format === 'parquet') {
      // loaded on demand: few files are of this format
      const { readParquet } = await import('./parquet.js');
      return yield* piecesOf(readParquet(this.#source, onProgress), this.#zone);
    }
    const chunks = this.#source.chunks(onProgress);
    const isLarge = this.#source.size > LEAST_BYTES_FOR_THREADS;
    if (this.format === 'ndjson' && isLarge && threads > 1) {
      return yield* readInThreads(chunks, this.#zone.name, threads);
    }
    yield* piecesOf(PARSERS[this.format](chunks), this.#zone);
  }

  report(): LoadReport {
    const localTimes = { count: this.#localTimes, zone: this.#zone.name };
    return {
      ...(localTimes.count > 0 && { localTimes }),
      format: this.format,
      points: this.#ids.size,
      invalid: this.#problems.invalid,
      problems: this.#problems.first,
      unknownKeys: this.#unknownKeys.counts(),
      notifications: [],
      digest: this.#source.digest(),
      createdAt: this.#source.modifiedAt,
    };
  }

  close(): void {
    this.#source.close();
  }

  /** Counts a piece's problems, and yields its blocks without points whose id came before. */
  *#accept(piece: Piece): Generator<PointBlock> {
    const { blocks, places, invalid } = piece;
    const problems = [...piece.problems];
    this.#problems.invalid += invalid - problems.length;
    this.#localTimes += piece.localTimes;
    for (const [key, times] of Object.entries(piece.unknownKeys)) this.#unknownKeys.add(key, times);
    let point = 0;
    for (const block of blocks) {
      const repeated = new Set<number>();
      for (let i = 0; i < block.count; i++, point++) {
        const id = block.id[i]!;
        if (this.#ids.add(id)) continue;
        repeated.add(i);
        problems.push([places[point]!, [{ field: 'id', reason: `${id} is an earlier record's` }]]);
      }
      yield repeated.size === 0 ? block : without(block, repeated);
    }
    problems.sort(([a], [b]) => a - b);
    for (const [place, own] of problems) this.#problems.add(place, own);
  }

  /** Throws an InputError where too many records are invalid. `read` is 'the first ' or ''. */
  #checkInvalid(read = ''): void {
    const allowed = this.#allowed;
    const { invalid } = this.#problems;
    if (invalid <= allowed) return;
    const total = invalid + this.#ids.size;
    throw this.#problems.error(
      this.#source.path,
      `${invalid} of ${read}${total} records are invalid, ${allowed} may be (--max-invalid ` +
        'leaves out that many); the first:',
    );
  }
}

function without({ records, ...columns }: PointBlock, indexes: ReadonlySet<number>): PointBlock {
  const left = allocateColumns(columns.count - indexes.size);
  const parts: Uint8Array[] = [];
  let end = 0;
  for (let i = 0; i < columns.count; i++) {
    const start = end;
    end += columns.length[i]!;
    if (indexes.has(i)) continue;
    for (const name of COLUMN_NAMES) left[name][parts.length] = columns[name][i]!;
    parts.push(records.subarray(start, end));
  }
  return { ...left, records: joinedBytes(parts) };
}
