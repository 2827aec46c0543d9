import type { Metric } from 'prom-client';

/** What was counted of one set of labels. */
interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  /** One a bound, and one more for what was beyond the last. */
  readonly buckets: ArrayLike<number>;
  readonly seconds: number;
}

/**
 * Makes a histogram whose buckets are counted elsewhere; the library's own can only be observed
 * into.
 */
export function countedHistogram(
  name: string,
  help: string,
  { labelNames, bounds }: { labelNames: readonly string[]; bounds: readonly number[] },
  read: () => readonly Counted[],
): Metric {
  const about = { name, help, type: 'histogram', aggregator: 'sum' };
  const histogram = {
    ...about,
    labelNames: [...labelNames, 'le'],
    reset() {},
    async get() {
      const values = read().flatMap(({ labels, buckets, seconds }) => {
        let sum = 0;
        const steps = [...bounds, '+Inf'].map((le, index) => {
          sum += buckets[index]!;
          return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: sum };
        });
        return [
          ...steps,
          { metricName: `${name}_sum`, labels, value: seconds },
          { metricName: `${name}_count`, labels, value: sum },
        ];
      });
      return { ...about, values };
    },
  };
  return histogram as unknown as Metric;
}
