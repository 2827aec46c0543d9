import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  Registry,
} from 'prom-client';
import type { Current } from '../live/current.js';
import { BUILD_BOUNDS, type ReloadStats } from '../live/reload/stats.js';
import type { Backlog } from './backlog.js';
import { LATENCY_BOUNDS, type RequestStats } from './request-stats.js';

/** The metrics of one thread, as they travel. */
export type MetricsJson = readonly object[];

/** All metrics of the service; docs/operations.md lists every one. */
export interface ServiceMetrics {
  /** The numbers of the process. */
  readonly registry: Registry;
  /** Reads the numbers of threads, too, whenever the text is asked for. */
  add(read: () => Promise<readonly MetricsJson[]>): void;
  /** In Prometheus's text format: the numbers of the process, and those of its threads added up. */
  text(): Promise<string>;
}

/** How often the lag of the event loop is looked at. */
const LAG_STEP_MS = 10;

/** Registers what the threads have in common; `current` and `stats` are read whenever the text is asked for. */
export function createServiceMetrics(
  current: Current,
  stats: ReloadStats,
  threads: { readonly behind: number },
): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  const readers: (() => Promise<readonly MetricsJson[]>)[] = [];
  collectDefaultMetrics({ register: registry });

  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('waypost_points', 'Points that are served.', () => current.generation.count);
  gauge(
    'waypost_snapshot_timestamp_seconds',
    'When the export that is served was made.',
    () => current.generation.exportedAt / 1000,
  );
  gauge(
    'waypost_snapshot_age_seconds',
    'Time since the export that is served was made.',
    () => (Date.now() - current.generation.exportedAt) / 1000,
  );
  gauge(
    'waypost_snapshot_loaded_timestamp_seconds',
    'When the snapshot that is served was loaded.',
    () => current.generation.loadedAt / 1000,
  );
  gauge('waypost_stale', '1 while the newest snapshot is not the one served.', () =>
    current.stale === undefined ? 0 : 1,
  );
  gauge(
    'waypost_threads_behind',
    'Threads that have not taken over the newest snapshot yet.',
    () => threads.behind,
  );

  new Counter({
    name: 'waypost_reloads_total',
    help: 'Looks at a snapshot file by what came of them.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(stats.outcomes)) this.inc({ outcome }, count);
    },
  });
  const builds = countedHistogram(
    'waypost_build_seconds',
    'Time from opening a snapshot file to serving it.',
    { labelNames: [], bounds: BUILD_BOUNDS },
    () => [{ labels: {}, buckets: stats.buckets, seconds: stats.seconds }],
  );
  registry.registerMetric(builds);
  return {
    registry,
    add: (read) => void readers.push(read),
    async text() {
      const threads = await Promise.all(readers.map((read) => read()));
      return `${await registry.metrics()}${await sumOf(threads.flat())}`;
    },
  };
}

/** The numbers of threads added up, in Prometheus's text format. */
export function sumOf(threads: readonly MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate([...threads] as object[]).metrics();
}

/** What one thread counts. */
export interface ThreadNumbers {
  readonly thread: number;
  readonly stats: RequestStats;
  /** The open ones, which tell whether the threads share them evenly. */
  readonly connections: { readonly size: number };
  readonly backlog: Pick<Backlog, 'bytes' | 'stalled' | 'crowded'>;
  readonly log: { readonly dropped: number };
}

/** Registers what one thread counts, and the lag of its event loop. */
export function createRequestMetrics(numbers: ThreadNumbers): Registry {
  const { stats, thread, connections, backlog, log } = numbers;
  const registry = new Registry();
  const registers = [registry];
  new Counter({
    name: 'waypost_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'status', 'representation'],
    registers,
    collect() {
      this.reset();
      for (const { route, status, representation, count } of stats.counts) {
        this.inc({ route, status, representation }, count);
      }
    },
  });
  const count = (name: string, help: string, read: () => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  };
  count('waypost_answer_cache_hits_total', 'Answers sent from the cache.', () => stats.cacheHits);
  count('waypost_answer_cache_misses_total', 'Answers not in the cache.', () => stats.cacheMisses);
  const latencies = countedHistogram(
    'waypost_http_request_duration_seconds',
    'Time from the head of a request to its answer being handed to the socket.',
    { labelNames: ['route'], bounds: LATENCY_BOUNDS },
    () => stats.latencies.map(({ route, ...rest }) => ({ labels: { route }, ...rest })),
  );
  registry.registerMetric(latencies);
  new Gauge({
    name: 'waypost_connections',
    help: 'Open connections.',
    labelNames: ['thread'],
    registers,
    collect() {
      this.set({ thread }, connections.size);
    },
  });
  new Gauge({
    name: 'waypost_unsent_bytes',
    help: 'Bytes of answers that clients have not taken yet.',
    labelNames: ['thread'],
    registers,
    collect() {
      this.set({ thread }, backlog.bytes);
    },
  });
  new Counter({
    name: 'waypost_clients_cut_off_total',
    help: 'Clients cut off because they did not take their answers, by why.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      this.inc({ reason: 'stalled' }, backlog.stalled);
      this.inc({ reason: 'crowded' }, backlog.crowded);
    },
  });
  count(
    'waypost_log_lines_dropped_total',
    'Log lines lost because nobody read them or the disk was full.',
    () => log.dropped,
  );
  const lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  lag.enable();
  new Gauge({
    name: 'waypost_event_loop_lag_seconds',
    help: 'How late the event loop was, the 99th percentile since it was last asked.',
    labelNames: ['thread'],
    registers,
    collect() {
      // measured from one step to the next
      this.set({ thread }, Math.max(0, lag.percentile(99) / 1e9 - LAG_STEP_MS / 1000));
      lag.reset();
    },
  });
  return registry;
}

/** What was counted of one set of labels. */
interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  /** One a bound, and one more for what was beyond the last. */
  readonly buckets: ArrayLike<number>;
  readonly seconds: number;
}

/** A histogram whose buckets are counted elsewhere; the library's own can only be observed into. */
function countedHistogram(
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
