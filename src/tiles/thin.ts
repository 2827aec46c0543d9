import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import type { Row } from '../index/order.js';
import { hashId, THINNING_VALUES } from '../index/records.js';
import { type Budget, inStretches } from '../model/budget.js';
import { listRows, type Matches } from '../query/common/matches.js';
import { NEIGHBOUR, SCATTERED } from '../query/common/plan.js';
import { costInRuns, startOfRuns, visitRuns } from '../query/common/runs.js';
import type { Scratch } from '../query/common/scratch.js';
import { Facts } from './facts.js';

const NONE = new Int32Array(0);
/** Standard deviations by which chance may leave too few rows below a bound. */
const SPREAD = 6;
// nanoseconds
const HASHED = 10; // the id of an accepted point, hashed
const KEPT = 25; // a row that is kept or dropped by the upper half of its hash
export const SORTED = 150; // a row that is brought into the order of hashes
const ORDERED = 50; // a row that is brought into the order of rows
/** More than the places of rows in a list: a hash of 32 bits and a place make one number. */
const PLACES = 2 ** 21;
/** Room for more rows than are wanted: what chance adds fits into it, so that it rarely fills. */
const ROOM = 1_000;

/**
 * The `limit` rows with the least hashes of their ids, or all where there are no more; ascending.
 * Row `i` of the delta is row `dataset.count + i`. A part of the matches, such as those of a deeper
 * tile, keeps every row of it that all of them keep.
 */
export function thinOut(
  dataset: Dataset,
  scratch: Scratch,
  matches: Matches,
  accepted: DeltaMatches | undefined,
  limit: number,
): Int32Array {
  const { budget } = scratch;
  const count = matches.count + (accepted?.rows.length ?? 0);
  if (count > limit) {
    // all rows, and ranges of them, need no list
    const isListed = matches.form !== 'all' && matches.form !== 'runs';
    const list = isListed ? listRows(scratch, matches) : undefined;
    return new LeastHashes(dataset, accepted, limit, budget).choose(matches, list);
  }
  const list = matches.form === 'all' ? everyRow(matches.count) : listRows(scratch, matches);
  const rows = new Int32Array(count);
  rows.set(list.subarray(0, matches.count));
  rows.set(rowsOfDelta(dataset, accepted), matches.count);
  return inOrder(rows, budget);
}

/** Sorts rows, unless they come in order: a look is quicker than the sort by far. */
function inOrder(rows: Int32Array, budget: Budget): Int32Array {
  for (let i = 1; i < rows.length; i++) {
    if (rows[i - 1]! < rows[i]!) continue;
    budget.charge(rows.length * ORDERED);
    return rows.sort();
  }
  return rows;
}

function everyRow(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

function rowsOfDelta({ count }: Dataset, accepted: DeltaMatches | undefined): Int32Array {
  return (accepted?.rows ?? NONE).map((row) => count + row);
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

class LeastHashes {
  readonly #dataset: Dataset;
  readonly #accepted: DeltaMatches | undefined;
  readonly #limit: number;
  readonly #budget: Budget;
  /** No wanted row has a hash whose upper half is above it. */
  #bound = 0;
  /** Rows that may be wanted, and the upper halves of their hashes. */
  readonly #rows: Int32Array;
  readonly #halves: Uint16Array;
  #found = 0;

  constructor(dataset: Dataset, accepted: DeltaMatches | undefined, limit: number, budget: Budget) {
    this.#dataset = dataset;
    this.#accepted = accepted;
    this.#limit = limit;
    this.#budget = budget;
    this.#rows = new Int32Array(2 * limit + ROOM);
    this.#halves = new Uint16Array(this.#rows.length);
  }

  /**
   * Looks for rows whose hashes have an upper half as low as chance has it for `limit` rows, and
   * among all rows where these are too few. `list` has the matches, but for all rows or ranges.
   */
  choose(matches: Matches, list: Int32Array | undefined): Int32Array {
    const limit = this.#limit;
    const count = matches.count + (this.#accepted?.rows.length ?? 0);
    const likely = Math.ceil(((limit + SPREAD * Math.sqrt(limit)) / count) * THINNING_VALUES);
    for (const bound of [likely, THINNING_VALUES]) {
      this.#bound = bound;
      this.#found = 0;
      // accepted points come last, as their rows do
      this.#find(matches, list);
      this.#findAccepted();
      if (this.#found >= limit) break;
    }
    this.#keepLeast();
    return inOrder(this.#rows.slice(0, limit), this.#budget);
  }

  #findAccepted(): void {
    if (this.#accepted === undefined) return;
    const { delta, rows } = this.#accepted;
    const { count } = this.#dataset;
    inStretches(this.#budget, 0, rows.length, HASHED, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        this.#look(count + row, hashId(delta.id[row]!) >>> 16);
      }
    });
  }

  #find(matches: Matches, list: Int32Array | undefined): void {
    const { count } = matches;
    const budget = this.#budget;
    const findRows = (from: Row, to: Row): void => this.#findRows(from, to);
    if (list !== undefined) {
      inStretches(budget, 0, count, SCATTERED, (from, to) => this.#findListed(list, from, to));
    } else if (matches.form === 'runs') {
      const { runs } = matches;
      const cursor = startOfRuns(runs);
      inStretches(budget, 0, count, costInRuns(runs, NEIGHBOUR), (from, to) =>
        visitRuns(runs.bounds, cursor, to - from, findRows),
      );
    } else inStretches(budget, 0, count, NEIGHBOUR, findRows);
  }

  #findRows(from: Row, to: Row): void {
    const { thinning } = this.#dataset;
    let bound = this.#bound;
    let row = from;
    // most rows are passed by: four at a time
    for (; row + 4 <= to; row += 4) {
      const isPassed =
        thinning[row]! > bound &&
        thinning[row + 1]! > bound &&
        thinning[row + 2]! > bound &&
        thinning[row + 3]! > bound;
      if (isPassed) continue;
      for (let one = row; one < row + 4; one++) this.#look(one, thinning[one]!);
      bound = this.#bound;
    }
    for (; row < to; row++) this.#look(row, thinning[row]!);
  }

  #findListed(list: Int32Array, from: number, to: number): void {
    const { thinning } = this.#dataset;
    let bound = this.#bound;
    let i = from;
    for (; i + 4 <= to; i += 4) {
      const isPassed =
        thinning[list[i]!]! > bound &&
        thinning[list[i + 1]!]! > bound &&
        thinning[list[i + 2]!]! > bound &&
        thinning[list[i + 3]!]! > bound;
      if (isPassed) continue;
      for (let one = i; one < i + 4; one++) this.#look(list[one]!, thinning[list[one]!]!);
      bound = this.#bound;
    }
    for (; i < to; i++) this.#look(list[i]!, thinning[list[i]!]!);
  }

  /** Keeps a row where the upper half of its hash says that it may be wanted. */
  #look(row: Row, half: number): void {
    if (half > this.#bound) return;
    if (this.#found === this.#rows.length) this.#keepLeast();
    this.#halves[this.#found] = half;
    this.#rows[this.#found++] = row;
  }

  /** Drops all but the rows with the least hashes, which lowers the bound. */
  #keepLeast(): void {
    const rows = this.#rows;
    const halves = this.#halves;
    const found = this.#found;
    const histogram = new Int32Array(this.#bound + 1);
    for (let i = 0; i < found; i++) histogram[halves[i]!]!++;
    let last = 0;
    let below = 0;
    while (below + histogram[last]! < this.#limit) below += histogram[last++]!;
    // only these are told apart by the rest of their hashes
    const doubtful: Row[] = [];
    for (let i = 0; i < found; i++) if (halves[i] === last) doubtful.push(rows[i]!);
    const facts = new Facts(this.#dataset, this.#accepted);
    const ordered = inOrderOfHashes(Int32Array.from(doubtful), facts);
    const wanted = new Set(ordered.subarray(0, this.#limit - below));
    let kept = 0;
    for (let i = 0; i < found; i++) {
      const half = halves[i]!;
      if (half > last || (half === last && !wanted.has(rows[i]!))) continue;
      halves[kept] = half;
      rows[kept++] = rows[i]!;
    }
    this.#budget.charge(found * KEPT + doubtful.length * SORTED);
    this.#found = this.#limit;
    this.#bound = last;
  }
}
