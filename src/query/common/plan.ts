import { FEW } from './scratch.js';

/** What is known of a query with several filters before any row is tested. */
export interface Facts {
  /** Rows in the dataset. */
  readonly total: number;
  readonly inRegion: boolean;
  /** Rows in the region, where they have been looked for. */
  readonly region: number | undefined;
  /** Cost of marking them, after which a bit tells whether a row lies in the region. */
  readonly marking?: number | undefined;
  /** Rows in the window of created_at and of modified_at; undefined without one. */
  readonly createdAt: number | undefined;
  readonly modifiedAt: number | undefined;
  /**
   * Rows of a cell of the cross table, where it can count the matches: both windows, and no region.
   */
  readonly cellRows: number | undefined;
}

/**
 * The rows that are gone through, every other filter being tested on each; or the cells of the
 * cross table, by which two windows are counted.
 */
export type Driver = 'all' | 'region' | 'createdAt' | 'modifiedAt' | 'cells';

/**
 * How a page is taken from matches that are already counted: `walk` goes along the wanted order and
 * tests rows until the page is full; `mark` does so after setting a bit for each match, by which it
 * tests; `cells` walks past whole cells of the cross table; `select` goes through all matches and
 * picks the page's share.
 */
export type Way = 'walk' | 'mark' | 'cells' | 'select';

/** How the matches are known, as `Matches` says. */
export type Form = 'all' | 'windows' | 'runs' | 'rows' | 'bits';

// nanoseconds a row, rounded from bench/query: only their ratios matter
export const NEIGHBOUR = 2; // the next row in memory
export const SCATTERED = 9; // a row anywhere in memory
export const REGION_TEST = 12; // coordinates against a box or a circle
export const RUN_TEST = 50; // a row looked up among runs
const SORTED = 40; // one of few ranks, sorted
export const MARKED = 2; // a bit set or tested, anywhere among those of all rows
const OUTWARDS = 25_000; // a search outwards from a centre, before its first result
const NEAREST = 300; // one result of it
const MEASURED = 20; // one of few distances, sorted into its bucket
const COMPARING = 80_000; // telling which of many need measuring, before the first
const COMPARED = 5; // one of them
const COUNTED = 600_000; // the same for so many that most are counted by block, before the first
const COUNTED_EACH = 0.4; // one of them

/**
 * Few matches may all lie at the far end of an order, as ids follow times: the longest walk by bits
 * may cost this many times what the selection costs.
 */
const MOST_RISKED = 3;

/**
 * Cells whose rows are looked at to count two windows: the two at the ends of the one, and as much
 * as one between the edges of the other and the lines next to them.
 */
export const COUNTED_CELLS = 3;

/** Chooses the rows to go through when several filters must hold at once. */
export function chooseDriver(facts: Facts): Driver {
  const test = facts.inRegion ? REGION_TEST : 0;
  const { marking = Infinity } = facts;
  const tested = (count = Infinity): number =>
    Math.min(count * (SCATTERED + test), count * (SCATTERED + MARKED) + marking);
  const [driver] = cheapest<Driver>([
    ['all', facts.total * (NEIGHBOUR + test)],
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

/** What else the way to a page depends on. */
export interface WayFacts {
  /** Rows of the page. */
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

/** A way, and the rows that a walk by tests may pass before it is given up. */
export interface Choice {
  readonly way: Way;
  readonly budget: number;
}

/**
 * Chooses the way to a page that ends at place `end` of `count` matches, counted from the nearer
 * end of the order, when a walk along the order passes `span` rows to meet them all.
 */
export function chooseWay(
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
  }: Partial<WayFacts> = {},
): Choice {
  const passed = hasWalked ? span : (end * span) / count;
  const test = form === 'runs' ? RUN_TEST : SCATTERED * tests;
  const lookup = form === 'windows' ? SCATTERED : NEIGHBOUR;
  const select = listing + count * lookup + Math.min(count * SORTED, count * MARKED + span / 32);
  const isRisky = marking + span * MARKED > select * MOST_RISKED;
  const [way, cost] = cheapest<Way>([
    ['mark', isRisky ? Infinity : marking + passed * MARKED],
    // beside the page's rows, no more than a cell each, those of the cell that they begin in, and
    // what lies between two edges and the lines next to them
    ['cells', (cellRows * 2 + Math.min((length * span) / count, length * cellRows)) * SCATTERED],
    ['select', select],
  ]);
  // rows that several filters left can be told by nothing but bits
  const canWalk = form === 'runs' || form === 'windows';
  if (!canWalk || hasWalked || passed * test >= cost) return { way, budget: 0 };
  return { way: 'walk', budget: Math.min(walkBudget(passed), Math.ceil(cost / test)) };
}

/**
 * Rows that a walk may pass when it is expected to pass so many: the choice takes for granted that
 * matches are spread evenly over the order.
 */
function walkBudget(passed: number): number {
  return 1_000 + 8 * Math.ceil(passed);
}

/** The same for nearest first, where the walk is a search outwards from the centre. */
export function chooseNearestWay(end: number, count: number): Way {
  const measure = count <= FEW ? count * MEASURED : COMPARING + count * COMPARED;
  const select = Math.min(measure, COUNTED + count * COUNTED_EACH);
  return OUTWARDS + end * NEAREST < select ? 'walk' : 'select';
}
