import { readDigits, textOf } from '../formats/attributes.js';
import { Members, memberOf } from '../formats/record-layout.js';
import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import type { Row } from '../index/order.js';
import { type FetchedPage, memoryOf } from '../index/record-page.js';
import { hashId, THINNING_VALUES } from '../index/records.js';
import { type Budget, inStretches } from '../model/budget.js';
import type { RecordKey } from '../model/point.js';
import type { Microseconds } from '../model/units.js';
import { listRows, type Matches } from '../query/common/matches.js';
import { SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Facts } from './facts.js';
import type { Grid } from './grid.js';
import { LayerWriter, type Place } from './layer.js';

export const ALWAYS: readonly RecordKey[] = ['id', 'status', 'is_processed', 'created_at'];
/** Properties that need no record. */
const IN_COLUMNS: readonly RecordKey[] = [...ALWAYS, 'modified_at'];
const STATUS = memberOf('status');
const SECOND: Microseconds = 1e6;

// nanoseconds
const COLUMNS = 80; // to read the columns of a point
const POINT = 400; // to write a point
const RECORD = 600; // to read its record besides
const BYTE = 2; // a byte of a record

// estimated bytes of a point: memory that is large enough is not copied
const FEATURE_BYTES = 48;
const VALUE_BYTES = 16;

function readsRecords(fields: readonly RecordKey[] = []): boolean {
  return fields.some((key) => !IN_COLUMNS.includes(key));
}

/** Adds the layer of single points; none where there are no rows. */
export function writePoints(
  tile: Uint8Array[],
  grid: Grid,
  facts: Facts,
  { rows, fitting, bytes }: Budgeted,
  fields: readonly RecordKey[] | undefined,
  budget: Budget,
): void {
  if (rows.length === 0) return;
  const { length } = rows;
  const layer = new LayerWriter('points', length * FEATURE_BYTES, length * VALUE_BYTES + bytes);
  const [id, status, isProcessed, createdAt] = ALWAYS.map((key) => layer.key(key));
  const [yes, no] = [layer.own(true), layer.own(false)];
  const modifiedAt = fields?.includes('modified_at') ? layer.key('modified_at') : undefined;
  const writeMembers = readsRecords(fields) ? memberWriter(layer, fields!) : undefined;
  const statusOf = statusWriter(layer, facts);

  const write = (from: number, to: number): void => {
    const some = rows.subarray(from, to);
    const [ids, created, coords] = [facts.ids(some), facts.createdAt(some), facts.coords(some)];
    const modified = modifiedAt === undefined ? undefined : facts.modifiedAt(some);
    const read = writeMembers === undefined ? 0 : Math.max(0, Math.min(fitting, to) - from);
    const records = read === 0 ? undefined : facts.records(some.subarray(0, read));
    for (let i = 0; i < some.length; i++) {
      layer.begin(ids[i]!);
      layer.property(id!, layer.ownNumber(ids[i]!));
      layer.property(status!, statusOf(some[i]!, records, i));
      layer.property(isProcessed!, facts.isProcessed(some[i]!) ? yes : no);
      layer.property(createdAt!, layer.ownNumber(Math.floor(created[i]! / SECOND)));
      if (modified !== undefined) {
        layer.property(modifiedAt!, layer.ownNumber(Math.floor(modified[i]! / SECOND)));
      }
      if (i < read) writeMembers!(records!, i);
      const lon = coords[2 * i]!;
      const lat = coords[2 * i + 1]!;
      const cell = grid.cellOf(lon, lat);
      layer.end(grid.unitsEast(lon, cell), grid.unitsSouth(lat, cell));
    }
  };

  const reading = writeMembers === undefined ? 0 : RECORD + (BYTE * bytes) / length;
  inStretches(budget, 0, length, COLUMNS + POINT + reading, write);
  layer.finish(tile);
}

/** Makes a function that writes the status of a row, whose record may have been fetched. */
function statusWriter(
  layer: LayerWriter,
  facts: Facts,
): (row: Row, records: FetchedPage | undefined, index: number) => Place {
  const members = new Members();
  const frequent: Place[] = [];

  function read(page: FetchedPage, index: number): Place {
    const memory = memoryOf(page, index);
    members.find(memory, page.places[2 * index]);
    return layer.shared(textOf(memory, members.starts[STATUS]!, members.ends[STATUS]!));
  }

  // frequent statuses are known by a bit, others are read from records
  return (row, records, index) => {
    const number = facts.frequentStatus(row);
    const known = frequent[number];
    if (known !== undefined) return known;
    const isFetched = records !== undefined && index < records.count;
    const place = isFetched ? read(records, index) : read(facts.records(Int32Array.of(row)), 0);
    if (number >= 0) frequent[number] = place;
    return place;
  };
}

/** Makes a function that adds the wanted members of a record to a feature. */
function memberWriter(
  layer: LayerWriter,
  fields: readonly RecordKey[],
): (page: FetchedPage, index: number) => void {
  const wanted = fields
    .filter((key) => !IN_COLUMNS.includes(key))
    .map((key) => ({ key, member: memberOf(key), name: layer.key(key) }));
  const members = new Members();

  /** Tags, as JSON, and users are shared by many points. */
  function placeOf(key: RecordKey, record: Uint8Array, from: number, to: number): Place {
    if (key === 'tags') return layer.shared(`[${Buffer.from(record.subarray(from, to))}]`);
    if (key === 'created_by') return layer.shared(readDigits(record, from, to));
    return layer.ownJsonText(record, from, to);
  }

  return (page, index) => {
    const record = memoryOf(page, index);
    members.find(record, page.places[2 * index]);
    for (const { key, member, name } of wanted) {
      if (!members.has(member)) continue;
      const { starts, ends } = members;
      layer.property(name, placeOf(key, record, starts[member]!, ends[member]!));
    }
  };
}

/** The most bytes of records that are read for a tile: 10,000 of 256 KiB would be gigabytes. */
export const MOST_RECORD_BYTES: number = 4 * 2 ** 20;

/** Rows, of which the first `fitting` have their records read: `bytes` bytes. */
interface Budgeted {
  readonly rows: Int32Array;
  readonly fitting: number;
  readonly bytes: number;
}

/** The rows with the least hashes whose records fit; all where `fields` need no records. */
export function withinBudget(
  facts: Facts,
  rows: Int32Array,
  fields: readonly RecordKey[] | undefined,
  budget: Budget,
): Budgeted {
  if (!readsRecords(fields)) return { rows, fitting: rows.length, bytes: 0 };
  budget.charge(rows.length * SORTED);
  const ordered = inOrderOfHashes(rows, facts);
  let bytes = 0;
  let fitting = 0;
  for (; fitting < ordered.length; fitting++) {
    const more = facts.recordBytes(ordered[fitting]!);
    if (bytes + more > MOST_RECORD_BYTES) break;
    bytes += more;
  }
  return { rows: ordered, fitting, bytes };
}

/** Standard deviations by which too few rows may be below a bound. */
const SPREAD = 6;
// nanoseconds
const HASHED = 10; // to hash the id of an accepted point
const SORTED = 150; // to sort a row by its hash
const ORDERED = 50; // to sort a row by its number
/** More than a list has places: a hash of 32 bits and a place make one number. */
const PLACES = 2 ** 21;

/** The `limit` rows with the least hashes of ids, ascending. Deeper tiles keep the same ones. */
export function thinOut(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  accepted: DeltaMatches | undefined,
  facts: Facts,
  limit: number,
): Int32Array {
  const { budget } = scratch;
  const { thinning } = dataset;
  const list = matches.form === 'all' ? undefined : listRows(scratch, matches);
  const count = matches.count + (accepted?.rows.length ?? 0);

  /** The matches whose hashes have upper halves up to `bound`. */
  function rowsBelow(bound: number): number[] {
    const found: number[] = [];
    inStretches(budget, 0, matches.count, SCATTERED, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = list === undefined ? i : list[i]!;
        if (thinning[row]! <= bound) found.push(row);
      }
    });
    if (accepted === undefined) return found;
    const { delta, rows } = accepted;
    inStretches(budget, 0, rows.length, HASHED, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        if (hashId(delta.id[row]!) >>> 16 <= bound) found.push(dataset.count + row);
      }
    });
    return found;
  }

  // a bound that most likely leaves `limit` rows, and a higher one where it leaves too few
  const likely = Math.ceil(((limit + SPREAD * Math.sqrt(limit)) / count) * THINNING_VALUES);
  let bound = Math.min(likely, THINNING_VALUES);
  let found = rowsBelow(bound);
  while (found.length < Math.min(limit, count)) {
    bound *= 4;
    found = rowsBelow(bound);
  }
  let rows = Int32Array.from(found);
  if (rows.length > limit) {
    budget.charge(rows.length * SORTED);
    rows = inOrderOfHashes(rows.subarray(0, PLACES), facts).slice(0, limit);
  }
  budget.charge(rows.length * ORDERED);
  return rows.sort();
}

/** Rows sorted by the hashes of their ids, ties by id. */
function inOrderOfHashes(rows: Int32Array, facts: Facts): Int32Array {
  const { length } = rows;
  const ids = facts.ids(rows);
  // hash and place make one number: numbers are sorted without calls
  const keys = new Float64Array(length);
  for (let i = 0; i < length; i++) keys[i] = hashId(ids[i]!) * PLACES + i;
  keys.sort();
  const order = new Int32Array(length);
  for (let i = 0; i < length; i++) order[i] = keys[i]! % PLACES;
  const byId = (a: number, b: number): number => ids[a]! - ids[b]!;
  for (let from = 0; from < length; ) {
    const hash = Math.floor(keys[from]! / PLACES);
    let to = from + 1;
    while (to < length && keys[to]! < (hash + 1) * PLACES) to++;
    if (to - from > 1) order.subarray(from, to).sort(byId);
    from = to;
  }
  for (let i = 0; i < length; i++) order[i] = rows[order[i]!]!;
  return order;
}
