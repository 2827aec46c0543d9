import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
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
/** Standard deviations by which chance may leave too few rows below a bound. */
const SPREAD = 6;
// nanoseconds
const KEPT = 100; // a row that is kept or dropped by the upper half of its hash, and sorted
const SORTED = 150; // a row that is brought into the order of hashes
/** More than the places of rows in a list: a hash of 32 bits and a place make one number. */
const PLACES = 2 ** 21;
/** Room for more rows than are wanted: what chance adds fits into it, so that it rarely fills. */
const ROOM = 1_000;

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
  const added = (accepted?.rows ?? NONE).map((row) => dataset.count + row);
  // all rows need no list
  const listing = matches.form === 'all' ? undefined : listRows(scratch, matches);
  return andThen(listing, (list) => {
    const candidates = { list, count: matches.count, added };
    if (matches.count + added.length <= limit) return allOf(candidates);
    const least = new LeastHashes(dataset, new Facts(dataset, accepted), limit, scratch.meter);
    return least.choose(candidates);
  });
}

/** Rows to choose from: `count` of a list, or of all rows, and some of the tail. */
interface Candidates {
  readonly list: Int32Array | undefined;
  readonly count: number;
  readonly added: Int32Array;
}

function allOf({ list, count, added }: Candidates): Int32Array {
  const rows = new Int32Array(count + added.length);
  if (list === undefined) for (let row = 0; row < count; row++) rows[row] = row;
  else rows.set(list.subarray(0, count));
  rows.set(added, count);
  return rows.sort();
}

/** Rows in the order of the hashes of their ids, and of the ids where hashes are equal. */
export function inOrderOfHashes(rows: Int32Array, facts: Facts): Int32Array {
  const { length } = rows;
  const ids = facts.ids(rows);
  // a hash of 32 bits and a place make one number: numbers are sorted without calls
  const keys = new Float64Array(length);
  for (let i = 0; i < length; i++) keys[i] = hashId(ids[i]!) * PLACES + i;
  keys.sort();
  const order = new Int32Array(length);
  for (let i = 0; i < length; i++) order[i] = keys[i]! % PLACES;
  const byId = (a: number, b: number): number => ids[a]! - ids[b]!;
  for (let from = 0; from < length; ) {
    const hash = Math.floor(keys[from]! / PLACES);
    let to = from + 1;
    while (to < length && keys[to]! < (hash + 1) * PLACES) to++;
    if (to - from > 1) order.subarray(from, to).sort(byId);
    from = to;
  }
  for (let i = 0; i < length; i++) order[i] = rows[order[i]!]!;
  return order;
}

/** Chooses the `limit` rows with the least hashes. */
class LeastHashes {
  readonly #thinning: Uint16Array;
  readonly #facts: Facts;
  readonly #limit: number;
  readonly #meter: Meter;
  /** No wanted row has a hash whose upper half is above it. */
  #bound = 0;
  readonly #rows: Int32Array;
  #found = 0;

  constructor({ thinning }: Dataset, facts: Facts, limit: number, meter: Meter) {
    this.#thinning = thinning;
    this.#facts = facts;
    this.#limit = limit;
    this.#meter = meter;
    this.#rows = new Int32Array(2 * limit + ROOM);
  }

  /**
   * Looks for rows whose hashes have an upper half as low as chance has it for `limit` rows, and
   * among all rows where these are too few.
   */
  *choose(candidates: Candidates): Work<Int32Array> {
    const limit = this.#limit;
    const share =
      (limit + SPREAD * Math.sqrt(limit)) / (candidates.count + candidates.added.length);
    const likely = Math.ceil(share * THINNING_VALUES);
    for (const bound of [likely, THINNING_VALUES]) {
      this.#bound = bound;
      this.#found = 0;
      yield* this.#find(candidates);
      if (this.#found >= limit) break;
    }
    this.#keepLeast();
    if (this.#meter.left < 0) yield;
    return this.#rows.slice(0, limit).sort();
  }

  *#find({ list, count, added }: Candidates): Work<void> {
    const ids = this.#facts.ids(added);
    for (const [i, row] of added.entries()) {
      if (hashId(ids[i]!) >>> 16 <= this.#bound) this.#put(row);
    }
    const cost = list === undefined ? NEIGHBOUR : SCATTERED;
    const finding = inStretches(this.#meter, 0, count, cost, (from, to) =>
      list === undefined ? this.#findRows(from, to) : this.#findListed(list, from, to),
    );
    if (isWork(finding)) yield* finding;
  }

  #findRows(from: number, to: number): void {
    const thinning = this.#thinning;
    const bound = this.#bound;
    let row = from;
    // most rows are passed by: four at a time
    for (; row + 4 <= to; row += 4) {
      const isPassed =
        thinning[row]! > bound &&
        thinning[row + 1]! > bound &&
        thinning[row + 2]! > bound &&
        thinning[row + 3]! > bound;
      if (isPassed) continue;
      for (let one = row; one < row + 4; one++) if (thinning[one]! <= bound) this.#put(one);
    }
    for (; row < to; row++) if (thinning[row]! <= bound) this.#put(row);
  }

  #findListed(list: Int32Array, from: number, to: number): void {
    const thinning = this.#thinning;
    const bound = this.#bound;
    let i = from;
    for (; i + 4 <= to; i += 4) {
      const isPassed =
        thinning[list[i]!]! > bound &&
        thinning[list[i + 1]!]! > bound &&
        thinning[list[i + 2]!]! > bound &&
        thinning[list[i + 3]!]! > bound;
      if (isPassed) continue;
      for (let one = i; one < i + 4; one++) {
        if (thinning[list[one]!]! <= bound) this.#put(list[one]!);
      }
    }
    for (; i < to; i++) if (thinning[list[i]!]! <= bound) this.#put(list[i]!);
  }

  #put(row: number): void {
    if (this.#found === this.#rows.length) this.#keepLeast();
    this.#rows[this.#found++] = row;
  }

  /** Drops all but the rows with the least hashes, which lowers the bound. */
  #keepLeast(): void {
    const rows = this.#rows;
    const halves = new Uint16Array(this.#found);
    const histogram = new Int32Array(THINNING_VALUES);
    for (let i = 0; i < this.#found; i++) {
      halves[i] = this.#halfOf(rows[i]!);
      histogram[halves[i]!]!++;
    }
    let last = 0;
    let below = 0;
    while (below + histogram[last]! < this.#limit) below += histogram[last++]!;
    const doubtful: Row[] = [];
    let kept = 0;
    for (let i = 0; i < this.#found; i++) {
      if (halves[i]! < last) rows[kept++] = rows[i]!;
      else if (halves[i] === last) doubtful.push(rows[i]!);
    }
    // only these are told apart by the rest of their hashes
    const ordered = inOrderOfHashes(Int32Array.from(doubtful), this.#facts);
    rows.set(ordered.subarray(0, this.#limit - below), below);
    this.#meter.left -= this.#found * KEPT + doubtful.length * SORTED;
    this.#found = this.#limit;
    this.#bound = last;
  }

  #halfOf(row: Row): number {
    if (row < this.#thinning.length) return this.#thinning[row]!;
    return hashId(this.#facts.ids(Int32Array.of(row))[0]!) >>> 16;
  }
}
