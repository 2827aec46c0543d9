import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import { LATENCY_BOUNDS, type RequestStats } from './answer/request-stats.js';
import type { Backlog } from './backlog.js';
import { countedHistogram } from './counted-histogram.js';
import type { CutCounts } from './limits.js';

/** How often the lag of the event loop is looked at. */
const LAG_STEP_MS = 10;

/** What one thread counts. */
export interface ThreadNumbers {
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
    help: 'Clients cut off for want of room, or because they did not take their answers, by why.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      this.inc({ reason: 'stalled' }, backlog.stalled);
      this.inc({ reason: 'crowded' }, backlog.crowded);
      for (const [reason, clients] of Object.entries(cut)) this.inc({ reason }, clients);
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
