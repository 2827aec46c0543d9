import type { DecodedArray } from 'hyparquet';
import { InputError } from '../../model/quote.js';
import type { Progress } from '../snapshot.js';
import { type Column, type ParquetFile, type RowGroup, readParquetFile } from './parquet-file.js';
import { cellValue, type Place, readPages, Unreadable } from './parquet-pages.js';
import { BrokenRows, type Row } from './row.js';
import type { RowFile } from './row-file.js';

const BATCH = 1_024;
/** Bytes that a row counts for, its texts apart. */
const ROW_BYTES = 64;
/** A file may hold this many times its bytes, and {@link FREE_EXPANSION} besides. */
const MAX_EXPANSION = 1_024;
const FREE_EXPANSION = 64 * 1024 * 1024;

/**
 * Reads the records of a Parquet or GeoParquet file, a batch of a row group at a time. Columns are
 * told by name, as those of CSV; without latitude and longitude the geometry gives the place. A
 * value that cannot be read is a problem of its record, a damaged page breaks the file. `place` is
 * the number of the record.
 */
export async function* readParquet(source: RowFile, onProgress?: Progress): AsyncGenerator<Row[]> {
  await source.hash();
  const file = readParquetFile(source);
  const rows = file.groups.reduce((sum, group) => sum + group.rows, 0);
  const most = MAX_EXPANSION * source.size + FREE_EXPANSION;
  if (rows * ROW_BYTES > most) {
    throw new BrokenRows(`announces ${rows} rows in ${source.size} bytes`);
  }
  let left = most;
  const spend = (bytes: number): void => {
    left -= bytes;
    if (left < 0) {
      throw new BrokenRows(`holds more than ${MAX_EXPANSION} times its bytes: damaged, or a trap`);
    }
  };
  let place = 0;
  for (const [index, group] of file.groups.entries()) {
    // pyarrow writes an empty row group for an empty table
    if (group.rows === 0) continue;
    const begun = place;
    for await (const values of readGroup(source, file, group, spend, index + 1, place)) {
      place += values.length;
      yield values;
    }
    if (place - begun !== group.rows) {
      throw new BrokenRows(
        `row group ${index + 1} has ${place - begun} rows, and announces ${group.rows}`,
      );
    }
    const read = file.columns.map(({ index: at }) => group.chunks[at]?.to ?? 0);
    onProgress?.(Math.min(Math.max(...read), source.size - 1), source.size);
  }
  onProgress?.(source.size, source.size);
}

/** Charges for bytes that were uncompressed or repeated: a small file may announce terabytes. */
type Spend = (bytes: number) => void;

/** The values of a column in a row group, read page by page. */
class Values {
  readonly column: Column;
  readonly #pages: AsyncGenerator<DecodedArray>;
  #page: DecodedArray = [];
  #at = 0;

  constructor(column: Column, pages: AsyncGenerator<DecodedArray>) {
    this.column = column;
    this.#pages = pages;
  }

  /** Returns how many values can be taken, 0 at the end of the group. */
  async fill(): Promise<number> {
    while (this.#at === this.#page.length) {
      const { value, done } = await this.#pages.next();
      if (done) return 0;
      this.#page = value;
      this.#at = 0;
    }
    return this.#page.length - this.#at;
  }

  next(): unknown {
    let value: unknown = this.#page[this.#at++];
    if (value === undefined) throw new BrokenRows('refers to a value that its dictionary lacks');
    // a list within an optional group comes wrapped in another list; `flat` takes 0.7 µs a value
    while (Array.isArray(value) && Array.isArray(value[0])) [value] = value;
    return value;
  }
}

/** The records of a row group, the first of them number `place` + 1. */
async function* readGroup(
  source: RowFile,
  { columns, unknown }: ParquetFile,
  group: RowGroup,
  spend: Spend,
  number: number,
  place: number,
): AsyncGenerator<Row[]> {
  let row = place;
  let now: Column | undefined;
  try {
    const all = columns.map((column) => {
      now = column;
      const chunk = group.chunks[column.index];
      if (chunk === undefined) throw new BrokenRows('its pages are not in this file');
      return new Values(column, readPages(source, column, chunk, spend));
    });
    for (;;) {
      let count = BATCH;
      for (const values of all) {
        now = values.column;
        count = Math.min(count, await values.fill());
      }
      if (count === 0) break;
      const rows: Row[] = [];
      for (let i = 0; i < count; i++) rows.push(readRow(++row, all, unknown, spend));
      yield rows;
    }
    for (const values of all) {
      now = values.column;
      if ((await values.fill()) > 0) throw new BrokenRows('has more values than others have');
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    const column = now === undefined ? '' : `, column "${now.name}"`;
    throw new BrokenRows(
      `row group ${number}${column}, at record ${row + 1}: ${(error as Error).message}`,
    );
  }
}

function readRow(
  place: number,
  columns: readonly Values[],
  unknown: readonly string[],
  spend: Spend,
): Row {
  const value: Record<string, unknown> = {};
  let problem: Row['problem'];
  let bytes = ROW_BYTES;
  for (const values of columns) {
    const { field, levels } = values.column;
    const one = values.next();
    if (typeof one === 'string') bytes += one.length;
    if (one instanceof Unreadable) {
      problem ??= { field: values.column.name, reason: one.reason };
    } else if (field === 'geometry') {
      Object.assign(value, one as Place | null);
    } else if (levels.repetition > 0 && Array.isArray(one)) {
      value[field] = one.map((item) => {
        if (item === undefined) throw new BrokenRows('refers to a value that its dictionary lacks');
        if (typeof item === 'string') bytes += item.length;
        if (item instanceof Unreadable) problem ??= { field, reason: item.reason };
        return item;
      });
    } else {
      value[field] = cellValue(field, one);
    }
  }
  spend(bytes);
  if (problem !== undefined) return { place, problem };
  for (const name of unknown) value[name] = undefined;
  return { place, value };
}
