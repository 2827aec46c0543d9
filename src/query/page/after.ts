import type { Dataset } from '../../dataset/dataset.js';
import { firstAbove } from '../../dataset/order.js';
import { bitOf } from '../common/marks.js';
import { listRows, type Matches, markMatches } from '../common/matches.js';
import { MARKED, SCATTERED } from '../common/plan.js';
import type { Scratch } from '../common/scratch.js';

/** Up to so many matches are sorted, which takes less time than a walk past all rows. */
const MOST_SORTED = 4_096;

/**
 * The rows of the first matches whose ids are above `after`, by ascending ids: `most` of them, or
 * all there are. Costs what finding and marking the matches costs, wherever the page lies.
 */
export function takeAfter(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  after: number,
  most: number,
): Uint32Array {
  const { keys, rows, ranks } = dataset.byId;
  const from = firstAbove(keys, after);
  if (matches.form === 'all') return Uint32Array.from(rows.subarray(from, from + most));
  if (matches.count <= MOST_SORTED) {
    const found = listRows(scratch, matches);
    const behind = found.map((row) => ranks[row]!).filter((rank) => rank >= from);
    scratch.budget.charge(4 * found.length * SCATTERED);
    return Uint32Array.from(behind.sort().subarray(0, most), (rank) => rows[rank]!);
  }
  const bits = markMatches(dataset, scratch, matches);
  const page = new Uint32Array(most + 1);
  const stretch = Math.ceil(scratch.budget.stretch / MARKED);
  let count = 0;
  for (let rank = from; rank < rows.length && count < most; ) {
    const first = rank;
    const end = Math.min(rows.length, rank + stretch);
    for (; rank < end && count < most; rank++) {
      const row = rows[rank]!;
      // written in any case: a branch would be mispredicted
      page[count] = row;
      count += bitOf(bits, row);
    }
    scratch.budget.charge((rank - first) * MARKED);
  }
  return page.subarray(0, count);
}
