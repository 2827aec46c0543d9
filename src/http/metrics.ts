import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { Current } from '../live/current.js';
import { pointsServed } from '../live/generation.js';
import { BUILD_BOUNDS, type ReloadStats } from '../live/reload/stats.js';
import type { JournalState } from '../posts/journal.js';
import { FLUSH_BOUNDS, type PostStats } from '../posts/stats.js';
import { version } from '../version.js';
import { countedHistogram } from './counted-histogram.js';
import { registerProcessMetrics } from './process-metrics.js';

/** The metrics of one thread, as they travel. */
export type MetricsJson = readonly object[];

/** All metrics of the service; docs/operations.md lists every one. */
export interface ServiceMetrics {
  /** The numbers of the process. */
  readonly registry: Registry;
  /** Reads the numbers of threads, too, whenever the text is asked for. */
  add(read: () => Promise<readonly MetricsJson[]>): void;
  /**
   * In Prometheus's text format: the numbers of the process, and those of its threads added up.
   * They are read after the call, ten times a second at most.
   */
  text(): Promise<string>;
}

/** Milliseconds from one collection to the next; who asks meanwhile waits, and shares it. */
const SPACING_MS = 100;

/**
 * Registers what the threads have in common; `current` and `stats` are read whenever the text is
 * asked for.
 */
export function createServiceMetrics(
  current: Current,
  stats: ReloadStats,
  threads: { readonly behind: number },
  posts: PostStats,
): ServiceMetrics {
  const registry = new Registry();
  const readers: (() => Promise<readonly MetricsJson[]>)[] = [];
  registerProcessMetrics(registry);
  registerSnapshotMetrics(registry, current);
  registerReloadMetrics(registry, stats);
  gauge(registry, 'waypost_posts_accepted', '1 while points are accepted.', () =>
    current.posts.accepted ? 1 : 0,
  );
  registerPostMetrics(registry, posts);
  registerImageMetrics(registry, posts);
  gauge(
    registry,
    'waypost_threads_behind',
    'Threads that have not taken over the newest snapshot yet.',
    () => threads.behind,
  );
  let last = -Infinity;
  let coming: Promise<string> | undefined;

  /** In pieces, so that requests are answered in between. */
  async function collect(): Promise<string> {
    await delay(Math.max(0, last + SPACING_MS - performance.now()));
    // who asks from now on wants later numbers
    coming = undefined;
    last = performance.now();
    const threads = await Promise.all(readers.map((read) => read()));
    await turn();
    const own = await registry.metrics();
    await turn();
    return `${own}${await sumOf(threads.flat())}`;
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

/** The numbers of threads added up, in Prometheus's text format. */
export function sumOf(threads: readonly MetricsJson[]): Promise<string> {
  return AggregatorRegistry.aggregate([...threads] as object[]).metrics();
}

function registerSnapshotMetrics(registry: Registry, current: Current): void {
  const build = new Gauge({
    name: 'waypost_build_info',
    help: '1, with the version of Waypost.',
    labelNames: ['version'],
    registers: [registry],
  });
  build.set({ version: version() }, 1);
  gauge(registry, 'waypost_points', 'Points that are served.', () =>
    pointsServed(current.generation),
  );
  gauge(
    registry,
    'waypost_snapshot_timestamp_seconds',
    'When the export that is served was made.',
    () => current.generation.exportedAt / 1000,
  );
  gauge(
    registry,
    'waypost_snapshot_age_seconds',
    'Time since the export that is served was made.',
    () => (Date.now() - current.generation.exportedAt) / 1000,
  );
  gauge(
    registry,
    'waypost_snapshot_loaded_timestamp_seconds',
    'When the snapshot that is served was loaded.',
    () => current.generation.loadedAt / 1000,
  );
  gauge(registry, 'waypost_stale', '1 while the newest snapshot is not the one served.', () =>
    current.stale === undefined ? 0 : 1,
  );
  gauge(
    registry,
    'waypost_building_seconds',
    'How long the snapshot that is being built has been; 0 when none is.',
    () => (current.building === undefined ? 0 : (Date.now() - current.building.since) / 1000),
  );
}

function registerReloadMetrics(registry: Registry, stats: ReloadStats): void {
  new Counter({
    name: 'waypost_reloads_total',
    help: 'Looks at a snapshot file by what came of them.',
    labelNames: ['outcome'],
    registers: [registry],
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
}

function registerPostMetrics(registry: Registry, stats: PostStats): void {
  new Counter({
    name: 'waypost_posts_total',
    help: 'Points that were posted and could be read, by what came of them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(stats.outcomes)) this.inc({ outcome }, count);
    },
  });
  const journal = (name: string, help: string, read: (state: JournalState) => number): void =>
    gauge(registry, `waypost_journal_${name}`, help, () => {
      return stats.journal === undefined ? 0 : read(stats.journal.state);
    });
  journal('bytes', 'Size of the journal.', ({ bytes }) => bytes);
  journal('waiting', 'Posts that the journal keeps.', ({ posts }) => posts);
  journal('sequence', 'Sequence of the newest post.', ({ lastSequence }) => lastSequence);
  journal('failing', '1 while the journal cannot be written.', ({ problem }) =>
    problem === undefined ? 0 : 1,
  );
  const flushes = countedHistogram(
    'waypost_journal_flush_seconds',
    'Time until points that were written to the journal are on stable storage.',
    { labelNames: [], bounds: FLUSH_BOUNDS },
    () => [{ labels: {}, buckets: stats.buckets, seconds: stats.flushSeconds }],
  );
  registry.registerMetric(flushes);
  gauge(
    registry,
    'waypost_tail_rows',
    'Accepted points that each query looks at one by one.',
    () => stats.tails?.state.rows ?? 0,
  );
  new Counter({
    name: 'waypost_folds_total',
    help: 'Tries to make accepted points part of the indexes, by whether they came to an end.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      const { merges = 0, mergesFailed = 0 } = stats.tails?.state ?? {};
      this.reset();
      this.inc({ outcome: 'folded' }, merges);
      this.inc({ outcome: 'failed' }, mergesFailed);
    },
  });
}

function registerImageMetrics(registry: Registry, { images }: PostStats): void {
  new Counter({
    name: 'waypost_images_total',
    help: 'Images that came with posts, by what came of them.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(images.outcomes)) this.inc({ outcome }, count);
    },
  });
  counter(registry, 'waypost_image_bytes_total', 'Bytes of the images that were made.', () => {
    return images.bytes;
  });
  counter(registry, 'waypost_image_seconds_total', 'Time from upload to image.', () => {
    return images.seconds;
  });
}

/** Registers a counter that is read whenever it is asked for. */
function counter(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Registers a gauge that is read whenever it is asked for. */
function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
