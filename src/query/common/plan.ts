import { AT_ONCE } from '../../model/budget.js';

export interface Facts {
  readonly inRegion: boolean;
  /** Rows in the region; undefined where it was not searched. */
  readonly region: number | undefined;
  /** Rows in the window; undefined without one. */
  readonly createdAt: number | undefined;
  readonly modifiedAt: number | undefined;
  /** Rows of a cell of the cross table; undefined unless there are both windows and no region. */
  readonly cellRows: number | undefined;
}

/** The filter whose rows are tested against the others; `cells` counts by the cross table. */
export type Driver = 'region' | 'createdAt' | 'modifiedAt' | 'cells';

/**
 * How a page is taken from matches that are counted. `walk` goes along the wanted order and tests
 * rows until the page is full; `mark` sets a bit for each match first, and tests bits; `cells`
 * walks past whole cells of the cross table; `select` lists all matches and picks the page's.
 */
export type AccessPath = 'walk' | 'mark' | 'cells' | 'select';

type Form = 'all' | 'windows' | 'runs' | 'rows' | 'bits';

// nanoseconds a row, rounded from bench/query: only their ratios matter
export const NEIGHBOUR = 2; // the next row in memory
export const SCATTERED = 9; // a row anywhere in memory
export const REGION_TEST = 12; // coordinates against a box or a circle
export const RUN_TEST = 50; // a binary search among runs
const SORTED = 40; // a rank sorted among at most FEW
export const MARKED = 2; // a bit of a scattered row, set or tested
export const BIT_TEST = 3; // the same, tested by a call
export const OUTWARDS = 25_000; // a search outwards from a centre, until its first result
export const NEAREST = 300; // each result of a search outwards
const MOST_OUTWARDS = AT_ONCE; // a search outwards
const MEASURED = 20; // a distance sorted among at most FEW
const COMPARING = 80_000; // above FEW: finding the distances that matter, once
const COMPARED = 30; // above FEW: finding them, for each match

/** Up to this many matches a bucket sort beats the native sort, whose call takes 1 µs. */
export const FEW = 1_024;

/** The matches of a region with more rows are marked: reading 1M bits takes 20 µs. */
export const MOST_LISTED = 16_384;

/**
 * How many times the cost of `select` a `mark` may cost at worst. Matches are not spread evenly:
 * ids follow times, so all matches may lie at the far end of an order.
 */
const MOST_RISKED = 3;

/**
 * Cells whose rows are read to count two windows: the first and the last cell of one window, and
 * for the other window a cell's rows between its edges and the nearest lines.
 */
export const COUNTED_CELLS = 3;

/** Chooses the filter whose rows are tested, where there are several filters. */
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

export interface PathFacts {
  readonly length: number;
  /** The number of windows to test a row by. */
  readonly tests: number;
  /** Nanoseconds to list all matches, and to mark them. */
  readonly listing: number;
  readonly marking: number;
  /** Rows of a cell, where the matches are a window of an order other than the page's. */
  readonly cellRows: number | undefined;
  /** Whether a walk was given up already. */
  readonly hasWalked: boolean;
}

/** An access path, and the most rows that a walk may pass before it is given up. */
export interface Choice {
  readonly accessPath: AccessPath;
  readonly most: number;
}

/**
 * Chooses the access path to a page that ends at place `end` of `count` matches, from the nearer
 * end of the order; `span` rows of the order have all matches among them.
 */
export function chooseAccessPath(
  end: number,
  count: number,
  span: number,
  form: Form,
  { length, tests, listing, marking, cellRows = Infinity, hasWalked }: PathFacts,
): Choice {
  const passed = hasWalked ? span : (end * span) / count;
  const test = form === 'runs' ? RUN_TEST : form === 'bits' ? BIT_TEST : SCATTERED * tests;
  const lookup = form === 'windows' ? SCATTERED : NEIGHBOUR;
  const select = listing + count * lookup + Math.min(count * SORTED, count * MARKED + span / 32);
  const isRisky = marking + span * MARKED > select * MOST_RISKED;
  const [accessPath, cost] = cheapest<AccessPath>([
    ['mark', isRisky ? Infinity : marking + passed * MARKED],
    // reads at most a cell for each row of the page, the cell that the page begins in, and as many
    // rows as a cell has between the window's edges and the nearest lines
    ['cells', (cellRows * 2 + Math.min((length * span) / count, length * cellRows)) * SCATTERED],
    ['select', select],
  ]);
  // a list can only be tested by bits, which have to be set first
  const canWalk = form === 'runs' || form === 'windows' || form === 'bits';
  if (!canWalk || hasWalked || passed * test >= cost) return { accessPath, most: 0 };
  return { accessPath: 'walk', most: Math.min(mostPassed(passed), Math.ceil(cost / test)) };
}

/** The most rows of a walk that expects to pass `passed`: matches may not be spread evenly. */
function mostPassed(passed: number): number {
  return 1_000 + 8 * Math.ceil(passed);
}

/** Chooses the access path to a page nearest first, where `walk` searches outwards. */
export function chooseNearestPath(end: number, count: number): AccessPath {
  const select = count <= FEW ? count * MEASURED : COMPARING + count * COMPARED;
  return OUTWARDS + end * NEAREST < Math.min(select, MOST_OUTWARDS) ? 'walk' : 'select';
}
