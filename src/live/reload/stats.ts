/** What came of looking at a file. */
export type Outcome = 'loaded' | 'unchanged' | 'failed' | 'held_back' | 'abandoned';

/** How many seconds a build may take, in steps; 10 million points take some 20. */
export const BUILD_BOUNDS: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120];

/** What the reloader counts, in plain numbers: the library that writes them out is loaded later. */
export interface ReloadStats {
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /**
   * Builds by the first of {@link BUILD_BOUNDS} that they kept to; the last bucket has the longer
   * ones.
   */
  readonly buckets: readonly number[];
  /** Of all builds that were served. */
  readonly seconds: number;
  /** Counts a look at a snapshot file. */
  count(outcome: Outcome, seconds: number): void;
}

/** Counts nothing yet. */
export function createReloadStats(): ReloadStats {
  const outcomes = { loaded: 0, unchanged: 0, failed: 0, held_back: 0, abandoned: 0 };
  const buckets = Array<number>(BUILD_BOUNDS.length + 1).fill(0);
  let sum = 0;
  return {
    outcomes,
    buckets,
    get seconds() {
      return sum;
    },
    count(outcome, seconds) {
      outcomes[outcome]++;
      if (outcome !== 'loaded') return;
      const bucket = BUILD_BOUNDS.findIndex((bound) => seconds <= bound);
      buckets[bucket === -1 ? BUILD_BOUNDS.length : bucket]!++;
      sum += seconds;
    },
  };
}
