import { type AcceptedPoint, appendToTail, createTail, type Tail } from '../../src/dataset/tail.js';
import { generatePoint } from '../../src/generate/points.js';
import { Random } from '../../src/generate/random.js';
import { renderPoint } from '../../src/model/point.js';
import type { Query } from '../../src/model/query.js';
import { isWork, type Work } from '../../src/query/common/work.js';
import type { Answer, Engine } from '../../src/query/engine.js';
import { Suspended } from '../../src/query/suspended.js';
import { matchTail } from '../../src/query/tail.js';
import { benchRandom } from '../places.js';
import { createWatch, type Took } from '../support/pieces.js';
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
    const times = Array.from({ length: AGAIN }, () => timeBoth(engine, tail, query));
    const millis = Math.min(...times.map((one) => one.millis));
    const piece = Math.min(...times.map((one) => one.piece));
    return { data: 'full tail', query: textOf(candidate, query), matches, millis, piece };
  });
  return tried.sort((a, b) => b.piece - a.piece).slice(0, SLOWEST);
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

/** The end of the look for matches and the first piece of the query are one piece. */
function timeBoth(engine: Engine, tail: Tail, query: Query): Took {
  const { took, time } = createWatch();
  const begin = beginBoth(engine, tail, query);
  let begun = time(() => begin.next());
  while (!begun.done) begun = time(() => begin.next());
  let answer = begun.value;
  while (answer instanceof Suspended) {
    const suspended: Suspended<Answer> = answer;
    answer = time(() => suspended.resume());
  }
  return took;
}

function* beginBoth(engine: Engine, tail: Tail, query: Query): Work<Answer | Suspended<Answer>> {
  const look = matchTail(tail, query.filters, 0, tail.id.length);
  const rows = isWork(look) ? yield* look : look;
  return engine.begin(query, undefined, rows.length === 0 ? undefined : { tail, rows });
}
