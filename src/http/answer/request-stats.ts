import { Durations } from '../../reload/stats.js';

export interface RequestCount {
  readonly route: string;
  readonly status: number;
  /** Name of a format, or `none`. */
  readonly representation: string;
  count: number;
}

/** Upper bounds of the latency buckets, in seconds. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

export type Observe = (status: number, representation: string, seconds: number) => void;

/**
 * Counts of requests, plain numbers in memory: on the hot path a metrics library's labels cost more
 * than the query. /metrics translates them.
 */
export class RequestStats {
  readonly counts: RequestCount[] = [];
  readonly latencies: Map<string, Durations> = new Map();
  cacheHits = 0;
  cacheMisses = 0;
  questions = 0;
  /** Open streams of accepted points, and the points that went to any. */
  streams = 0;
  streamed = 0;
  readonly #endsOfRoutes: RequestCount[][] = [];

  /** Counts from nought again. */
  reset(): void {
    for (const ends of [this.counts, ...this.#endsOfRoutes]) ends.length = 0;
    for (const durations of this.latencies.values()) durations.reset();
    this.cacheHits = 0;
    this.cacheMisses = 0;
  }

  /** The counter of a route; routes and statuses are few, so nothing here grows with the input. */
  route(name: string): Observe {
    const durations = this.latencies.get(name) ?? new Durations(LATENCY_BOUNDS);
    this.latencies.set(name, durations);
    const ends: RequestCount[] = [];
    this.#endsOfRoutes.push(ends);
    return (status, representation, seconds) => {
      let end = ends.find((one) => one.status === status && one.representation === representation);
      if (end === undefined) {
        end = { route: name, status, representation, count: 0 };
        ends.push(end);
        this.counts.push(end);
      }
      end.count++;
      durations.observe(seconds);
    };
  }
}
