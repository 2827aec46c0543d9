import { createHistogram } from 'node:perf_hooks';

/** Latencies of the requests of one run, in milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly mean: number;
  readonly max: number;
  /** By percentile: `{"50": 1.2, …}`. */
  readonly percentiles: Readonly<Record<string, number>>;
}

export const PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const;

/** The highest latency that is told apart, in microseconds: a minute. */
const HIGHEST = 60_000_000;

/** Latencies of single requests with a relative error of at most 0.1 %, whatever their number. */
export class LatencyHistogram {
  readonly #micros = createHistogram({ lowest: 1, highest: HIGHEST, figures: 3 });

  /** Adds the latency of a request; above a minute it counts as a minute. */
  record(milliseconds: number): void {
    this.#micros.record(Math.min(HIGHEST, Math.max(1, Math.round(milliseconds * 1000))));
  }

  get count(): number {
    return this.#micros.count;
  }

  /** Milliseconds that `percentile` of the requests did not exceed; 0 for none. */
  percentile(percentile: number): number {
    return this.#micros.percentile(percentile) / 1000;
  }

  summary(): Latencies {
    const { count, mean, max } = this.#micros;
    return {
      count,
      mean: count === 0 ? 0 : mean / 1000,
      max: max / 1000,
      percentiles: Object.fromEntries(PERCENTILES.map((p) => [String(p), this.percentile(p)])),
    };
  }
}

/** The 99th percentile of a round's latencies, in milliseconds. */
export function p99({ latencies }: { readonly latencies: Latencies }): number {
  return latencies.percentiles['99']!;
}
