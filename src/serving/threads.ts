import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import type { Follower } from '../live/current.js';
import { answer, ask, type ThreadStart, type ToMain, type ToThread } from './messages.js';

/** A thread that takes so long to take over a snapshot is stuck. */
const SERVE_PATIENCE_MS = 60_000;
/** Numbers that come late are of no use. */
const METRICS_PATIENCE_MS = 3_000;

/** The threads that serve beside the main one, from the same memory. */
export interface Threads extends Follower {
  /** The metrics of each; a thread that is stuck keeps only its own. */
  metrics(): Promise<MetricsJson[]>;
  /** Ends all, each after what it has under way. */
  close(): Promise<void>;
}

/**
 * Starts a thread for each of the listening sockets `fds`. They serve once they have been given points, ask
 * `service` for what the main thread knows, and `died` hears of one that died or is stuck, with its connections.
 */
export function startThreads(
  shared: Omit<ThreadStart, 'thread' | 'fd'>,
  fds: readonly number[],
  service: Service,
  died: (error: unknown) => void,
): Threads {
  const threads = fds.map((fd, index) => {
    const start: ThreadStart = { ...shared, thread: index + 1, fd };
    const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: start });
    thread.on('message', (message: ToMain) => {
      const { kind, reply } = message;
      void answer(reply, async () => {
        if (kind === 'metrics') return service.metrics();
        await service.reload(message.accept);
        // the answer may overtake what is told
        const { stale, building } = service.current;
        return { stale, building };
      });
    });
    thread.on('error', died);
    return thread;
  });
  const askAll = <Value>(
    question: (reply: MessagePort) => ToThread,
    patience: Promise<undefined>,
  ): Promise<(Value | undefined)[]> =>
    Promise.all(
      threads.map((thread) => Promise.race([ask<ToThread, Value>(thread, question), patience])),
    );
  return {
    async serve({ parts }) {
      const patience = delay(SERVE_PATIENCE_MS, undefined, { ref: false });
      try {
        const all = await askAll<true>((reply) => ({ kind: 'serve', parts, reply }), patience);
        if (all.includes(undefined)) throw new Error('a thread does not answer');
      } catch (error) {
        died(error);
      }
    },
    hear(standing) {
      for (const thread of threads) thread.postMessage({ kind: 'standing', standing });
    },
    async metrics() {
      const patience = delay(METRICS_PATIENCE_MS, undefined, { ref: false });
      const answers = await askAll<MetricsJson>((reply) => ({ kind: 'metrics', reply }), patience);
      return answers.filter((answer) => answer !== undefined);
    },
    async close() {
      await Promise.all(
        threads.map((thread) => {
          const ended = once(thread, 'exit');
          thread.postMessage({ kind: 'close' });
          return ended;
        }),
      );
    },
  };
}
