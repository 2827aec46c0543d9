import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import type { RequestStats } from './answer/request-stats.js';
import type { Backlog } from './backlog.js';
import type { CutCounts } from './limits.js';
import { readMetrics } from './read-metrics.js';

/** How often the lag of the event loop is looked at. */
const LAG_STEP_MS = 10;

/** What one thread counts. */
interface ThreadNumbers {
  readonly thread: number;
  readonly stats: RequestStats;
  /** The open ones, which tell whether the threads share them evenly. */
  readonly connections: { readonly size: number };
  readonly backlog: Pick<Backlog, 'bytes' | 'stalled' | 'crowded'>;
  readonly cut: Readonly<CutCounts>;
  readonly log: { readonly dropped: number };
}

/** Registers what one thread counts, and the lag of its event loop. */
export function createRequestMetrics(numbers: ThreadNumbers): Registry {
  const { stats, thread, connections, backlog, cut, log } = numbers;
  const registry = new Registry();
  const { counter, gauge, histogram } = readMetrics(registry);
  const ofThread = (name: string, help: string, read: () => number): void =>
    gauge(name, help, () => [[{ thread }, read()]], 'thread');
  counter(
    'waypost_http_requests_total',
    'Requests answered.',
    () => stats.counts.map(({ count, ...labels }) => [labels, count]),
    'route',
    'status',
    'representation',
  );
  counter('waypost_answer_cache_hits_total', 'Answers sent from the cache.', () => stats.cacheHits);
  counter('waypost_answer_cache_misses_total', 'Answers not in the cache.', () => {
    return stats.cacheMisses;
  });
  histogram(
    'waypost_http_request_duration_seconds',
    'Time from the head of a request to its answer being handed to the socket.',
    () => Array.from(stats.latencies, ([route, durations]) => [{ route }, durations]),
    'route',
  );
  ofThread('waypost_connections', 'Open connections.', () => connections.size);
  ofThread('waypost_unsent_bytes', 'Bytes of answers that clients have not taken yet.', () => {
    return backlog.bytes;
  });
  counter(
    'waypost_clients_cut_off_total',
    'Clients cut off for want of room, or because they did not take their answers, by why.',
    () => {
      const { stalled, crowded } = backlog;
      const reasons = Object.entries({ stalled, crowded, ...cut });
      return reasons.map(([reason, clients]) => [{ reason }, clients]);
    },
    'reason',
  );
  counter(
    'waypost_log_lines_dropped_total',
    'Log lines lost because nobody read them or the disk was full.',
    () => log.dropped,
  );
  const lag = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  lag.enable();
  ofThread(
    'waypost_event_loop_lag_seconds',
    'How late the event loop was, the 99th percentile since it was last asked.',
    () => {
      const percentile = lag.percentile(99);
      lag.reset();
      // measured from one step to the next
      return Math.max(0, percentile / 1e9 - LAG_STEP_MS / 1000);
    },
  );
  return registry;
}
