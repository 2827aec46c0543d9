/** What came of looking at a file. */
export type Outcome = 'loaded' | 'unchanged' | 'failed' | 'held_back' | 'abandoned';

/** Upper bounds of the buckets of builds, in seconds; 10 million points take some 20. */
const BUILD_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120];

/** What the reloader counts, in plain numbers: the library that writes them out is loaded later. */
export interface ReloadStats {
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Of those that were served. */
  readonly builds: Durations;
  /** Counts a look at a snapshot file. */
  count(outcome: Outcome, seconds: number): void;
}

/** Counts nothing yet. */
export function createReloadStats(): ReloadStats {
  const outcomes = { loaded: 0, unchanged: 0, failed: 0, held_back: 0, abandoned: 0 };
  const builds = new Durations(BUILD_BOUNDS);
  return {
    outcomes,
    builds,
    count(outcome, seconds) {
      outcomes[outcome]++;
      if (outcome === 'loaded') builds.observe(seconds);
    },
  };
}

/**
 * How long things took, in plain numbers: what the library of metrics takes for one that is counted
 * by labels, 2 µs, is a tenth of a kept answer.
 */
export class Durations {
  /** Upper bounds of the buckets, in seconds. */
  readonly bounds: readonly number[];
  /** How many by the first bound that they kept to; the last bucket has those beyond all. */
  readonly buckets: Float64Array;
  /** Of all. */
  seconds = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.buckets = new Float64Array(bounds.length + 1);
  }

  reset(): void {
    this.buckets.fill(0);
    this.seconds = 0;
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > this.bounds[bucket]!) bucket++;
    this.buckets[bucket]!++;
    this.seconds += seconds;
  }
}
