import type { Budget } from '../../src/budget.js';
import { type AcceptedPoint, appendToTail, createTail, type Tail } from '../../src/dataset/tail.js';
import { generatePoint } from '../../src/generate/points.js';
import { Random } from '../../src/generate/random.js';
import { renderPoint } from '../../src/model/point.js';
import type { Query } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { matchTail } from '../../src/query/tail.js';
import { benchRandom } from '../places.js';
import { timeWork } from '../support/held.js';
import { randomCandidate, textOf } from './candidates.js';
import { type Effort, SLOWEST, type Slow } from './search.js';

/** Rows that a tail takes at most, as `live/tails` makes it. */
export const FULL_TAIL = 16_384;
/** One hiccup of the machine must not make a finding. */
const AGAIN = 5;

/**
 * The random queries that hold the thread longest beside a tail with `rows` generated points: the
 * look for its matches, then the page that they are merged into.
 */
export function searchFullTail(
  engine: Engine,
  rows: number,
  { queries, seed, hasPolygons = false }: Effort,
): Slow[] {
  const { dataset } = engine;
  const tail = fullTail(dataset.byId.keys.at(-1)!, rows, seed);
  const random = benchRandom(seed, 401);
  const tried = Array.from({ length: queries }, (): Slow => {
    const candidate = randomCandidate({ dataset, circles: [], hasPolygons }, random);
    const { filters, ordering, pageSize, depth } = candidate;
    const first = { filters, ordering, page: 1, pageSize };
    const { pageCount, count: matches } = engine.run(first)!;
    const query = { ...first, page: 1 + Math.round((pageCount - 1) * depth) };
    const times = Array.from({ length: AGAIN }, () =>
      timeWork((budget) => runBoth(engine, tail, query, budget)),
    );
    const millis = Math.min(...times.map((one) => one.millis));
    const held = Math.min(...times.map((one) => one.held));
    return { data: 'full tail', query: textOf(candidate, query), matches, millis, held };
  });
  return tried.sort((a, b) => b.held - a.held).slice(0, SLOWEST);
}

/** A tail of generated points whose ids are above `id`, and which has room for no more. */
export function fullTail(id: number, rows: number, seed: number): Tail {
  const random = new Random(seed, 'point');
  const points = Array.from({ length: rows }, (_, i): AcceptedPoint => {
    random.restart(2 ** 30 + i);
    const point = generatePoint(random, id + 1 + i);
    return { sequence: 1 + i, point, record: Buffer.from(renderPoint(point)) };
  });
  const bytes = points.reduce((sum, { record }) => sum + record.length, 0);
  const tail = createTail({ rows, bytes });
  appendToTail(tail, points);
  return tail;
}

function runBoth(engine: Engine, tail: Tail, { filters, ...page }: Query, budget: Budget): void {
  const rows = matchTail(tail, filters, 0, tail.id.length, budget);
  const accepted = rows.length === 0 ? undefined : { tail, rows };
  engine.run({ filters, ...page }, undefined, accepted, budget);
}
