import type { Random } from '../../src/generate/random.js';
import type { Circle, Query } from '../../src/model/query.js';
import { createEngine, type Engine } from '../../src/query/engine.js';
import { benchRandom } from '../places.js';
import { leastOf, timePieces } from '../support/pieces.js';
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
  /** The least time of several runs, from the first to the last piece. */
  readonly millis: number;
  /** The longest piece of work, the least of several runs. */
  readonly piece: number;
}

/** How hard a search tries. */
export interface Effort {
  readonly queries: number;
  readonly seed: number;
  /** Whether the queries have polygons; else none has. */
  readonly hasPolygons?: boolean;
}

/** A candidate and what it cost. */
interface Tried {
  readonly candidate: Candidate;
  readonly query: Query;
  readonly matches: number;
  readonly millis: number;
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
export const SLOWEST = 10;

/**
 * One query of so many has a polygon: the slowest ones, whose edges lie across all points, take a
 * hundred times as long as any other query, in pieces, and would leave no room for others.
 */
const POLYGONS = 40;

/** The slowest queries without a polygon, and those with one. */
export interface Slowest {
  readonly slowest: readonly Slow[];
  readonly polygons: readonly Slow[];
}

/**
 * Searches the generated points with half of the queries, and hostile data sets of the same size
 * with the rest.
 */
export async function searchEverything(generated: Engine, effort: Effort): Promise<Slowest> {
  const half = Math.ceil(effort.queries / 2);
  let slowest = searchSlowest('generated', generated, [], { ...effort, queries: half });
  const few = { ...effort, queries: Math.ceil(effort.queries / POLYGONS), hasPolygons: true };
  const polygons = searchSlowest('generated', generated, [], few);
  say(`polygons: the slowest takes ${polygons[0]!.millis.toFixed(1)} ms`);
  const queries = Math.ceil(half / HOSTILE_DATA.length);
  for (const { name, circles, times, make } of HOSTILE_DATA) {
    const engine = createEngine(await hostileDataset(make(generated.dataset.count), times));
    slowest.push(...searchSlowest(name, engine, circles, { ...effort, queries }));
    slowest = slowest.sort((a, b) => b.millis - a.millis).slice(0, SLOWEST);
    say(`${name}: the slowest so far takes ${slowest[0]!.millis.toFixed(1)} ms`);
  }
  return { slowest, polygons };
}

/**
 * Looks for the slowest queries of an engine: random ones, and changed versions of the slowest so
 * far. `circles` are tried as they are, too.
 */
export function searchSlowest(
  data: string,
  engine: Engine,
  circles: readonly Circle[],
  { queries, seed, hasPolygons = false }: Effort,
): Slow[] {
  const searched = { dataset: engine.dataset, circles, hasPolygons };
  const random = benchRandom(seed, 400);
  let slowest: Tried[] = [];
  for (let i = 0; i < queries; i++) {
    const tried = measure(engine, next(searched, slowest, random), slowest.at(-1)?.millis);
    if (tried === undefined) continue;
    slowest.push(tried);
    slowest = slowest.sort((a, b) => b.millis - a.millis).slice(0, PARENTS);
  }
  return distinct(slowest)
    .map(({ query, candidate, matches }) => ({
      data,
      query: textOf(candidate, query),
      matches,
      ...leastOf(() => engine.begin(query), FINAL),
    }))
    .sort((a, b) => b.millis - a.millis)
    .slice(0, SLOWEST);
}

function next(searched: Searched, slowest: readonly Tried[], random: Random): Candidate {
  if (slowest.length < PARENTS || !random.chance(CHANGED)) {
    return randomCandidate(searched, random);
  }
  return mutate(searched, random.pick(slowest).candidate, random);
}

/** Measures a candidate; undefined when it is quicker than `beat`. */
function measure(engine: Engine, candidate: Candidate, beat = 0): Tried | undefined {
  const { filters, ordering, pageSize, depth } = candidate;
  const first = { filters, ordering, page: 1, pageSize };
  const { count: matches, pageCount } = engine.run(first)!;
  const query = { ...first, page: 1 + Math.round((pageCount - 1) * depth) };
  if (timePieces(() => engine.begin(query)).millis <= beat) return undefined;
  const { millis } = leastOf(() => engine.begin(query), AGAIN);
  return millis > beat ? { candidate, query, matches, millis } : undefined;
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
