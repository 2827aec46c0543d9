/** Requests that ended the same way. */
export interface RequestCount {
  readonly route: string;
  readonly status: number;
  /** Name of a format, or `none`. */
  readonly representation: string;
  count: number;
}

/** How long the requests of one route took. */
export interface Latencies {
  readonly route: string;
  /**
   * Requests that took no longer than the bound of the same index and longer than the one before.
   */
  readonly buckets: Float64Array;
  seconds: number;
  count: number;
}

/** Upper bounds of the latency buckets, in seconds; what took longer is in one bucket more. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

/** Counts a request that took `seconds`. */
export type Observe = (status: number, representation: string, seconds: number) => void;

/**
 * Counts of requests, plain numbers in memory: on the hot path a metrics library's labels cost more
 * than the query. /metrics translates them.
 */
export interface RequestStats {
  readonly counts: RequestCount[];
  readonly latencies: Latencies[];
  /** Lookups of the answer cache. */
  cacheHits: number;
  cacheMisses: number;
  /** The counter of a route; routes and statuses are few, so nothing here grows with the input. */
  route(name: string): Observe;
}

/** Makes counters, all at nought. */
export function createRequestStats(): RequestStats {
  const stats: RequestStats = { counts: [], latencies: [], cacheHits: 0, cacheMisses: 0, route };
  return stats;

  function route(name: string): Observe {
    const latencies = {
      route: name,
      buckets: new Float64Array(LATENCY_BOUNDS.length + 1),
      seconds: 0,
      count: 0,
    };
    stats.latencies.push(latencies);
    const ends: RequestCount[] = [];
    return (status, representation, seconds) => {
      let end = ends.find((one) => one.status === status && one.representation === representation);
      if (end === undefined) {
        end = { route: name, status, representation, count: 0 };
        ends.push(end);
        stats.counts.push(end);
      }
      end.count++;
      latencies.count++;
      latencies.seconds += seconds;
      let bucket = 0;
      while (bucket < LATENCY_BOUNDS.length && seconds > LATENCY_BOUNDS[bucket]!) bucket++;
      latencies.buckets[bucket]!++;
    };
  }
}
