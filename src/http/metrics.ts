import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from 'prom-client';
import type { Outcome } from '../live/reload/reload.js';
import type { Service } from '../live/service.js';
import type { Backlog } from './backlog.js';
import { LATENCY_BOUNDS, type RequestStats } from './request-stats.js';

/** The numbers of the process as a whole; docs/operations.md lists every one. */
export interface ServiceMetrics {
  readonly registry: Registry;
  /** Counts a look at a snapshot file. */
  reloaded(outcome: Outcome, seconds: number): void;
}

/** How many seconds a build may take; 10 million points take some 20. */
const BUILD_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120];

/** How often the lag of the event loop is looked at. */
const LAG_STEP_MS = 10;

/** Registers what the threads have in common; `service` is asked whenever they are read. */
export function createServiceMetrics(service: Service): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const gauge = (name: string, help: string, read: (service: Service) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(service));
      },
    });
  };
  gauge('waypost_points', 'Points that are served.', ({ current }) => current.generation.count);
  gauge(
    'waypost_snapshot_timestamp_seconds',
    'When the export that is served was made.',
    ({ current }) => current.generation.exportedAt / 1000,
  );
  gauge(
    'waypost_snapshot_age_seconds',
    'Time since the export that is served was made.',
    ({ current }) => (Date.now() - current.generation.exportedAt) / 1000,
  );
  gauge(
    'waypost_snapshot_loaded_timestamp_seconds',
    'When the snapshot that is served was loaded.',
    ({ current }) => current.generation.loadedAt / 1000,
  );
  gauge('waypost_stale', '1 while the newest snapshot is not the one served.', ({ stale }) =>
    stale === undefined ? 0 : 1,
  );

  const reloads = new Counter({
    name: 'waypost_reloads_total',
    help: 'Looks at a snapshot file by what came of them.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['loaded', 'unchanged', 'failed', 'held_back']) reloads.inc({ outcome }, 0);
  const builds = new Histogram({
    name: 'waypost_build_seconds',
    help: 'Time from opening a snapshot file to serving it.',
    buckets: BUILD_BOUNDS,
    registers,
  });
  return {
    registry,
    reloaded(outcome, seconds) {
      reloads.inc({ outcome });
      if (outcome === 'loaded') builds.observe(seconds);
    },
  };
}

/** What one thread counts. */
export interface ThreadNumbers {
  readonly thread: number;
  readonly stats: RequestStats;
  /** The open ones, which tell whether the threads share them evenly. */
  readonly connections: { readonly size: number };
  readonly backlog: Pick<Backlog, 'bytes' | 'stalled' | 'crowded'>;
}

/** Registers what one thread counts, and the lag of its event loop. */
export function createRequestMetrics(numbers: ThreadNumbers): Registry {
  const { stats, thread, connections, backlog } = numbers;
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
  const cache = (name: string, help: string, read: () => number): void => {
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
  cache('waypost_answer_cache_hits_total', 'Answers sent from the cache.', () => stats.cacheHits);
  cache('waypost_answer_cache_misses_total', 'Answers not in the cache.', () => stats.cacheMisses);
  registry.registerMetric(latencyHistogram(stats) as unknown as Metric);
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

/** Everything as text: the numbers of the process, and those of its threads added up. */
export async function joinMetrics(
  registry: Registry,
  threads: readonly (readonly object[])[],
): Promise<string> {
  const sums = AggregatorRegistry.aggregate([...threads] as object[]);
  return `${await registry.metrics()}${await sums.metrics()}`;
}

/** A histogram whose buckets are counted elsewhere; the library's own can only be observed into. */
function latencyHistogram(stats: RequestStats): object {
  const name = 'waypost_http_request_duration_seconds';
  const about = {
    name,
    help: 'Time from the head of a request to its answer being handed to the socket.',
    type: 'histogram',
    aggregator: 'sum',
  };
  return {
    ...about,
    labelNames: ['route', 'le'],
    reset() {},
    async get() {
      const values = stats.latencies.flatMap(({ route, buckets, seconds, count }) => {
        let sum = 0;
        const steps = [...LATENCY_BOUNDS, '+Inf'].map((le, index) => {
          sum += buckets[index]!;
          return { metricName: `${name}_bucket`, labels: { le, route }, value: sum };
        });
        const labels = { route };
        return [
          ...steps,
          { metricName: `${name}_sum`, labels, value: seconds },
          { metricName: `${name}_count`, labels, value: count },
        ];
      });
      return { ...about, values };
    },
  };
}
