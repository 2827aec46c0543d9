import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { RECORD_KEYS } from '../../model/point.js';
import type { Box } from '../../model/query.js';
import { InputError } from '../../model/quote.js';
import type { Degrees } from '../../model/units.js';
import type { PointBlock } from '../block.js';
import type { LoadReport, ReadOptions } from '../snapshot.js';
import { openSnapshot } from './open.js';

/** A point that one of two snapshots has, or that both have with other content. */
export interface Difference {
  readonly change: 'came' | 'went' | 'changed';
  readonly id: number;
  /** Keys of the record whose values are others, where it changed. */
  readonly fields?: readonly string[];
  /** Its JSON: of a point that changed as it is in the second snapshot. */
  readonly record: string;
}

export interface Comparison {
  readonly reports: readonly [LoadReport, LoadReport];
  readonly counts: Readonly<Record<Difference['change'], number>>;
  /** How many points have another value, by the keys of which there are any. */
  readonly fields: ReadonlyMap<string, number>;
  /** The smallest box around all that differs, before and after; undefined where nothing does. */
  readonly extent: Box | undefined;
}

/** Opens a pass over a file; hears how much of it has been read. */
export type Reading = (path: string) => ReadOptions;

const [UNSEEN, SAME, CHANGED] = [0, 1, 2];
const FIRST_POINTS = 65_536;

/**
 * Compares two snapshots of any format, point by point, by ids. Each is read twice: first for ids
 * and hashes, 17 bytes a point in memory, then for what differs, some 150 bytes for each point that
 * changed. `onDifference` hears of what went, in the order of the first, then of what came or
 * changed, in that of the second. Throws an InputError where a file is broken or changes meanwhile.
 */
export async function compareSnapshots(
  first: string,
  second: string,
  reading: Reading,
  onDifference: (difference: Difference) => void | Promise<void>,
): Promise<Comparison> {
  const before = new Hashes();
  const reports = [
    await readRecords(first, reading, (id, record) => before.add(id, record)),
  ] as LoadReport[];
  before.sort();
  const states = new Uint8Array(before.count);
  const counts = { came: 0, went: 0, changed: 0 };
  reports.push(
    await readRecords(second, reading, (id, record) => {
      const at = before.find(id);
      if (at === -1) counts.came++;
      else states[at] = before.has(at, record) ? SAME : CHANGED;
    }),
  );
  const summary = new Summary();
  const values = new Map<number, readonly string[]>();
  if (states.some((state) => state !== SAME)) {
    await readAgain(first, reading, reports[0]!, async (id, record, lon, lat) => {
      const state = states[before.find(id)];
      if (state === SAME) return;
      if (state === CHANGED) values.set(id, valuesOf(record));
      else await onDifference({ change: 'went', id, record: `${record}` });
      if (state === UNSEEN) counts.went++;
      summary.extend(lon, lat);
    });
  }
  if (counts.came > 0 || values.size > 0) {
    await readAgain(second, reading, reports[1]!, async (id, record, lon, lat) => {
      const isNew = before.find(id) === -1;
      const old = values.get(id);
      if (old === undefined && !isNew) return;
      const now = isNew ? [] : valuesOf(record);
      const fields = RECORD_KEYS.filter((_, at) => old?.[at] !== now[at]);
      // a native file may have the same values in other words
      if (!isNew && fields.length === 0) return;
      if (!isNew) counts.changed++;
      for (const field of fields) summary.count(field);
      const change = isNew
        ? ({ change: 'came', id } as const)
        : ({ change: 'changed', id, fields } as const);
      await onDifference({ ...change, record: `${record}` });
      summary.extend(lon, lat);
    });
  }
  const { fields, extent } = summary;
  return { reports: [reports[0]!, reports[1]!], counts, fields, extent };
}

/** What differs, in sum. */
class Summary {
  readonly fields = new Map<string, number>();
  extent: Box | undefined;

  count(field: string): void {
    this.fields.set(field, (this.fields.get(field) ?? 0) + 1);
  }

  extend(lon: Degrees, lat: Degrees): void {
    this.extent ??= { west: lon, south: lat, east: lon, north: lat };
    const { west, south, east, north } = this.extent;
    this.extent = {
      west: Math.min(west, lon),
      south: Math.min(south, lat),
      east: Math.max(east, lon),
      north: Math.max(north, lat),
    };
  }
}

/** Ids and 64 bits of a hash of each record, found by id once they are sorted. */
class Hashes {
  count = 0;
  #ids = new Float64Array(FIRST_POINTS);
  #hashes = new BigUint64Array(FIRST_POINTS);

  add(id: number, record: Uint8Array): void {
    if (this.count === this.#ids.length) {
      const [ids, hashes] = [new Float64Array(2 * this.count), new BigUint64Array(2 * this.count)];
      ids.set(this.#ids);
      hashes.set(this.#hashes);
      [this.#ids, this.#hashes] = [ids, hashes];
    }
    this.#ids[this.count] = id;
    this.#hashes[this.count++] = hashOf(record);
  }

  sort(): void {
    const [ids, hashes] = [this.#ids, this.#hashes];
    const order = Uint32Array.from({ length: this.count }, (_, at) => at);
    order.sort((a, b) => ids[a]! - ids[b]!);
    this.#ids = Float64Array.from(order, (at) => ids[at]!);
    this.#hashes = BigUint64Array.from(order, (at) => hashes[at]!);
  }

  find(id: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ids[middle]! < id) low = middle + 1;
      else high = middle;
    }
    return this.#ids[low] === id && low < this.count ? low : -1;
  }

  has(at: number, record: Uint8Array): boolean {
    return this.#hashes[at] === hashOf(record);
  }
}

function hashOf(record: Uint8Array): bigint {
  return hash('sha1', record, 'buffer').readBigUInt64LE(0);
}

/** The values of a record's keys, each as a short text that others hardly have. */
function valuesOf(record: Buffer): string[] {
  const values = JSON.parse(`${record}`) as Record<string, unknown>;
  return RECORD_KEYS.map((key) => {
    const text = JSON.stringify(values[key]) ?? '';
    return text.length <= 16 ? text : hash('sha1', text, 'base64').slice(0, 16);
  });
}

type Visit = (id: number, record: Buffer, lon: Degrees, lat: Degrees) => void | Promise<void>;

async function readRecords(path: string, reading: Reading, visit: Visit): Promise<LoadReport> {
  const reader = await openSnapshot(path, reading(path));
  try {
    for await (const block of reader.blocks()) {
      await visitBlock(block, visit);
      // some readers never wait: let signals and the bar have their turn
      await setImmediate();
    }
    return reader.report();
  } finally {
    reader.close();
  }
}

async function visitBlock(
  { count, id, lon, lat, length, records }: PointBlock,
  visit: Visit,
): Promise<void> {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.length);
  let end = 0;
  for (let i = 0; i < count; i++) {
    const record = bytes.subarray(end, end + length[i]!);
    end += length[i]!;
    const visited = visit(id[i]!, record, lon[i]!, lat[i]!);
    if (visited !== undefined) await visited;
  }
}

/** Reads a file once more. Throws an InputError where it is another by now. */
async function readAgain(
  path: string,
  reading: Reading,
  { digest }: LoadReport,
  visit: Visit,
): Promise<void> {
  const report = await readRecords(path, reading, visit);
  if (report.digest !== digest) throw new InputError(`${path}: it changed while it was read`);
}
