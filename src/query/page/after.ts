import type { Dataset } from '../../dataset/dataset.js';
import { firstAbove } from '../../dataset/order.js';
import type { Rank } from '../../dataset/row.js';
import { bitOf } from '../common/marks.js';
import { listRows, type Matches, markMatches } from '../common/matches.js';
import { MARKED, SCATTERED } from '../common/plan.js';
import type { Scratch } from '../common/scratch.js';
import { andThen, type Meter, type Step, type Work } from '../common/work.js';

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
): Step<Uint32Array> {
  const { keys, rows, ranks } = dataset.byId;
  const from = firstAbove(keys, after);
  if (matches.form === 'all') return Uint32Array.from(rows.subarray(from, from + most));
  if (matches.count <= MOST_SORTED) {
    return andThen(listRows(scratch, matches), (found) => {
      const behind = found.map((row) => ranks[row]!).filter((rank) => rank >= from);
      scratch.meter.left -= 4 * found.length * SCATTERED;
      return Uint32Array.from(behind.sort().subarray(0, most), (rank) => rows[rank]!);
    });
  }
  return andThen(markMatches(dataset, scratch, matches), (bits) => {
    const taken = new Taken(rows, bits, from, most);
    return taken.go(scratch.meter) ? taken.rows() : goOn(taken, scratch.meter);
  });
}

function* goOn(taken: Taken, meter: Meter): Work<Uint32Array> {
  do {
    if (meter.left < 0) yield;
  } while (!taken.go(meter));
  return taken.rows();
}

/** Marked rows, taken along an order. */
class Taken {
  readonly #rows: Int32Array | Uint32Array;
  readonly #bits: Int32Array;
  readonly #page: Uint32Array;
  #rank: Rank;
  #count = 0;

  constructor(rows: Int32Array | Uint32Array, bits: Int32Array, from: Rank, most: number) {
    this.#rows = rows;
    this.#bits = bits;
    this.#rank = from;
    this.#page = new Uint32Array(most + 1);
  }

  /** Walks for one stretch of work; returns whether the page is full or the order ends. */
  go(meter: Meter): boolean {
    const rows = this.#rows;
    const bits = this.#bits;
    const page = this.#page;
    const most = page.length - 1;
    const first = this.#rank;
    const end = Math.min(rows.length, first + Math.ceil(meter.stretch / MARKED));
    let count = this.#count;
    let rank = first;
    for (; rank < end && count < most; rank++) {
      const row = rows[rank]!;
      // written in any case: a branch would be mispredicted
      page[count] = row;
      count += bitOf(bits, row);
    }
    this.#rank = rank;
    this.#count = count;
    meter.left -= (rank - first) * MARKED;
    return count === most || rank === rows.length;
  }

  rows(): Uint32Array {
    return this.#page.subarray(0, this.#count);
  }
}
