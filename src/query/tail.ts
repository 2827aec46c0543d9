import type { Tail, TailRow } from '../dataset/tail.js';
import type { Filters, TimeWindow } from '../model/query.js';
import { haveAttributes } from './common/attribute-rows.js';
import { regionOf } from './region/region.js';
import { attributeTest } from './tail-attributes.js';

const EVERYWHERE = { west: -180, south: -90, east: 180, north: 90 };
const ALWAYS: TimeWindow = { after: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };

/**
 * Finds the rows `from` to `to - 1` of a tail that satisfy the filters, ascending, by a look at
 * each. Most lie outside of a region's frame, which takes some 2 ns a row; where the frame has
 * them a circle is asked, for some 30 ns.
 */
export function matchTail(tail: Tail, filters: Filters, from: TailRow, to: TailRow): Int32Array {
  const { coords, createdAt, modifiedAt } = tail;
  const region = regionOf(filters);
  const { west, south, east, north } = region?.frame ?? EVERYWHERE;
  const created = filters.createdAt ?? ALWAYS;
  const modified = filters.modifiedAt ?? ALWAYS;
  const [createdFrom, createdTo] = [created.after, created.before];
  const [modifiedFrom, modifiedTo] = [modified.after, modified.before];
  const hasAttributes = haveAttributes(filters)
    ? attributeTest(tail.attributes, filters)
    : undefined;
  const found = new Int32Array(to - from);
  let count = 0;
  for (let row: number = from; row < to; row++) {
    const lon = coords[2 * row]!;
    if (lon < west || lon > east) continue;
    const lat = coords[2 * row + 1]!;
    if (lat < south || lat > north) continue;
    if (createdAt[row]! < createdFrom || createdAt[row]! > createdTo) continue;
    if (modifiedAt[row]! < modifiedFrom || modifiedAt[row]! > modifiedTo) continue;
    if (hasAttributes !== undefined && !hasAttributes(row)) continue;
    if (region === undefined || region.contains(coords, row)) found[count++] = row;
  }
  return found.subarray(0, count);
}
