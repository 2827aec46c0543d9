import { readPoint, renderPoint } from '../../model/point.js';
import { InputError } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { BlockBuilder, MAX_RECORD_BYTES, type PointBlock } from '../block.js';
import { IdSet } from '../id-set.js';
import type { LoadReport, ReadOptions, SnapshotFormat, SnapshotReader } from '../snapshot.js';
import { RenderedPoint } from './canonical.js';
import { readCsv } from './csv.js';
import { readJson } from './json.js';
import { readLines } from './lines.js';
import { readMsgpack } from './msgpack.js';
import { BrokenRows, ProblemLog, type Row, type RowParser, UnknownKeys } from './row.js';
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

/**
 * Opens a snapshot of rows, gzipped or not, in a format that was detected. Throws an InputError
 * when the file cannot be opened; what is wrong inside shows when its blocks are read. Times
 * without an offset are of `zone`.
 */
export async function openRows(
  path: string,
  format: RowFormat | 'parquet',
  options: ReadOptions,
  zone: TimeZone,
): Promise<SnapshotReader> {
  return new RowsReader(await RowFile.open(path), format, options, zone);
}

/** Names the file in the error that its rows may have thrown. */
export function nameFile(source: RowFile, error: unknown): unknown {
  if (!(error instanceof BrokenRows)) return error;
  const path = source.gzipped ? `${source.path} (gunzipped)` : source.path;
  return new InputError(`${path}: ${error.message}`, { cause: error });
}

/** Beyond so many more than are allowed no more is read: 0.3 MB of gzip can be 150M lines. */
const GIVE_UP_AFTER = 100_000;

class RowsReader implements SnapshotReader {
  readonly format: RowFormat | 'parquet';
  readonly #source: RowFile;
  readonly #options: ReadOptions;
  readonly #zone: TimeZone;
  /** Times without an offset. */
  #localTimes = 0;
  readonly #ids = new IdSet();
  readonly #blocks = new BlockBuilder();
  readonly #problems: ProblemLog;
  readonly #unknownKeys = new UnknownKeys();
  #page: string | undefined;
  readonly #onPage = (why: string): void => {
    this.#page = why;
  };
  #isComplete = false;

  constructor(
    source: RowFile,
    format: RowFormat | 'parquet',
    options: ReadOptions,
    zone: TimeZone,
  ) {
    this.#source = source;
    this.format = format;
    this.#options = options;
    const offsetAt = (local: number): number | undefined => {
      this.#localTimes++;
      return zone.offsetAt(local);
    };
    this.#zone = { ...zone, offsetAt };
    this.#problems = new ProblemLog(format);
  }

  async *blocks(): AsyncGenerator<PointBlock> {
    try {
      for await (const rows of await this.#rows()) {
        for (const row of rows) {
          const block = this.#add(row);
          if (block !== undefined) yield block;
        }
        if (this.#problems.invalid > this.#allowed + GIVE_UP_AFTER)
          this.#checkInvalid('the first ');
      }
      const last = this.#blocks.take();
      if (last !== undefined) yield last;
    } catch (error) {
      throw nameFile(this.#source, error);
    }
    this.#checkInvalid();
    this.#isComplete = true;
  }

  async #rows(): Promise<AsyncGenerator<Row[]>> {
    const { onProgress } = this.#options;
    if (this.format === 'parquet') {
      // loaded on demand: few files are of this format
      const { readParquet } = await import('./parquet.js');
      return readParquet(this.#source, onProgress);
    }
    return PARSERS[this.format](this.#source.chunks(onProgress), this.#onPage);
  }

  report(): LoadReport {
    if (!this.#isComplete) throw new Error('the snapshot has not been read to its end');
    const localTimes = { count: this.#localTimes, zone: this.#zone.name };
    return {
      ...(localTimes.count > 0 && { localTimes }),
      format: this.format,
      points: this.#ids.size,
      invalid: this.#problems.invalid,
      problems: this.#problems.first,
      unknownKeys: this.#unknownKeys.counts(),
      notifications: [],
      page: this.#page,
      digest: this.#source.digest(),
      createdAt: this.#options.exportedAt ?? this.#source.modifiedAt,
    };
  }

  close(): void {
    this.#source.close();
  }

  get #allowed(): number {
    return this.#options.maxInvalid ?? 0;
  }

  /** Adds a row that is a point; returns the block before it when that is full. */
  #add(row: Row): PointBlock | undefined {
    const { place } = row;
    if (row.problem !== undefined) return this.#problems.add(place, [row.problem]);
    const { value } = row;
    if (value instanceof RenderedPoint) {
      return this.#isNew(place, value.id) ? this.#blocks.addRendered(value) : undefined;
    }
    const point = readPoint(value, (key) => this.#unknownKeys.add(key), this.#zone);
    if (!('id' in point)) return this.#problems.add(place, point);
    const bytes = Buffer.from(renderPoint(point));
    if (bytes.length > MAX_RECORD_BYTES) {
      const reason = `has ${bytes.length} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`;
      return this.#problems.add(place, [{ field: 'record', reason }]);
    }
    return this.#isNew(place, point.id) ? this.#blocks.add(point, bytes) : undefined;
  }

  #isNew(place: number, id: number): boolean {
    if (this.#ids.add(id)) return true;
    this.#problems.add(place, [{ field: 'id', reason: `${id} is an earlier record's` }]);
    return false;
  }

  /** `read` says which records were read, where that was not all of them. */
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
