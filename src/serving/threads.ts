import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { ServeSettings } from '../cli/settings/values.js';
import type { ExportPiece, LanePage } from '../http/answer/question.js';
import type { MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import type { ThrottleMemory } from '../http/request/client.js';
import { Calls } from '../model/calls.js';
import type { Tokens } from '../posts/tokens/file.js';
import type { Follower, GenerationParts, Health } from '../reload/current.js';
import type { ConnectionCounts } from './connections.js';

export interface ThreadStart {
  readonly settings: ServeSettings;
  /** From 1; the main thread is 0. */
  readonly thread: number;
  readonly counts: ConnectionCounts;
  /** One number: the streams of accepted points that are open on all threads. */
  readonly streams: Int32Array;
  /** As the main thread read them; later each thread reads them by itself. */
  readonly tokens: Tokens;
  /** Counts of all threads' posts, by address and user; undefined where points are only read. */
  readonly throttles?: ThrottleMemory | undefined;
  readonly logDescriptor: number;
  /** The listening socket that is this thread's own. */
  readonly fd: number;
}

/** What a thread that serves does for the main one. */
export type OfThread = {
  serve(parts: GenerationParts): Promise<void>;
  hear(change: Partial<Health>): void;
  metrics(): Promise<MetricsJson>;
  close(): Promise<void>;
};

/** Metrics that come later are left out. */
const METRICS_PATIENCE_MS = 1_000;

export interface ThreadStats {
  /** Threads that have not taken over the newest snapshot yet. */
  behind: number;
}

/** The threads that serve beside the main one, from the same memory. */
export interface Threads extends Follower {
  /** The metrics of each thread; those of a stuck one are left out. */
  metrics(): Promise<MetricsJson[]>;
  /** Ends all threads, each once its requests under way are answered. */
  close(): Promise<void>;
}

/**
 * Starts a thread for each of the listening `sockets`. Threads serve once they were given points,
 * and ask `service` for what the main thread knows. `died` hears that one died, with its
 * connections. A busy thread is never ended: that would cut off its connections.
 */
export function startThreads(
  shared: Omit<ThreadStart, 'thread' | 'fd'>,
  sockets: readonly number[],
  service: Service,
  stats: ThreadStats,
  died: (error: unknown) => void,
): Threads {
  let isClosing = false;
  // what the slow lane answers passes through this thread
  const memory = (name: string, value: LanePage | ExportPiece): readonly MessagePort[] =>
    name === 'ask' || name === 'step' ? [value.body] : [];
  const members = sockets.map((fd, index) => {
    const start: ThreadStart = { ...shared, thread: index + 1, fd };
    const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: start });
    thread.on('error', died);
    thread.on('exit', (code) => {
      if (!isClosing) died(new Error(`The thread ended with code ${code}.`));
    });
    return { thread, calls: new Calls<OfThread>(thread, service, memory) };
  });

  return {
    async serve({ parts }) {
      const serving = members.map(async ({ calls }) => {
        stats.behind++;
        try {
          await calls.call('serve', parts);
        } catch (error) {
          died(error);
        } finally {
          stats.behind--;
        }
      });
      await Promise.all(serving);
    },
    hear(change) {
      for (const { calls } of members) calls.tell('hear', change);
    },
    async metrics() {
      const patience = delay(METRICS_PATIENCE_MS, undefined, { ref: false });
      const answers = await Promise.all(
        members.map(({ calls }) => Promise.race([calls.call('metrics'), patience])),
      );
      return answers.filter((answer) => answer !== undefined);
    },
    async close() {
      isClosing = true;
      await Promise.all(
        members.map(({ thread, calls }) => {
          const ended = once(thread, 'exit');
          calls.tell('close');
          return ended;
        }),
      );
    },
  };
}
