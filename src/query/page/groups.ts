import { type Blocks, putUnion } from '../../dataset/blocks.js';
import { firstAbove } from '../../dataset/order.js';
import type { Row } from '../../dataset/row.js';
import type { Meter, Work } from '../common/work.js';
import type { Centre } from '../region/centre.js';
import type { Places } from './ordered.js';

/** Blocks that are kept or left out as one: a subtree, too. */
const GROUP_BLOCKS = 4;
/** Nanoseconds that the distances of a group take to bound. */
const BOUNDING = 300;
/** One bucket for each float of six fractional bits, up to 1. */
const BUCKETS = 8_192;

/** Matching rows of neighbouring blocks, `start` to `end - 1` of the list, and the span of their distances. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly nearest: number;
  readonly farthest: number;
}

/** Rows, and places among them. */
export interface Narrowed {
  readonly rows: Int32Array;
  readonly places: Places;
}

/**
 * Leaves out the rows, of those that ascend, whose groups of blocks surely lie before or behind the places asked
 * for when sorted by distance. Returns the others, and the places among them.
 */
export function* leaveOutGroups(
  meter: Meter,
  blocks: Blocks,
  centre: Centre,
  rows: Int32Array,
  { from, to }: Places,
): Work<Narrowed> {
  const groups = yield* groupRows(meter, blocks, centre, rows);
  const bucketOf = floatBuckets();
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

/**
 * Buckets as wide as their distances are great: a whole city would fit the first of equal ones. The bits of a
 * float from nought to 1, read as a number, grow with it.
 */
function floatBuckets(): (distance: number) => number {
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  return (distance) => {
    float[0] = distance;
    return bits[0]! >>> 17;
  };
}

function* groupRows(
  meter: Meter,
  { starts, boxes }: Blocks,
  centre: Centre,
  rows: Int32Array,
): Work<Group[]> {
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
    meter.left -= BOUNDING;
    if (meter.left < 0) yield;
  }
  return groups;
}

/** Index of the first row, behind the one at `cursor`, that is not below `row`. Rows must be distinct and ascending. */
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
