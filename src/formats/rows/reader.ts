import { readPoint, renderPoint } from '../../model/point.js';
import { InputError } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { MAX_RECORD_BYTES, type PointBlock } from '../block.js';
import { IdSet } from '../id-set.js';
import type { LoadReport, ReadOptions, SnapshotFormat, SnapshotReader } from '../snapshot.js';
import { BlockBuilder } from './block-builder.js';
import { RenderedPoint } from './canonical.js';
import { readCsv } from './csv.js';
import { readJson } from './json.js';
import { readNdjson } from './lines.js';
import { readMsgpack } from './msgpack.js';
import { BrokenRows, ProblemLog, type Row, type RowParser, UnknownKeys } from './row.js';
import { Source } from './source.js';

/** Formats whose files are read from front to back. */
export type RowFormat = Exclude<SnapshotFormat, 'native' | 'parquet'>;

export const PARSERS: Readonly<Record<RowFormat, RowParser>> = {
  ndjson: readNdjson,
  json: readJson,
  geojson: readJson,
  csv: readCsv,
  msgpack: readMsgpack,
};

/**
 * Opens a snapshot of rows, gzipped or not, in a format that was detected. Throws an InputError
 * when the file cannot be opened; what is wrong inside shows when its blocks are read. Times
 * without an offset are of `zone`.
 */
export function openRows(
  path: string,
  format: RowFormat | 'parquet',
  options: ReadOptions,
  zone: TimeZone,
): SnapshotReader {
  return new RowsReader(new Source(path), format, options, zone);
}

/** Names the file in the error that its rows may have thrown. */
export function nameFile(source: Source, error: unknown): unknown {
  if (!(error instanceof BrokenRows)) return error;
  const path = source.gzipped ? `${source.path} (gunzipped)` : source.path;
  return new InputError(`${path}: ${error.message}`, { cause: error });
}

/** Beyond so many more than are allowed no more is read: 0.3 MB of gzip can be 150M lines. */
const GIVE_UP_AFTER = 100_000;

class RowsReader implements SnapshotReader {
  readonly format: RowFormat | 'parquet';
  readonly #source: Source;
  readonly #options: ReadOptions;
  readonly #zone: TimeZone;
  #localTimes = 0;
  readonly #builder = new BlockBuilder();
  readonly #ids = new IdSet();
  readonly #problems: ProblemLog;
  readonly #unknownKeys = new UnknownKeys();
  #page: string | undefined;
  #isComplete = false;

  constructor(source: Source, format: RowFormat | 'parquet', options: ReadOptions, zone: TimeZone) {
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
    } catch (error) {
      throw nameFile(this.#source, error);
    }
    this.#checkInvalid();
    const last = this.#builder.take();
    this.#isComplete = true;
    if (last !== undefined) yield last;
  }

  async #rows(): Promise<AsyncGenerator<Row[]>> {
    const { onProgress } = this.#options;
    if (this.format === 'parquet') {
      // loaded on demand: few files are of this format
      const { readParquet } = await import('./parquet.js');
      return readParquet(this.#source, onProgress);
    }
    return PARSERS[this.format](this.#source.chunks(onProgress), (why) => {
      this.#page = why;
    });
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

  #add(row: Row): PointBlock | undefined {
    const { place } = row;
    if (row.problem !== undefined) {
      this.#problems.add(place, [row.problem]);
      return undefined;
    }
    if (row.value instanceof RenderedPoint) {
      return this.#isNew(row.value.id, place) ? this.#builder.addRendered(row.value) : undefined;
    }
    const point = readPoint(row.value, (key) => this.#unknownKeys.add(key), this.#zone);
    if (!('id' in point)) {
      this.#problems.add(place, point);
      return undefined;
    }
    const bytes = Buffer.from(renderPoint(point));
    if (bytes.length > MAX_RECORD_BYTES) {
      const reason = `has ${bytes.length} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`;
      this.#problems.add(place, [{ field: 'record', reason }]);
      return undefined;
    }
    return this.#isNew(point.id, place) ? this.#builder.add(point, bytes) : undefined;
  }

  /** False for the id of an earlier record, which is noted as a problem. */
  #isNew(id: number, place: number): boolean {
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
      `${invalid} of ${read}${total} records are invalid, ${allowed} may be (--max-invalid leaves out that many); the first:`,
    );
  }
}
