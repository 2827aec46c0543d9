import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { AggregatorRegistry, Registry } from 'prom-client';
import type { Current } from '../live/current.js';
import { pointsServed } from '../live/generation.js';
import type { ReloadStats } from '../live/reload/stats.js';
import type { JournalState } from '../posts/journal.js';
import type { PostStats } from '../posts/stats.js';
import { version } from '../version.js';
import { registerProcessMetrics } from './process-metrics.js';
import { type ReadMetrics, readMetrics } from './read-metrics.js';

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
  const metrics = readMetrics(registry);
  registerSnapshotMetrics(metrics, current);
  registerReloadMetrics(metrics, stats);
  registerPostMetrics(metrics, posts);
  metrics.gauge('waypost_posts_accepted', '1 while points are accepted.', () =>
    current.posts.accepted ? 1 : 0,
  );
  metrics.gauge(
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

function registerSnapshotMetrics({ gauge }: ReadMetrics, current: Current): void {
  gauge(
    'waypost_build_info',
    '1, with the version of Waypost.',
    () => [[{ version: version() }, 1]],
    'version',
  );
  gauge('waypost_points', 'Points that are served.', () => pointsServed(current.generation));
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
    'waypost_building_seconds',
    'How long the snapshot that is being built has been; 0 when none is.',
    () => (current.building === undefined ? 0 : (Date.now() - current.building.since) / 1000),
  );
}

function registerReloadMetrics({ outcomes, histogram }: ReadMetrics, stats: ReloadStats): void {
  outcomes('waypost_reloads_total', 'Looks at a snapshot file by what came of them.', () => {
    return stats.outcomes;
  });
  histogram('waypost_build_seconds', 'Time from opening a snapshot file to serving it.', () => [
    [{}, stats.builds],
  ]);
}

function registerPostMetrics(
  { gauge, counter, outcomes, histogram }: ReadMetrics,
  stats: PostStats,
): void {
  const { images } = stats;
  outcomes(
    'waypost_posts_total',
    'Points that were posted and could be read, by what came of them.',
    () => stats.outcomes,
  );
  const journal = (name: string, help: string, read: (state: JournalState) => number): void =>
    gauge(`waypost_journal_${name}`, help, () => {
      return stats.journal === undefined ? 0 : read(stats.journal.state);
    });
  journal('bytes', 'Size of the journal.', ({ bytes }) => bytes);
  journal('waiting', 'Posts that the journal keeps.', ({ posts }) => posts);
  journal('sequence', 'Sequence of the newest post.', ({ lastSequence }) => lastSequence);
  journal('failing', '1 while the journal cannot be written.', ({ problem }) =>
    problem === undefined ? 0 : 1,
  );
  histogram(
    'waypost_journal_flush_seconds',
    'Time until points that were written to the journal are on stable storage.',
    () => [[{}, stats.flushes]],
  );
  gauge(
    'waypost_tail_rows',
    'Accepted points that each query looks at one by one.',
    () => stats.tails?.state.rows ?? 0,
  );
  outcomes(
    'waypost_folds_total',
    'Tries to make accepted points part of the indexes, by whether they came to an end.',
    () => {
      const { merges = 0, mergesFailed = 0 } = stats.tails?.state ?? {};
      return { folded: merges, failed: mergesFailed };
    },
  );
  outcomes(
    'waypost_images_total',
    'Images that came with posts, by what came of them.',
    () => images.outcomes,
  );
  counter('waypost_image_bytes_total', 'Bytes of the images that were made.', () => images.bytes);
  counter('waypost_image_seconds_total', 'Time from upload to image.', () => images.seconds);
}
