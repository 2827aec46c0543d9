import type { Sample } from '../generators/open.js';
import { LatencyHistogram } from '../support/histogram.js';

/** From when to when a reload ran, in milliseconds since the measured part began. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Latencies of the requests that were due in one stretch of time. */
export interface Tick {
  /** Milliseconds since the measured part began. */
  readonly at: number;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Length of a stretch, in milliseconds. */
export const TICK_MS = 250;

/** Latencies over time, for the chart. */
export function makeTimeline(samples: readonly Sample[]): Tick[] {
  const histograms = new Map<number, LatencyHistogram>();
  for (const { due, milliseconds } of samples) {
    const tick = Math.floor(due / TICK_MS);
    let histogram = histograms.get(tick);
    if (histogram === undefined) {
      histogram = new LatencyHistogram();
      histograms.set(tick, histogram);
    }
    histogram.record(milliseconds);
  }
  return [...histograms]
    .sort(([a], [b]) => a - b)
    .map(([tick, histogram]) => ({
      at: tick * TICK_MS,
      count: histogram.count,
      p50: histogram.percentile(50),
      p99: histogram.percentile(99),
      max: histogram.percentile(100),
    }));
}
