import { setImmediate } from 'node:timers/promises';
import { RECORD_KEYS } from '../../model/point.js';
import type { Box } from '../../model/query.js';
import { InputError } from '../../model/quote.js';
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

/** A Map has no room for more. */
const MOST_POINTS = 2 ** 24;

/**
 * Compares two snapshots of any format, point by point, by ids; holds the first in memory.
 * `onDifference` hears of what came or changed, in the order of the second, then of what went, in
 * that of the first. Throws an InputError where a file is broken.
 */
export async function compareSnapshots(
  first: string,
  second: string,
  reading: Reading,
  onDifference: (difference: Difference) => void | Promise<void>,
): Promise<Comparison> {
  const left = new Map<number, Buffer>();
  const counts = { came: 0, went: 0, changed: 0 };
  const fields = new Map<string, number>();
  let extent: Box | undefined;
  const tell = (difference: Difference, ...records: readonly Values[]): void | Promise<void> => {
    counts[difference.change]++;
    for (const field of difference.fields ?? []) fields.set(field, (fields.get(field) ?? 0) + 1);
    for (const record of records) extent = around(extent, record);
    return onDifference(difference);
  };
  const before = await readRecords(first, reading, (id, record) => {
    if (left.size === MOST_POINTS) {
      throw new InputError(`${first}: has more than ${MOST_POINTS} points, which are not compared`);
    }
    left.set(id, record);
  });
  const after = await readRecords(second, reading, (id, record) => {
    const old = left.get(id);
    left.delete(id);
    if (old?.equals(record)) return undefined;
    const now = JSON.parse(`${record}`) as Values;
    if (old === undefined) return tell({ change: 'came', id, record: `${record}` }, now);
    const was = JSON.parse(`${old}`) as Values;
    const others = RECORD_KEYS.filter(
      (key) => JSON.stringify(was[key]) !== JSON.stringify(now[key]),
    );
    // a native file may have the same values in other words
    if (others.length === 0) return undefined;
    return tell({ change: 'changed', id, fields: others, record: `${record}` }, was, now);
  });
  for (const [id, record] of left) {
    await tell({ change: 'went', id, record: `${record}` }, JSON.parse(`${record}`));
  }
  return { reports: [before, after], counts, fields, extent };
}

type Values = Readonly<Record<string, unknown>>;

function around(extent: Box | undefined, values: Values): Box {
  const [lon, lat] = [Number(values['lon']), Number(values['lat'])];
  const { west, south, east, north } = extent ?? { west: lon, south: lat, east: lon, north: lat };
  return {
    west: Math.min(west, lon),
    south: Math.min(south, lat),
    east: Math.max(east, lon),
    north: Math.max(north, lat),
  };
}

async function readRecords(
  path: string,
  reading: Reading,
  visit: (id: number, record: Buffer) => void | Promise<void>,
): Promise<LoadReport> {
  const reader = await openSnapshot(path, reading(path));
  try {
    for await (const { count, id, length, records } of reader.blocks()) {
      const bytes = Buffer.from(records.buffer, records.byteOffset, records.length);
      let end = 0;
      for (let i = 0; i < count; i++) {
        const start = end;
        end += length[i]!;
        const visited = visit(id[i]!, bytes.subarray(start, end));
        if (visited !== undefined) await visited;
      }
      // some readers never wait: let signals and the bar have their turn
      await setImmediate();
    }
    return reader.report();
  } finally {
    reader.close();
  }
}
