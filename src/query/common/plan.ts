import { AT_ONCE } from '../../model/budget.js';

export interface Facts {
  readonly inRegion: boolean;
  /** Rows in the region; undefined where the region was not searched. */
  readonly region: number | undefined;
  /** Rows in the window of created_at and of modified_at; undefined without one. */
  readonly createdAt: number | undefined;
  readonly modifiedAt: number | undefined;
  /** Rows of a cell of the cross table, with both windows and no region. */
  readonly cellRows: number | undefined;
}

/** The filter whose rows are listed while others are tested; `cells` counts by the cross table. */
export type Driver = 'region' | 'createdAt' | 'modifiedAt' | 'cells';

/**
 * How a page is taken from matches that are already counted: `walk` goes along the wanted order and
 * tests rows until the page is full; `mark` does so after setting a bit for each match, by which it
 * tests; `cells` walks past whole cells of the cross table; `select` goes through all matches and
 * picks the page's share.
 */
export type AccessPath = 'walk' | 'mark' | 'cells' | 'select';

/** The form of the matches, as `Matches` has it. */
export type Form = 'all' | 'windows' | 'runs' | 'rows' | 'bits';

// nanoseconds a row, rounded from bench/query: only their ratios matter
export const NEIGHBOUR = 2; // the next row in memory
export const SCATTERED = 9; // a row anywhere in memory
export const REGION_TEST = 12; // coordinates against a box or a circle
export const RUN_TEST = 50; // a binary search among runs
const SORTED = 40; // a rank sorted, where there are at most FEW
export const MARKED = 2; // a bit of a scattered row, set or tested
export const BIT_TEST = 3; // the same, tested by a function
export const OUTWARDS = 25_000; // a search outwards from a centre, until its first result
export const NEAREST = 300; // each result of that search
const MOST_OUTWARDS = AT_ONCE; // such a search
const MEASURED = 20; // a distance sorted into its bucket, where there are at most FEW
const COMPARING = 80_000; // above FEW: finding out which distances matter, fixed cost
const COMPARED = 30; // and for each match

/** Up to `FEW` matches a bucket sort beats the native sort, whose call takes 1 µs. */
export const FEW = 1_024;

/** A region with more rows than this has its matches marked: reading 1M bits takes 20 µs. */
export const MOST_LISTED = 16_384;

/**
 * The longest walk by bits may cost `MOST_RISKED` times what the selection costs. Matches are not
 * spread evenly: ids follow times, so all of them may lie at the far end of an order.
 */
const MOST_RISKED = 3;

/**
 * Cells whose rows are read to count two windows: the first and the last cell of the one window,
 * and as many rows as a cell has between the edges of the other window and the lines next to them.
 */
export const COUNTED_CELLS = 3;

/** Chooses the rows to go through when several filters must hold at once. */
export function chooseDriver(facts: Facts): Driver {
  const test = facts.inRegion ? REGION_TEST : 0;
  const tested = (count = Infinity): number => count * (SCATTERED + test);
  const [driver] = cheapest<Driver>([
    ['region', (facts.region ?? Infinity) * NEIGHBOUR],
    ['createdAt', tested(facts.createdAt)],
    ['modifiedAt', tested(facts.modifiedAt)],
    ['cells', (facts.cellRows ?? Infinity) * COUNTED_CELLS * SCATTERED],
  ]);
  return driver;
}

function cheapest<T>(costs: readonly (readonly [T, number])[]): readonly [T, cost: number] {
  return costs.reduce((best, next) => (next[1] < best[1] ? next : best));
}

/** What else the access path to a page depends on. */
export interface PathFacts {
  readonly length: number;
  /** Windows by which a row is tested. */
  readonly tests: number;
  /** Cost of listing all matches, and of marking them. */
  readonly listing: number;
  readonly marking: number;
  /** Rows of a cell, where the matches are a window of an order that is not the page's own. */
  readonly cellRows: number | undefined;
  /** Whether a walk by tests was given up already. */
  readonly hasWalked: boolean;
}

/** An access path, and the rows that a walk by tests may pass at most before it is given up. */
export interface Choice {
  readonly accessPath: AccessPath;
  readonly most: number;
}

/**
 * Chooses the access path to a page that ends at place `end` of `count` matches, counted from the
 * nearer end of the order, when a walk along the order passes `span` rows to meet them all.
 */
export function chooseAccessPath(
  end: number,
  count: number,
  span: number,
  form: Form,
  {
    length = end,
    tests = 1,
    listing = 0,
    marking = count * MARKED,
    cellRows = Infinity,
    hasWalked = false,
  }: Partial<PathFacts> = {},
): Choice {
  const passed = hasWalked ? span : (end * span) / count;
  const test = form === 'runs' ? RUN_TEST : form === 'bits' ? BIT_TEST : SCATTERED * tests;
  const lookup = form === 'windows' ? SCATTERED : NEIGHBOUR;
  const select = listing + count * lookup + Math.min(count * SORTED, count * MARKED + span / 32);
  const isRisky = marking + span * MARKED > select * MOST_RISKED;
  const [accessPath, cost] = cheapest<AccessPath>([
    ['mark', isRisky ? Infinity : marking + passed * MARKED],
    // rows that are read: at most a cell for each row of the page, the cell that the page begins
    // in, and as many as a cell has between the window's edges and the lines next to them
    ['cells', (cellRows * 2 + Math.min((length * span) / count, length * cellRows)) * SCATTERED],
    ['select', select],
  ]);
  // a list of rows can be tested by bits only, which have to be set first
  const canWalk = form === 'runs' || form === 'windows' || form === 'bits';
  if (!canWalk || hasWalked || passed * test >= cost) return { accessPath, most: 0 };
  return { accessPath: 'walk', most: Math.min(mostPassed(passed), Math.ceil(cost / test)) };
}

/** Rows that a walk may pass before it is given up: matches may not be spread evenly. */
function mostPassed(passed: number): number {
  return 1_000 + 8 * Math.ceil(passed);
}

/** Chooses the access path to a page nearest first: a walk is a search outwards from the centre. */
export function chooseNearestPath(end: number, count: number): AccessPath {
  const select = count <= FEW ? count * MEASURED : COMPARING + count * COMPARED;
  return OUTWARDS + end * NEAREST < Math.min(select, MOST_OUTWARDS) ? 'walk' : 'select';
}
