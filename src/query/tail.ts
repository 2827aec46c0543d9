import { Budget, inStretches } from '../budget.js';
import type { Tail, TailRow } from '../dataset/tail.js';
import type { Box, Filters, TimeWindow } from '../model/query.js';
import { haveAttributes } from './common/attribute-rows.js';
import type { Region } from './region/overlap.js';
import { regionOf } from './region/region.js';
import { attributeCost, attributeTest } from './tail-attributes.js';
import { chargeOf } from './tested-rows.js';

const EVERYWHERE: Box = { west: -180, south: -90, east: 180, north: 90 };
const ALWAYS: TimeWindow = { after: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };

// nanoseconds a row
const FRAME_TEST = 6; // four comparisons at most
const WINDOW_TEST = 8; // two comparisons, mispredicted where times are in no order
const REGION_TEST = 30; // a polygon or a circle

/** Rows that are tested between two charges: in a polygon each may cost 40 µs. */
const MEASURED_ROWS = 16;

/**
 * Finds the rows `from` to `to - 1` of a tail that satisfy the filters, ascending, by a look at
 * each. Most lie outside of the region's frame, and only those inside are tested against the region
 * and by their attributes.
 */
export function matchTail(
  tail: Tail,
  filters: Filters,
  from: TailRow,
  to: TailRow,
  budget: Budget = new Budget(),
): Int32Array {
  const found = new Int32Array(to - from);
  const region = regionOf(filters);
  const { frame = EVERYWHERE } = region ?? {};
  const framed = listFramed(tail, filters, frame, found, from, to, budget);
  const isTested = framed > 0 && (region !== undefined || haveAttributes(filters));
  const count = isTested ? keepMatches(tail, filters, region, found, framed, budget) : framed;
  return found.subarray(0, count);
}

/** Lists the rows that lie in a frame and in the windows; returns how many do. */
function listFramed(
  { coords, createdAt, modifiedAt }: Tail,
  { createdAt: created, modifiedAt: modified }: Filters,
  { west, south, east, north }: Box,
  list: Int32Array,
  first: TailRow,
  last: TailRow,
  budget: Budget,
): number {
  const { after: createdFrom, before: createdTo } = created ?? ALWAYS;
  const { after: modifiedFrom, before: modifiedTo } = modified ?? ALWAYS;
  let count = 0;
  const test = (from: TailRow, to: TailRow): void => {
    let end = count;
    for (let row: number = from; row < to; row++) {
      const lon = coords[2 * row]!;
      if (lon < west || lon > east) continue;
      const lat = coords[2 * row + 1]!;
      if (lat < south || lat > north) continue;
      if (createdAt[row]! < createdFrom || createdAt[row]! > createdTo) continue;
      if (modifiedAt[row]! < modifiedFrom || modifiedAt[row]! > modifiedTo) continue;
      list[end++] = row;
    }
    count = end;
  };
  const windows = +(created !== undefined) + +(modified !== undefined);
  const cost = FRAME_TEST + windows * WINDOW_TEST;
  inStretches(budget, first, last, cost, test);
  return count;
}

/**
 * Keeps those of the first `candidates` of a list that lie in the region and have the attributes
 * that are asked for; returns how many do.
 */
function keepMatches(
  { coords, attributes }: Tail,
  filters: Filters,
  region: Region | undefined,
  list: Int32Array,
  candidates: number,
  budget: Budget,
): number {
  const hasAttributes = haveAttributes(filters) ? attributeTest(attributes, filters) : undefined;
  const charge = chargeOf(budget, region);
  let count = 0;
  const test = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const row = list[i]!;
      if (hasAttributes !== undefined && !hasAttributes(row)) continue;
      if (region === undefined || region.contains(coords, row)) list[count++] = row;
    }
    charge();
  };
  const cost =
    (region === undefined ? 0 : REGION_TEST) +
    (hasAttributes === undefined ? 0 : attributeCost(attributes, filters, list[candidates - 1]!));
  inStretches(budget, 0, candidates, cost, test, MEASURED_ROWS);
  return count;
}
