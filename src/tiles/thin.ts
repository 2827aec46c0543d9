import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import { hashId, THINNING_VALUES } from '../dataset/thinning.js';
import { listRows, type Matches } from '../query/common/matches.js';
import { NEIGHBOUR, SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import {
  andThen,
  inStretches,
  isWork,
  type Meter,
  type Step,
  type Work,
} from '../query/common/work.js';
import { Facts } from './facts.js';

const NONE = new Int32Array(0);

/**
 * The `limit` rows with the least hashes of their ids, or all where there are no more; ascending.
 * Row `i` of the tail is row `dataset.count + i`. A part of the matches, such as those of a deeper
 * tile, keeps every row of it that all of them keep.
 */
export function thinOut(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  accepted: TailMatches | undefined,
  limit: number,
): Step<Int32Array> {
  const { count } = matches;
  const added = (accepted?.rows ?? NONE).map((row) => dataset.count + row);
  // all rows need no list
  const listing = matches.form === 'all' ? undefined : listRows(scratch, matches);
  return andThen(listing, (list) => {
    const least = new LeastHashes(dataset, list, count, added, new Facts(dataset, accepted));
    return count + added.length <= limit ? least.all() : least.choose(limit, scratch.meter);
  });
}

/** Chooses rows by the hashes of their ids: those of a list, or all rows, and some of the tail. */
class LeastHashes {
  readonly #dataset: Dataset;
  readonly #list: Int32Array | undefined;
  readonly #count: number;
  readonly #added: Int32Array;
  readonly #facts: Facts;
  #rows: Int32Array = NONE;
  /** Where the next row comes whose hash is below the last, and one whose hash is the last. */
  #kept = 0;
  #doubtful = 0;

  constructor(
    dataset: Dataset,
    list: Int32Array | undefined,
    count: number,
    added: Int32Array,
    facts: Facts,
  ) {
    this.#dataset = dataset;
    this.#list = list;
    this.#count = count;
    this.#added = added;
    this.#facts = facts;
  }

  all(): Int32Array {
    const rows = new Int32Array(this.#count + this.#added.length);
    if (this.#list === undefined) for (let row = 0; row < this.#count; row++) rows[row] = row;
    else rows.set(this.#list.subarray(0, this.#count));
    rows.set(this.#added, this.#count);
    return rows.sort();
  }

  /** The upper halves of hashes are counted first; only where they are equal the rest matters. */
  *choose(limit: number, meter: Meter): Work<Int32Array> {
    const added = this.#facts.ids(this.#added).map((id) => hashId(id) >>> 16);
    const histogram = new Int32Array(THINNING_VALUES);
    for (const half of added) histogram[half]!++;
    const cost = this.#list === undefined ? NEIGHBOUR : SCATTERED;
    const counting = inStretches(meter, 0, this.#count, cost, (from, to) =>
      this.#countSome(histogram, from, to),
    );
    if (isWork(counting)) yield* counting;

    let below = 0;
    let last = 0;
    while (below + histogram[last]! < limit) below += histogram[last++]!;
    this.#rows = new Int32Array(below + histogram[last]!);
    this.#doubtful = below;
    for (const [i, row] of this.#added.entries()) this.#put(row, added[i]!, last);
    const choosing = inStretches(meter, 0, this.#count, cost, (from, to) =>
      this.#chooseSome(last, from, to),
    );
    if (isWork(choosing)) yield* choosing;

    const doubtful = this.#rows.subarray(below);
    doubtful.set(this.#byHash(doubtful));
    return this.#rows.subarray(0, limit).sort();
  }

  #countSome(histogram: Int32Array, from: number, to: number): void {
    const list = this.#list;
    const { thinning } = this.#dataset;
    if (list === undefined) for (let row = from; row < to; row++) histogram[thinning[row]!]!++;
    else for (let i = from; i < to; i++) histogram[thinning[list[i]!]!]!++;
  }

  #chooseSome(last: number, from: number, to: number): void {
    const list = this.#list;
    const { thinning } = this.#dataset;
    for (let i = from; i < to; i++) {
      const row = list === undefined ? i : list[i]!;
      const half = thinning[row]!;
      if (half <= last) this.#put(row, half, last);
    }
  }

  #put(row: number, half: number, last: number): void {
    if (half < last) this.#rows[this.#kept++] = row;
    else if (half === last) this.#rows[this.#doubtful++] = row;
  }

  /** The same rows by their whole hashes, then by their ids. */
  #byHash(rows: Int32Array): number[] {
    const ids = this.#facts.ids(rows);
    const sorted = Array.from(rows, (row, i) => ({ row, id: ids[i]!, hash: hashId(ids[i]!) }));
    return sorted.sort((a, b) => a.hash - b.hash || a.id - b.id).map(({ row }) => row);
  }
}
