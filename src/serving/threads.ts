import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { memoryOf } from '../http/answer/slow-lane.js';
import type { MetricsJson } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import type { TokenTable } from '../posts/tokens/table.js';
import type { Follower } from '../reload/current.js';
import type { GenerationParts } from '../reload/generation.js';
import {
  answer,
  ask,
  createPostTaker,
  type Reloaded,
  type ThreadStart,
  type ToMain,
  type ToThread,
} from './messages.js';

/** A thread that takes longer to take over a snapshot gets a line in the log. */
const SERVE_PATIENCE_MS = 60_000;
/** Metrics of a thread that come later are left out. */
const METRICS_PATIENCE_MS = 1_000;

/** How the threads do beside the main one; made before anybody reads or writes it. */
export interface ThreadStats {
  /** Threads that have not taken over the newest snapshot yet. */
  behind: number;
}

/** What becomes of a thread. */
interface ThreadEvents {
  /** A thread died, with its connections. */
  died(error: unknown): void;
  /** A thread is so busy that it has not taken over a snapshot for a minute; it still may. */
  late(thread: number): void;
}

/** The threads that serve beside the main one, from the same memory. */
export interface Threads extends Follower {
  /** The metrics of each; a thread that is stuck keeps only its own. */
  metrics(): Promise<MetricsJson[]>;
  /** Has all of them know these tokens and no others. */
  know(table: TokenTable): void;
  /** Ends all, each after what it has under way. */
  close(): Promise<void>;
}

interface Member {
  readonly thread: Worker;
  /** From 1; the main thread is 0. */
  readonly number: number;
  /** The metrics that the thread was asked for and has not sent yet. */
  asked: Promise<MetricsJson> | undefined;
}

/**
 * Starts a thread for each of the lists of listening `sockets`. They serve once they have been
 * given points, and ask `service` for what the main thread knows. A thread that is busy is waited
 * for without end: ending it would cut off the connections of all.
 */
export function startThreads(
  shared: Omit<ThreadStart, 'thread' | 'fds'>,
  sockets: readonly (readonly number[])[],
  service: Service,
  stats: ThreadStats,
  events: ThreadEvents,
  patienceMs: number = SERVE_PATIENCE_MS,
): Threads {
  let isClosing = false;
  const members = sockets.map((fds, index): Member => {
    const start: ThreadStart = { ...shared, thread: index + 1, fds };
    const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: start });
    const takePosts = createPostTaker(service.posts!, (replies) => {
      thread.postMessage({ kind: 'posted', replies } satisfies ToThread);
    });
    thread.on('message', (message: ToMain) => {
      if (message.kind === 'posts') {
        takePosts(message.posts);
        return;
      }
      if (message.kind === 'question') {
        const { reply, question } = message;
        void answer(reply, () => service.slowLane.ask(question), memoryOf);
        return;
      }
      const { kind, reply } = message;
      void answer(reply, async () => {
        if (kind === 'metrics') return service.metrics();
        if (kind === 'journal') return service.journal!.state();
        if (kind === 'read') return service.journal!.read(message.after, message.limit);
        const waiting = await service.reload(message.accept, message.isAwaited);
        const { stale, building, posts, leaving } = service.current;
        return { waiting, standing: { stale, building, posts, leaving } } satisfies Reloaded;
      });
    });
    thread.on('error', events.died);
    thread.on('exit', (code) => {
      if (!isClosing) events.died(new Error(`The thread ended with code ${code}.`));
    });
    return { thread, number: index + 1, asked: undefined };
  });

  async function serveFrom({ thread, number }: Member, parts: GenerationParts): Promise<void> {
    stats.behind++;
    const timer = setTimeout(() => events.late(number), patienceMs).unref();
    try {
      await ask<ToThread, true>(thread, (reply) => ({ kind: 'serve', parts, reply }));
    } catch (error) {
      events.died(error);
    } finally {
      clearTimeout(timer);
      stats.behind--;
    }
  }
  /**
   * Asks a thread for its metrics, one question at a time: questions must not pile up before a
   * thread that is stuck.
   */
  function numbersOf(member: Member): Promise<MetricsJson> {
    member.asked ??= ask<ToThread, MetricsJson>(member.thread, (reply) => ({
      kind: 'metrics',
      reply,
    })).finally(() => {
      member.asked = undefined;
    });
    return member.asked;
  }

  return {
    async serve({ parts }) {
      await Promise.all(members.map((member) => serveFrom(member, parts)));
    },
    hear(standing) {
      for (const { thread } of members) thread.postMessage({ kind: 'standing', standing });
    },
    know(table) {
      for (const { thread } of members) thread.postMessage({ kind: 'tokens', table });
    },
    async metrics() {
      const patience = delay(METRICS_PATIENCE_MS, undefined, { ref: false });
      const answers = await Promise.all(
        members.map((member) => Promise.race([numbersOf(member), patience])),
      );
      return answers.filter((answer) => answer !== undefined);
    },
    async close() {
      isClosing = true;
      await Promise.all(
        members.map(({ thread }) => {
          const ended = once(thread, 'exit');
          thread.postMessage({ kind: 'close' });
          return ended;
        }),
      );
    },
  };
}
