import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import type { TailMatches } from '../dataset/tail.js';
import { hashId, THINNING_VALUES } from '../dataset/thinning.js';
import { listRows, type Matches } from '../query/common/matches.js';
import { NEIGHBOUR, SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, inStretches, type Step } from '../query/common/work.js';

/**
 * The `limit` rows with the least hashes of their ids, or all where there are no more; ascending. Row
 * `i` of the tail is row `dataset.count + i`. A part of the matches, such as those of a deeper tile,
 * keeps every row of it that all of them keep.
 */
export function thinOut(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  accepted: TailMatches | undefined,
  limit: number,
): Step<Int32Array> {
  const { meter } = scratch;
  const added = accepted?.rows ?? new Int32Array(0);
  const isAll = matches.form === 'all';
  const listing = isAll ? undefined : listRows(scratch, matches);
  return andThen(listing, (list) => {
    const { count } = matches;
    const cost = isAll ? NEIGHBOUR : SCATTERED;
    const hashes = Uint16Array.from(added, (row) => hashId(accepted!.tail.id[row]!) >>> 16);
    const rowAt = (i: number): Row => (list === undefined ? i : list[i]!);
    if (count + added.length <= limit) {
      return kept(count, rowAt, added, dataset.count);
    }

    const histogram = new Int32Array(THINNING_VALUES);
    for (const hash of hashes) histogram[hash]!++;
    const counting = inStretches(meter, 0, count, cost, (from, to) =>
      countHashes(dataset.thinning, list, histogram, from, to),
    );
    return andThen(counting, () => {
      const { last, below } = lastOf(histogram, limit);
      const rows = new Int32Array(limit + histogram[last]!);
      // rows with the last hash are put behind the others, and sorted by the whole of it
      const state = { kept: 0, doubtful: limit };
      const put = (row: Row, hash: number): void => {
        if (hash < last) rows[state.kept++] = row;
        else if (hash === last) rows[state.doubtful++] = row;
      };
      for (const [i, row] of added.entries()) put(dataset.count + row, hashes[i]!);
      const choosing = inStretches(meter, 0, count, cost, (from, to) => {
        for (let i = from; i < to; i++) put(rowAt(i), dataset.thinning[rowAt(i)]!);
      });
      return andThen(choosing, () => {
        const idOf = (row: Row): number => idIn(dataset, accepted, row);
        const doubtful = [...rows.subarray(limit, state.doubtful)].sort(
          (a, b) => hashId(idOf(a)) - hashId(idOf(b)) || idOf(a) - idOf(b),
        );
        rows.set(doubtful.slice(0, limit - below), below);
        return rows.subarray(0, limit).sort();
      });
    });
  });
}

function kept(
  count: number,
  rowAt: (i: number) => Row,
  added: Int32Array,
  total: number,
): Int32Array {
  const rows = new Int32Array(count + added.length);
  for (let i = 0; i < count; i++) rows[i] = rowAt(i);
  for (const [i, row] of added.entries()) rows[count + i] = total + row;
  return rows.sort();
}

function countHashes(
  hashes: Uint16Array,
  list: Int32Array | undefined,
  histogram: Int32Array,
  from: number,
  to: number,
): void {
  if (list === undefined) for (let row = from; row < to; row++) histogram[hashes[row]!]!++;
  else for (let i = from; i < to; i++) histogram[hashes[list[i]!]!]!++;
}

/** The hash with which `limit` is reached, and how many rows have a smaller one. */
function lastOf(histogram: Int32Array, limit: number): { last: number; below: number } {
  let below = 0;
  let last = 0;
  while (below + histogram[last]! < limit) below += histogram[last++]!;
  return { last, below };
}

function idIn({ count, byId }: Dataset, accepted: TailMatches | undefined, row: Row): number {
  return row < count ? byId.keys[byId.ranks[row]!]! : accepted!.tail.id[row - count]!;
}
