/** Upper bounds of the buckets of builds, in seconds; 10 million points take some 20. */
const BUILD_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120];

/** A histogram in plain numbers: one of prom-client takes 2 µs, a tenth of a kept answer. */
export class Durations {
  /** Upper bounds of the buckets, in seconds. */
  readonly bounds: readonly number[];
  /** Durations by the first bound that they keep to; the last bucket has those beyond all. */
  readonly buckets: Float64Array;
  /** The sum. */
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

/** What the reloader counts, in plain numbers: the library that writes them out is loaded later. */
export class ReloadStats {
  readonly outcomes = { loaded: 0, unchanged: 0, failed: 0, held_back: 0, abandoned: 0 };
  /** Of the outcome `loaded`. */
  readonly builds: Durations = new Durations(BUILD_BOUNDS);

  count(outcome: keyof ReloadStats['outcomes'], seconds: number): void {
    this.outcomes[outcome]++;
    if (outcome === 'loaded') this.builds.observe(seconds);
  }
}
