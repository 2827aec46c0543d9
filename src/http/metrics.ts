import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { readAsset, version } from '../model/quote.js';
import type { PostStats } from '../posts/posts.js';
import { type Current, pointsServed } from '../reload/current.js';
import { Durations, type ReloadStats } from '../reload/stats.js';
import type { RequestStats } from './answer/context.js';
import type { Backlog } from './backlog.js';
import type { CutCounts } from './limits.js';

export type MetricsJson = readonly object[];

export interface ServiceMetrics {
  readonly registry: Registry;
  /** Adds a reader of numbers of threads, called whenever the text is asked for. */
  add(read: () => Promise<readonly MetricsJson[]>): void;
  /** In Prometheus's text format, the numbers of threads added up; ten times a second at most. */
  text(): Promise<string>;
}

export interface ExportNumbers {
  readonly open: number;
  /** Generations that exports hold besides the one that is served. */
  readonly oldGenerations: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

interface ThreadNumbers {
  readonly thread: number;
  readonly stats: RequestStats;
  readonly connections: { readonly size: number };
  readonly backlog: Pick<Backlog, 'bytes' | 'stalled' | 'crowded'>;
  readonly cut: Readonly<CutCounts>;
  readonly log: { readonly dropped: number };
}

/**
 * A metric a line: type, name, labels in braces, help. Counts are plain numbers, 11 ns a request,
 * and added up over threads; the library, which takes 2 µs, only writes them out.
 */
const METRICS = readAsset('metrics.txt');

/** Metrics of the library that take longer the more connections are open. */
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);
/** Milliseconds between two collections; requests meanwhile wait and share the next. */
const SPACING_MS = 100;
const LAG_STEP_MS = 10;

export function createServiceMetrics(
  current: Current,
  reloads: ReloadStats,
  threads: { readonly behind: number },
  posts: PostStats,
  exports: ExportNumbers,
): ServiceMetrics {
  const registry = new Registry();
  const readers: (() => Promise<readonly MetricsJson[]>)[] = [];
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  register(registry, {
    waypost_build_info: () => ({ [version()]: 1 }),
    waypost_threads_behind: () => threads.behind,
    waypost_exports: () => exports.open,
    waypost_exports_old_generations: () => exports.oldGenerations,
    waypost_exports_total: () => exports.outcomes,
    ...snapshotNumbers(current, reloads),
    ...postNumbers(current, posts),
  });
  let last = -Infinity;
  let coming: Promise<string> | undefined;

  /** In pieces, so that requests are answered in between. */
  async function collect(): Promise<string> {
    await delay(Math.max(0, last + SPACING_MS - performance.now()));
    // requests from now on get later numbers
    coming = undefined;
    last = performance.now();
    const numbers = await Promise.all(readers.map((read) => read()));
    await turn();
    const own = await registry.metrics();
    await turn();
    return `${own}${await sumOf(numbers.flat())}`;
  }

  return {
    registry,
    add: (read) => void readers.push(read),
    text() {
      coming ??= collect();
      return coming;
    },
  };
}

export function sumOf(threads: readonly MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate([...threads] as object[]).metrics();
}

export function createThreadMetrics(numbers: ThreadNumbers): Registry {
  const { stats, thread, connections, backlog, cut, log } = numbers;
  const lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  lag.enable();
  const lagSeconds = (): number => {
    const percentile = lag.percentile(99);
    lag.reset();
    // measured from one step to the next
    return Math.max(0, percentile / 1e9 - LAG_STEP_MS / 1000);
  };
  const registry = new Registry();
  register(registry, {
    waypost_http_requests_total: () =>
      stats.counts.map(({ count, ...labels }) => [labels, count] as const),
    waypost_answer_cache_hits_total: () => stats.cacheHits,
    waypost_answer_cache_misses_total: () => stats.cacheMisses,
    waypost_batch_questions_total: () => stats.questions,
    waypost_http_request_duration_seconds: () => Object.fromEntries(stats.latencies),
    waypost_streams: () => ({ [thread]: stats.streams }),
    waypost_streamed_points_total: () => stats.streamed,
    waypost_connections: () => ({ [thread]: connections.size }),
    waypost_unsent_bytes: () => ({ [thread]: backlog.bytes }),
    waypost_clients_cut_off_total: () => {
      return { stalled: backlog.stalled, crowded: backlog.crowded, ...cut };
    },
    waypost_log_lines_dropped_total: () => log.dropped,
    waypost_event_loop_lag_seconds: () => ({ [thread]: lagSeconds() }),
  });
  return registry;
}

function snapshotNumbers(current: Current, reloads: ReloadStats): Reads {
  const exportedAt = (): number => current.generation.parts.dataset.report.createdAt;
  const secondsSince = (time: number): number => (Date.now() - time) / 1000;
  return {
    waypost_points: () => pointsServed(current.generation),
    waypost_snapshot_timestamp_seconds: () => exportedAt() / 1000,
    waypost_snapshot_age_seconds: () => secondsSince(exportedAt()),
    waypost_snapshot_loaded_timestamp_seconds: () => current.generation.parts.loadedAt / 1000,
    waypost_stale: () => Number(current.stale !== undefined),
    waypost_building_seconds: () =>
      current.building === undefined ? 0 : secondsSince(current.building.since),
    waypost_reloads_total: () => reloads.outcomes,
    waypost_build_seconds: () => reloads.builds,
  };
}

function postNumbers(current: Current, posts: PostStats): Reads {
  const { images } = posts;
  return {
    waypost_posts_accepted: () => Number(current.posts.accepted),
    waypost_posts_total: () => posts.outcomes,
    waypost_journal_bytes: () => posts.journal?.state.bytes ?? 0,
    waypost_journal_waiting: () => posts.journal?.state.posts ?? 0,
    waypost_journal_sequence: () => posts.journal?.state.lastSequence ?? 0,
    waypost_journal_failing: () => Number(posts.journal?.state.problem !== undefined),
    waypost_journal_lag_posts: () => posts.journal?.state.lag?.posts ?? 0,
    waypost_journal_lag_seconds: () => posts.journal?.state.lag?.seconds ?? 0,
    waypost_journal_losses_total: () => posts.journal?.state.lag?.losses ?? 0,
    waypost_journal_flush_seconds: () => posts.flushes,
    waypost_tail_rows: () => posts.deltas?.state.rows ?? 0,
    waypost_folds_total: () => {
      const { merges = 0, mergesFailed = 0 } = posts.deltas?.state ?? {};
      return { folded: merges, failed: mergesFailed };
    },
    waypost_images_total: () => images.outcomes,
    waypost_image_bytes_total: () => images.bytes,
    waypost_image_seconds_total: () => images.seconds,
  };
}

type Labels = Readonly<Record<string, string | number>>;
type Value = number | Durations;

/** Readers by metric: one value, values by the one label, or values with sets of labels. */
type Reads = Readonly<
  Record<
    string,
    () => Value | Readonly<Record<string, Value>> | readonly (readonly [Labels, Value])[]
  >
>;

function register(registry: Registry, reads: Reads): void {
  for (const line of METRICS.trim().split('\n')) {
    const [, type, name, labels = '', help] = /^(\w+) (\w+)(?:\{(.*)\})? (.*)$/.exec(line)!;
    const read = reads[name!];
    if (read === undefined) continue;
    const labelNames = labels.split(',').filter(Boolean);
    const about = { name: name!, help, type, aggregator: 'sum' };
    const values = (): object[] =>
      valuesOf(read(), labelNames[0]!).flatMap(([labels, value]) =>
        typeof value === 'number' ? { labels, value } : bucketsOf(name!, labels, value),
      );
    // the library's own metrics can only be counted up, which takes 2 µs
    const metric = {
      ...about,
      labelNames,
      reset() {},
      get: async () => ({ ...about, values: values() }),
    };
    registry.registerMetric(metric as unknown as Metric);
  }
}

function valuesOf(
  read: ReturnType<Reads[string]>,
  label: string,
): readonly (readonly [Labels, Value])[] {
  if (typeof read === 'number' || read instanceof Durations) return [[{}, read]];
  if (Array.isArray(read)) return read;
  return Object.entries(read).map(([name, value]) => [{ [label]: name }, value]);
}

function bucketsOf(
  name: string,
  labels: Labels,
  { bounds, buckets, seconds }: Durations,
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
