import { type Blocks, putUnion } from '../../dataset/blocks.js';
import { firstAbove } from '../../dataset/order.js';
import type { Row } from '../../dataset/row.js';
import type { Centre } from '../region/centre.js';
import type { Places } from './ordered.js';

/** Rows with their haversines from the centre, index by index. */
export interface Measured {
  readonly rows: Int32Array;
  readonly distances: Float64Array;
}

/** So many blocks are kept or left out as one: a subtree, too. */
const GROUP_BLOCKS = 4;
/** One for each float of six fractional bits, up to 1; as good a number of equal stretches. */
const BUCKETS = 8_192;

/** Matching rows of neighbouring blocks, `start` to `end - 1` of the list, and the span of their distances. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly nearest: number;
  readonly farthest: number;
}

/**
 * Leaves out the rows, of those that ascend, whose groups of blocks surely lie before or behind the places asked
 * for when sorted by distance. Returns the others, and the places among them.
 */
export function leaveOutGroups(
  blocks: Blocks,
  centre: Centre,
  rows: Int32Array,
  { from, to }: Places,
): { readonly rows: Int32Array; readonly places: Places } {
  const groups = groupRows(blocks, centre, rows);
  // rows in groups that end before a bucket, and in groups that begin in it or before
  const surelyBefore = new Float64Array(BUCKETS + 1);
  const possiblyWithin = new Float64Array(BUCKETS);
  for (const { start, end, nearest, farthest } of groups) {
    surelyBefore[bucketOf(farthest) + 1]! += end - start;
    possiblyWithin[bucketOf(nearest)]! += end - start;
  }
  for (let i = 1; i < BUCKETS; i++) {
    surelyBefore[i]! += surelyBefore[i - 1]!;
    possiblyWithin[i]! += possiblyWithin[i - 1]!;
  }

  const candidates = new Int32Array(rows.length);
  let kept = 0;
  let skipped = 0;
  for (const { start, end, nearest, farthest } of groups) {
    if (possiblyWithin[bucketOf(farthest)]! <= from) skipped += end - start;
    else if (surelyBefore[bucketOf(nearest)]! < to) {
      candidates.set(rows.subarray(start, end), kept);
      kept += end - start;
    }
  }
  return { rows: candidates.subarray(0, kept), places: { from: from - skipped, to: to - skipped } };
}

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/**
 * Buckets as wide as their distances are great: a whole city would fit the first of equal ones. The bits of a
 * float from nought to 1, read as a number, grow with it.
 */
function bucketOf(distance: number): number {
  float[0] = distance;
  return bits[0]! >>> 17;
}

function groupRows({ starts, boxes }: Blocks, centre: Centre, rows: Int32Array): Group[] {
  const groups: Group[] = [];
  const box = new Float64Array(4);
  let cursor = 0;
  while (cursor < rows.length) {
    const start = cursor;
    const block = firstAbove(starts, rows[cursor]!) - 1;
    const first = block - (block % GROUP_BLOCKS);
    const last = Math.min(first + GROUP_BLOCKS, starts.length - 1);
    cursor = firstFrom(rows, starts[last]!, cursor);
    putUnion(box, 0, boxes, first, last);
    centre.bound(box, 0);
    groups.push({ start, end: cursor, nearest: centre.least, farthest: centre.most });
  }
  return groups;
}

/** The first index from `cursor` on of ascending, distinct rows, the first of them below `row`, that is not below it. */
function firstFrom(rows: Int32Array, row: Row, cursor: number): number {
  let from = cursor + 1;
  // no more of them than there are numbers between
  let to = Math.min(rows.length, cursor + row - rows[cursor]!);
  if (rows[to - 1]! < row) return to;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (rows[middle]! < row) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Leaves out the rows whose distances lie before or behind the places asked for, by counting how many there are in
 * stretches of equal length: a pass or two where sorting them all would take twenty. Returns the others, and the places
 * among them.
 */
export function leaveOutDistances(
  { rows, distances }: Measured,
  { from, to }: Places,
): { readonly measured: Measured; readonly places: Places } {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (let i = 0; i < distances.length; i++) {
    least = Math.min(least, distances[i]!);
    most = Math.max(most, distances[i]!);
  }
  const scale = most - least > 1e-300 ? (BUCKETS - 1) / (most - least) : 0;
  const sizes = new Uint32Array(BUCKETS);
  for (let i = 0; i < distances.length; i++) sizes[Math.trunc((distances[i]! - least) * scale)]!++;

  let first = 0;
  let skipped = 0;
  while (skipped + sizes[first]! <= from) skipped += sizes[first++]!;
  let last = first;
  let end = skipped + sizes[last]!;
  while (end < to) end += sizes[++last]!;

  const kept = { rows: new Int32Array(end - skipped), distances: new Float64Array(end - skipped) };
  let at = 0;
  for (let i = 0; i < distances.length; i++) {
    const bucket = Math.trunc((distances[i]! - least) * scale);
    if (bucket < first || bucket > last) continue;
    kept.rows[at] = rows[i]!;
    kept.distances[at++] = distances[i]!;
  }
  return { measured: kept, places: { from: from - skipped, to: to - skipped } };
}
