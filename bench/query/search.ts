import type { Random } from '../../src/generate/random.js';
import type { Circle, Query } from '../../src/model/query.js';
import { createEngine, type Engine } from '../../src/query/engine.js';
import { benchRandom } from '../places.js';
import { leastOf, type Took, timeWork, type Work } from '../support/held.js';
import { say } from '../support/run.js';
import { type Candidate, mutate, randomCandidate, type Searched, textOf } from './candidates.js';
import { HOSTILE_DATA, hostileDataset } from './hostile-data.js';

/** One of the slowest queries that were found. */
export interface Slow {
  /** The data set that it was asked of. */
  readonly data: string;
  /** As parameters of the interface. */
  readonly query: string;
  readonly matches: number;
  /** The least time of several runs, from beginning to end. */
  readonly millis: number;
  /** How long a thread was held, the least of several runs. */
  readonly held: number;
}

/** How hard a search tries. */
export interface Effort {
  readonly queries: number;
  readonly seed: number;
  /** Whether the queries have polygons; else none has. */
  readonly hasPolygons?: boolean;
}

/** A candidate and what it cost. */
interface Tried extends Took {
  readonly candidate: Candidate;
  readonly query: Query;
  readonly matches: number;
}

/** Candidates that are changed in the hope of a slower one. */
const PARENTS = 30;
/** Share of the queries that are changed ones. */
const CHANGED = 0.5;
/**
 * Times that a slow candidate is measured again: one hiccup of the machine must not make a finding.
 */
const AGAIN = 3;
const FINAL = 7;
/** Milliseconds for which a finding is measured at least: code that is new to V8 takes longer. */
const FINAL_MS = 200;
export const SLOWEST = 10;

/**
 * One query of so many has a polygon: the slowest ones, whose edges lie across all points, take a
 * hundred times as long as any other query, and would leave no room for others.
 */
const POLYGONS = 40;

/** What a search of everything finds: the worst without a polygon, and the slowest with one. */
export interface Found {
  readonly slowest: readonly Slow[];
  /** Those that hold a thread longest. */
  readonly longestHeld: readonly Slow[];
  readonly polygons: readonly Slow[];
}

/**
 * Searches the generated points with half of the queries, and hostile data sets of the same size
 * with the rest.
 */
export async function searchEverything(generated: Engine, effort: Effort): Promise<Found> {
  const half = Math.ceil(effort.queries / 2);
  const found = searchSlowest('generated', generated, [], { ...effort, queries: half });
  const few = { ...effort, queries: Math.ceil(effort.queries / POLYGONS), hasPolygons: true };
  const polygons = most(searchSlowest('generated', generated, [], few), 'millis', SLOWEST);
  say(`polygons: the slowest takes ${polygons[0]!.millis.toFixed(1)} ms`);
  const queries = Math.ceil(half / HOSTILE_DATA.length);
  for (const { name, circles, times, make } of HOSTILE_DATA) {
    const engine = createEngine(await hostileDataset(make(generated.dataset.count), times));
    const here = searchSlowest(name, engine, circles, { ...effort, queries });
    found.push(...here);
    const millis = Math.max(...here.map((one) => one.millis));
    const held = Math.max(...here.map((one) => one.held));
    say(`${name}: at most ${millis.toFixed(1)} ms, held ${held.toFixed(1)} ms`);
  }
  return {
    slowest: most(found, 'millis', SLOWEST),
    longestHeld: most(found, 'held', SLOWEST),
    polygons,
  };
}

/**
 * Looks for the slowest queries of an engine and for those that hold a thread longest: random ones,
 * and changed versions of the worst so far. `circles` are tried as they are, too. Returns the worst
 * of each family by either measure, in no order.
 */
function searchSlowest(
  data: string,
  engine: Engine,
  circles: readonly Circle[],
  { queries, seed, hasPolygons = false }: Effort,
): Slow[] {
  const searched = { dataset: engine.dataset, circles, hasPolygons };
  const random = benchRandom(seed, 400);
  let slowest: Tried[] = [];
  let longest: Tried[] = [];
  for (let i = 0; i < queries; i++) {
    const parents = i % 2 === 0 ? slowest : longest;
    const beat = {
      millis: slowest[PARENTS - 1]?.millis ?? 0,
      held: longest[PARENTS - 1]?.held ?? 0,
    };
    const tried = measure(engine, next(searched, parents, random), beat);
    if (tried === undefined) continue;
    slowest = most([...slowest, tried], 'millis', PARENTS);
    longest = most([...longest, tried], 'held', PARENTS);
  }
  const finalists = new Set([...distinct(slowest), ...distinct(longest)]);
  return Array.from(finalists, ({ query, candidate, matches, millis }) => ({
    data,
    query: textOf(candidate, query),
    matches,
    ...leastOf(
      (budget) => engine.run(query, undefined, undefined, budget),
      Math.max(FINAL, Math.ceil(FINAL_MS / millis)),
    ),
  }));
}

/** The `count` that took most. */
function most<T extends Took>(all: readonly T[], by: keyof Took, count: number): T[] {
  return [...all].sort((a, b) => b[by] - a[by]).slice(0, count);
}

function next(searched: Searched, parents: readonly Tried[], random: Random): Candidate {
  if (parents.length < PARENTS || !random.chance(CHANGED)) {
    return randomCandidate(searched, random);
  }
  return mutate(searched, random.pick(parents).candidate, random);
}

/** Measures a candidate; undefined when it neither takes more than `beat` nor holds a thread longer. */
function measure(engine: Engine, candidate: Candidate, beat: Took): Tried | undefined {
  const { filters, ordering, pageSize, depth } = candidate;
  const first = { filters, ordering, page: 1, pageSize };
  const { count: matches, pageCount } = engine.run(first)!;
  const query = { ...first, page: 1 + Math.round((pageCount - 1) * depth) };
  const work: Work = (budget) => engine.run(query, undefined, undefined, budget);
  const isWorse = ({ millis, held }: Took) => millis > beat.millis || held > beat.held;
  const once = timeWork(work);
  if (!isWorse(once)) return undefined;
  const least = leastOf(work, AGAIN, once);
  return isWorse(least) ? { candidate, query, matches, ...least } : undefined;
}

/** Keeps one query of each family: versions of one query differ by little. */
function distinct(slowest: readonly Tried[]): Tried[] {
  const families = new Map<string, Tried>();
  for (const tried of slowest) {
    const { filters, ordering, pageSize } = tried.candidate;
    const family = [
      ...Object.keys(filters).sort(),
      ordering,
      pageSize,
      Math.log2(tried.matches + 1) >> 1,
    ].join();
    if (!families.has(family)) families.set(family, tried);
  }
  return [...families.values()];
}
