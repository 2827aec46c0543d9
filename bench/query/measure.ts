import type { Filters } from '../../src/model/query.js';
import { type Spread, spreadOf } from '../support/stats.js';

/** A contender of a comparison: does the work of one query. */
export interface Contender {
  readonly name: string;
  run(filters: Filters): unknown;
}

/** Longest turn of a contender: a slow one gets fewer of the queries, which are all alike. */
const MOST_MS = 400;

/**
 * Microseconds a query of each contender, in rounds that take turns. A round repeats all the
 * queries until it has lasted `leastMs`, and the first round, in which code is compiled, does not
 * count.
 */
export function measure(
  contenders: readonly Contender[],
  filters: readonly Filters[],
  rounds: number,
  leastMs: number,
): Map<string, Spread> {
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const shares = new Map<string, readonly Filters[]>();
  for (const contender of contenders) {
    const micros = timeQueries(contender, filters.slice(0, 1), leastMs);
    const share = Math.max(1, Math.floor((MOST_MS * 1000) / micros));
    shares.set(contender.name, filters.slice(0, share));
  }
  for (let round = -1; round < rounds; round++) {
    for (const contender of contenders) {
      const micros = timeQueries(contender, shares.get(contender.name)!, leastMs);
      if (round >= 0) times.get(contender.name)!.push(micros);
    }
  }
  return new Map([...times].map(([name, values]) => [name, spreadOf(values)]));
}

/** The last result, kept so that the compiler cannot leave the work out. */
const sink: { last: unknown } = { last: undefined };

function timeQueries({ run }: Contender, filters: readonly Filters[], leastMs: number): number {
  const started = performance.now();
  let queries = 0;
  let elapsed = 0;
  do {
    for (const one of filters) sink.last = run(one);
    queries += filters.length;
    elapsed = performance.now() - started;
  } while (elapsed < leastMs);
  return (elapsed * 1000) / queries;
}
