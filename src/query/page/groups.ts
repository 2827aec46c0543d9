import { type Budget, inStretches } from '../../budget.js';
import { type Blocks, putUnion } from '../../dataset/blocks.js';
import { countMarked, listMarkedRows } from '../common/marks.js';
import type { Centre } from '../region/centre.js';
import type { Places } from './ordered.js';

/**
 * Blocks of a group, from the first look to the last: each group that is left is cut into those of
 * the next size.
 */
const GROUP_BLOCKS: readonly number[] = [64, 16, 4, 1];
/** Stretches that the distances which are still in question are cut into. */
const BUCKETS = 1_024;
/**
 * Looks at the groups of one size: each makes the buckets finer where the page is, as far as the
 * groups allow.
 */
const LOOKS = 4;
/** A look that leaves more than this share of the last one's span is the last of its size. */
const WORTH_IT = 0.5;
/** Smaller spans would make the scale infinite. */
const LEAST_SPAN = 1e-300;

// nanoseconds
const COUNT_BLOCK = 12;
const BOUND_GROUP = 250;
const LOOK_AT_GROUP = 12;
const LIST_BLOCK = 200;

/** Rows, and places among them. */
export interface Narrowed {
  readonly rows: Int32Array;
  readonly places: Places;
}

/** Groups of neighbouring blocks, index by index, and how many there are. */
interface Groups {
  /** The first block of each. */
  readonly first: Int32Array;
  /** Matches in each, at least one. */
  readonly sizes: Int32Array;
  /** The haversines of its points lie from `nearest` to `farthest`. */
  readonly nearest: Float64Array;
  readonly farthest: Float64Array;
  length: number;
}

/**
 * Haversines that the page's own lie between, and its places among the matches of the groups that
 * are left.
 */
interface Band {
  least: number;
  most: number;
  from: number;
  to: number;
}

/**
 * Leaves out the matches, given as bits, whose groups of blocks surely lie before or behind the
 * places asked for when sorted by distance: they are counted and never measured. Writes the others
 * to the list, ascending, and returns them, with the places among them.
 */
export function leaveOutGroups(
  budget: Budget,
  blocks: Blocks,
  centre: Centre,
  bits: Int32Array,
  list: Int32Array,
  { from, to }: Places,
): Narrowed {
  const before = countBefore(budget, blocks, bits);
  const total = blocks.starts.length - 1;
  const band: Band = { least: 0, most: 1, from, to };
  // all blocks, as one group
  let groups = newGroups(1);
  groups.length = 1;
  let size = total;
  for (const part of GROUP_BLOCKS) {
    if (part >= size) continue;
    groups = cutGroups(budget, blocks, centre, before, groups, size, part);
    size = part;
    narrow(budget, groups, band);
  }

  const { starts } = blocks;
  let kept = 0;
  inStretches(budget, 0, groups.length, LIST_BLOCK * size, (start, end) => {
    for (let group = start; group < end; group++) {
      const first = groups.first[group]!;
      const last = Math.min(first + size, total);
      kept = listMarkedRows(bits, list, kept, starts[first]!, starts[last]!);
    }
  });
  return { rows: list.subarray(0, kept), places: { from: band.from, to: band.to } };
}

function newGroups(most: number): Groups {
  return {
    first: new Int32Array(most),
    sizes: new Int32Array(most),
    nearest: new Float64Array(most),
    farthest: new Float64Array(most),
    length: 0,
  };
}

/** The matches before each block, and behind the last one all of them. */
function countBefore(budget: Budget, { starts }: Blocks, bits: Int32Array): Int32Array {
  const before = new Int32Array(starts.length);
  inStretches(budget, 0, starts.length - 1, COUNT_BLOCK, (from, to) => {
    let count = before[from]!;
    for (let block = from; block < to; block++) {
      count += countMarked(bits, starts[block]!, starts[block + 1]!);
      before[block + 1] = count;
    }
  });
  return before;
}

/**
 * Cuts groups of `size` blocks into groups of `part`, drops those without a match, and bounds the
 * others.
 */
function cutGroups(
  budget: Budget,
  { starts, boxes }: Blocks,
  centre: Centre,
  before: Int32Array,
  groups: Groups,
  size: number,
  part: number,
): Groups {
  const total = starts.length - 1;
  const parts = newGroups(groups.length * Math.ceil(size / part));
  const box = new Float64Array(4);
  for (let group = 0; group < groups.length; group++) {
    const end = Math.min(groups.first[group]! + size, total);
    for (let first = groups.first[group]!; first < end; first += part) {
      const last = Math.min(first + part, end);
      const matches = before[last]! - before[first]!;
      if (matches === 0) continue;
      putUnion(box, 0, boxes, first, last);
      centre.bound(box, 0);
      const at = parts.length++;
      parts.first[at] = first;
      parts.sizes[at] = matches;
      parts.nearest[at] = centre.least;
      parts.farthest[at] = centre.most;
      budget.charge(BOUND_GROUP);
    }
  }
  return parts;
}

/** Narrows the band to what the bounds of the groups tell, and drops the groups beside it. */
function narrow(budget: Budget, groups: Groups, band: Band): void {
  for (let look = 0; look < LOOKS && groups.length > 1; look++) {
    const span = band.most - band.least;
    lookOnce(budget, groups, band);
    if (band.most - band.least > span * WORTH_IT) return;
  }
}

function lookOnce(budget: Budget, groups: Groups, band: Band): void {
  const { first, sizes, nearest, farthest } = groups;
  const { least, most, from, to } = band;
  const scale = most - least > LEAST_SPAN ? BUCKETS / (most - least) : 0;
  // never falls as the distance grows: whatever it says of bounds holds for what lies between them
  const bucketOf = (distance: number): number =>
    Math.max(0, Math.min(BUCKETS - 1, Math.trunc((distance - least) * scale)));
  // matches in groups that begin in each bucket, and that end in it
  const begin = new Int32Array(BUCKETS);
  const end = new Int32Array(BUCKETS);
  inStretches(budget, 0, groups.length, LOOK_AT_GROUP, (start, stop) => {
    for (let group = start; group < stop; group++) {
      begin[bucketOf(nearest[group]!)]! += sizes[group]!;
      end[bucketOf(farthest[group]!)]! += sizes[group]!;
    }
  });
  // up to a bucket before `low` there are no more than `from` matches, up to `high` there are
  // surely `to`
  let low = 0;
  for (let count = begin[0]!; count <= from; count += begin[low]!) low++;
  let high = 0;
  for (let count = end[0]!; count < to; count += end[high]!) high++;

  let kept = 0;
  inStretches(budget, 0, groups.length, LOOK_AT_GROUP, (start, stop) => {
    for (let group = start; group < stop; group++) {
      const size = sizes[group]!;
      if (bucketOf(farthest[group]!) < low) {
        band.from -= size;
        band.to -= size;
      } else if (bucketOf(nearest[group]!) <= high) {
        first[kept] = first[group]!;
        sizes[kept] = size;
        nearest[kept] = nearest[group]!;
        farthest[kept++] = farthest[group]!;
      }
    }
  });
  groups.length = kept;
  if (scale === 0) return;
  band.least = least + low / scale;
  band.most = least + (high + 1) / scale;
}
