import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { GenerationParts } from '../live/generation.js';
import type { Stale } from '../live/reload.js';
import type { ServeSettings } from '../settings.js';
import type { ConnectionCounts } from './connections.js';
import { ask, type MetricsJson, type ThreadStart, type ToMain, type ToThread } from './messages.js';

/** Numbers that come late are of no use. */
const METRICS_PATIENCE_MS = 3_000;

/** The threads that serve beside the main one, from the same memory. */
export interface Threads {
  /** Has all serve these points; resolves when they do. */
  serve(parts: GenerationParts): Promise<void>;
  /** Tells all why the newest file is not served, or that it is. */
  tellStale(stale: Stale | undefined): void;
  /** The metrics of each; a thread that is stuck keeps only its own. */
  metrics(): Promise<MetricsJson[]>;
  /** Ends all, each after what it has under way. */
  close(): Promise<void>;
}

/** What threads ask of the main one. */
export interface MainThread {
  reload(accept: boolean): Promise<void>;
  metrics(): Promise<string>;
  /** A thread died, and its connections with it. */
  died(error: unknown): void;
}

/** Starts a thread for each of the listening sockets `fds`. They serve once they have been given points. */
export function startThreads(
  settings: ServeSettings,
  counts: ConnectionCounts,
  fds: readonly number[],
  main: MainThread,
): Threads {
  const threads = fds.map((fd, index) => {
    const start: ThreadStart = { settings, thread: index + 1, counts, fd };
    const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: start });
    thread.on('message', async (message: ToMain) => {
      if (message.kind === 'reload') await main.reload(message.accept);
      message.reply.postMessage(message.kind === 'metrics' ? await main.metrics() : undefined);
    });
    thread.on('error', main.died);
    return thread;
  });
  const askAll = <Answer>(
    question: (reply: MessagePort) => ToThread,
    patience?: Promise<undefined>,
  ): Promise<(Answer | undefined)[]> =>
    Promise.all(
      threads.map((thread) => {
        const answer = ask<ToThread, Answer>(thread, question);
        return patience === undefined ? answer : Promise.race([answer, patience]);
      }),
    );
  return {
    async serve(parts) {
      await askAll((reply) => ({ kind: 'serve', parts, reply }));
    },
    tellStale(stale) {
      for (const thread of threads) thread.postMessage({ kind: 'stale', stale });
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
