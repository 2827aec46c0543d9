import type { DecodedArray } from 'hyparquet';
import { InputError } from '../../model/quote.js';
import type { Progress } from '../snapshot.js';
import { type Column, detailOf, readParquetFile } from './parquet-file.js';
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
 * Turns a Parquet or GeoParquet file into rows, batch by batch, and reads it once more for its
 * digest. Columns are told by name, as those of CSV; without latitude and longitude the geometry
 * gives the place. A value that cannot be read is a problem of its record, a damaged page breaks
 * the file. The place of a record is its number.
 */
export async function* readParquet(
  source: RowFile,
  onProgress: Progress = () => {},
): AsyncGenerator<Row[]> {
  const { columns, unknown, groups } = readParquetFile(source);
  let left = MAX_EXPANSION * source.size + FREE_EXPANSION;
  /** Charges for bytes that were uncompressed or repeated: a small file may announce terabytes. */
  const spend = (bytes: number): void => {
    left -= bytes;
    if (left >= 0) return;
    throw new BrokenRows(`holds more than ${MAX_EXPANSION} times its bytes: damaged, or a trap`);
  };
  const total = groups.reduce((sum, { rows }) => sum + rows, 0);
  if (total * ROW_BYTES > left) {
    throw new BrokenRows(`announces ${total} rows in ${source.size} bytes`);
  }
  /** The number of the last record that was read. */
  let row = 0;
  for (const [index, { rows: announced, chunks }] of groups.entries()) {
    // pyarrow writes an empty row group for an empty table
    if (announced === 0) continue;
    const before = row;
    let now: Column | undefined;
    try {
      const all = columns.map((column) => {
        now = column;
        const chunk = chunks[column.index];
        if (chunk === undefined) throw new BrokenRows('its pages are not in this file');
        return new Values(column, readPages(source, column, chunk, spend));
      });
      for (;;) {
        let count = BATCH;
        for (const values of all) {
          now = values.column;
          count = Math.min(count, values.fill());
        }
        if (count === 0) break;
        const rows: Row[] = [];
        for (let i = 0; i < count; i++) rows.push(readRow(++row, all, unknown, spend));
        yield rows;
      }
      for (const values of all) {
        now = values.column;
        if (values.fill() > 0) throw new BrokenRows('has more values than others have');
      }
    } catch (error) {
      if (error instanceof InputError) throw error;
      const column = now === undefined ? '' : `, column "${now.name}"`;
      const where = `row group ${index + 1}${column}, at record ${row + 1}`;
      throw new BrokenRows(where + (detailOf(error) || ': is damaged'));
    }
    if (row - before !== announced) {
      throw new BrokenRows(
        `row group ${index + 1} has ${row - before} rows, and announces ${announced}`,
      );
    }
    const ends = columns.map((column) => chunks[column.index]!.to);
    onProgress(Math.min(Math.max(...ends), source.size - 1), source.size);
  }
  await source.hash();
  onProgress(source.size, source.size);
}

/** The values of a column in a row group, read page by page. */
class Values {
  readonly column: Column;
  readonly #pages: Generator<DecodedArray>;
  #page: DecodedArray = [];
  #at = 0;

  constructor(column: Column, pages: Generator<DecodedArray>) {
    this.column = column;
    this.#pages = pages;
  }

  /** Returns how many values can be taken, 0 at the end of the group. */
  fill(): number {
    while (this.#at === this.#page.length) {
      const { value, done } = this.#pages.next();
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

function readRow(
  place: number,
  columns: readonly Values[],
  unknown: readonly string[],
  spend: (bytes: number) => void,
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
