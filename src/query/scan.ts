import type { Dataset } from '../index/dataset.js';
import type { DeltaMatches } from '../index/delta.js';
import type { Row } from '../index/order.js';
import { inStretches } from '../model/budget.js';
import type { Filters } from '../model/query.js';
import { type Matches, markMatches } from './common/matches.js';
import { type Driver, NEIGHBOUR } from './common/plan.js';
import { costInRuns, startOfRuns, visitRuns } from './common/runs.js';
import type { Scratch } from './common/scratch.js';
import { findMatches } from './match.js';

/**
 * Takes matches as they are found: the rows `from` to `to - 1` all match. Those from the dataset's
 * `count` on are rows of the delta, from 0.
 */
export type Visitor = (from: Row, to: Row) => void;

/**
 * Hands the matches to a visitor, rows ascending, each once; `accepted` come last. Where whole
 * stretches match they come as one run; a run that is long comes in parts. Returns the number of
 * matches.
 */
export function scanMatches(
  dataset: Dataset,
  scratch: Scratch,
  filters: Filters,
  visit: Visitor,
  forced?: Driver,
  accepted?: DeltaMatches,
): number {
  const matches = findMatches(dataset, scratch, filters, forced);
  visitMatches(dataset, scratch, matches, visit);
  if (accepted === undefined) return matches.count;
  const { rows } = accepted;
  inStretches(scratch.budget, 0, rows.length, NEIGHBOUR, (from, to) =>
    visitAccepted(rows.subarray(from, to), dataset.count, visit),
  );
  return matches.count + rows.length;
}

/** Visits ascending rows of a delta, which follow `count` rows of a dataset. */
function visitAccepted(rows: Int32Array, count: number, visit: Visitor): void {
  let start = 0;
  for (let i = 1; i <= rows.length; i++) {
    if (i < rows.length && rows[i] === rows[i - 1]! + 1) continue;
    visit(count + rows[start]!, count + rows[i - 1]! + 1);
    start = i;
  }
}

function visitMatches(dataset: Dataset, scratch: Scratch, matches: Matches, visit: Visitor): void {
  const { budget } = scratch;
  if (matches.count === 0) return;
  if (matches.form === 'all') {
    inStretches(budget, 0, dataset.count, NEIGHBOUR, visit);
  } else if (matches.form === 'runs') {
    const { bounds } = matches.runs;
    const cursor = startOfRuns(matches.runs);
    const cost = costInRuns(matches.runs, NEIGHBOUR);
    inStretches(budget, 0, matches.count, cost, (from, to) =>
      visitRuns(bounds, cursor, to - from, visit),
    );
  } else {
    const bits = markMatches(dataset, scratch, matches);
    inStretches(budget, 0, bits.length, 32 * NEIGHBOUR, (from, to) =>
      visitMarked(bits, from, to, visit),
    );
  }
}

/** Visits the marked rows of words `from` to `to - 1`. */
function visitMarked(bits: Int32Array, from: number, to: number, visit: Visitor): void {
  let start = -1;
  for (let word = from; word < to; word++) {
    const set = bits[word]!;
    // most words are all or nothing where matches are neighbours on the map
    if (set === 0 ? start < 0 : set === -1 && start >= 0) continue;
    for (let bit = 0; bit < 32; bit++) {
      const isSet = ((set >>> bit) & 1) === 1;
      if (isSet === start >= 0) continue;
      const row = (word << 5) + bit;
      if (start >= 0) visit(start, row);
      start = isSet ? row : -1;
    }
  }
  if (start >= 0) visit(start, to << 5);
}
