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

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > this.bounds[bucket]!) bucket++;
    this.buckets[bucket]!++;
    this.seconds += seconds;
  }
}
