import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { Durations } from '../durations.js';

type Labels = Readonly<Record<string, string | number>>;

/** A value, or one for each set of labels. */
type Read = () => number | Iterable<readonly [Labels, number]>;

/**
 * What registers metrics whose values are plain numbers elsewhere, read whenever they are asked
 * for.
 */
export interface ReadMetrics {
  gauge(name: string, help: string, read: Read, ...labelNames: string[]): void;
  counter(name: string, help: string, read: Read, ...labelNames: string[]): void;
  /** Counts by outcome. */
  outcomes(name: string, help: string, read: () => Readonly<Record<string, number>>): void;
  histogram(
    name: string,
    help: string,
    read: () => Iterable<readonly [Labels, Durations]>,
    ...labelNames: string[]
  ): void;
}

export function readMetrics(registry: Registry): ReadMetrics {
  const add =
    (Kind: typeof Gauge | typeof Counter): ReadMetrics['gauge'] =>
    (name, help, read, ...labelNames) => {
      const registers = [registry];
      new Kind({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          const values = read();
          if (typeof values === 'number') this.inc(values);
          else for (const [labels, value] of values) this.inc(labels, value);
        },
      });
    };
  const counter = add(Counter);
  return {
    gauge: add(Gauge),
    counter,
    outcomes(name, help, read) {
      const byOutcome = (): [Labels, number][] =>
        Object.entries(read()).map(([outcome, count]) => [{ outcome }, count]);
      counter(name, help, byOutcome, 'outcome');
    },
    // the library's own can only be observed into
    histogram(name, help, read, ...labelNames) {
      const about = { name, help, type: 'histogram', aggregator: 'sum' };
      const metric = {
        ...about,
        labelNames: [...labelNames, 'le'],
        reset() {},
        get: async () => ({ ...about, values: [...read()].flatMap((one) => bucketsOf(name, one)) }),
      };
      registry.registerMetric(metric as unknown as Metric);
    },
  };
}

function bucketsOf(
  name: string,
  [labels, { bounds, buckets, seconds }]: readonly [Labels, Durations],
): object[] {
  let count = 0;
  const steps = [...bounds, '+Inf'].map((le, index) => {
    count += buckets[index]!;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...steps,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
