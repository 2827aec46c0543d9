import { build, type Histogram } from 'hdr-histogram-js';

/** Latencies of the requests of one run, in milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly mean: number;
  readonly max: number;
  /** By percentile: `{"50": 1.2, …}`. */
  readonly percentiles: Readonly<Record<string, number>>;
}

export const PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const;

const MINUTE_IN_MICROSECONDS = 60_000_000;

/** Latencies of single requests with a relative error of at most 0.1 %, whatever their number. */
export class LatencyHistogram {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MINUTE_IN_MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  });

  /** Adds the latency of a request; above a minute it counts as a minute. */
  record(milliseconds: number): void {
    this.#histogram.recordValue(toMicroseconds(milliseconds));
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  /** Milliseconds that `percentile` of the requests did not exceed; 0 for none. */
  percentile(percentile: number): number {
    return this.count === 0 ? 0 : this.#histogram.getValueAtPercentile(percentile) / 1000;
  }

  summary(): Latencies {
    return {
      count: this.count,
      mean: this.count === 0 ? 0 : this.#histogram.mean / 1000,
      max: this.count === 0 ? 0 : this.#histogram.maxValue / 1000,
      percentiles: Object.fromEntries(PERCENTILES.map((p) => [String(p), this.percentile(p)])),
    };
  }
}

function toMicroseconds(milliseconds: number): number {
  return Math.min(MINUTE_IN_MICROSECONDS, Math.max(1, Math.round(milliseconds * 1000)));
}

/** The 99th percentile of a round's latencies, in milliseconds. */
export function p99({ latencies }: { readonly latencies: Latencies }): number {
  return latencies.percentiles['99']!;
}
