import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import type { LaneAnswer, LaneQuestion, SlowLane } from '../http/answer/question.js';
import { refusalOf } from '../http/answer/slow-lane.js';
import { threadDied, tookTooLong, tooManyQueries } from '../http/request/http-error.js';
import { Turns } from '../posts/media/address-turns.js';
import type { Follower } from '../reload/current.js';
import { type GenerationParts, identityOf } from '../reload/generation.js';
import { type ExportStats, LaneRegister } from './lane-exports.js';

/** More threads than these would take the cores from those that answer at once. */
export const MOST_LANES = 4;
/** Questions that wait for each thread of the slow lane, at some 2 kB. */
const WAITING_EACH = 256;

/** What a thread of the slow lane begins with. */
export interface LaneStart {
  readonly settings: ServeSettings;
  /** Whether points can be posted. */
  readonly posts: boolean;
}

/** What is said to a thread of the slow lane. */
export type ToLane =
  | { readonly kind: 'serve'; readonly parts: GenerationParts }
  | { readonly kind: 'question'; readonly question: LaneQuestion }
  | { readonly kind: 'drop'; readonly export: number };

/** The threads of the slow lane, and the questions that wait for one. */
export interface Lanes extends SlowLane, Follower {
  /** Starts the threads, which are otherwise started by the first questions. */
  start(): void;
  readonly exports: ExportStats;
  close(): Promise<void>;
}

/** A question, and who waits for its answer. */
interface Entry {
  readonly question: LaneQuestion;
  settle(answer: LaneAnswer): void;
}

interface Lane {
  thread: Worker | undefined;
  entry: Entry | undefined;
}

/**
 * Makes the slow lane of a process: one queue before some threads, each of which works on one
 * question at a time, to its end. A thread that dies takes its question with it, which is not tried
 * again, and is replaced for the next one. An export stays in the thread that began it.
 */
export function createLanes(start: LaneStart, threads: number, logger: Logger): Lanes {
  const lanes = Array.from(
    { length: threads },
    (): Lane => ({ thread: undefined, entry: undefined }),
  );
  const waiting = new Turns<Entry>(WAITING_EACH * threads);
  const drop = ({ thread }: Lane, number: number): void => {
    if (thread !== undefined) say(thread, { kind: 'drop', export: number });
  };
  const exports = new LaneRegister<Lane>(start.settings.maxExports, drop, logger);
  let newest: GenerationParts | undefined;
  let isClosing = false;

  function open(lane: Lane): Worker {
    const url = new URL('./lane-thread.js', import.meta.url);
    const thread = new Worker(url, { workerData: start });
    lane.thread = thread;
    say(thread, { kind: 'serve', parts: newest! });
    thread.on('message', (answer: LaneAnswer) => {
      lane.entry!.settle(answer);
      lane.entry = undefined;
      dispatch();
    });
    thread.on('error', (error) => logger.error({ err: error }, 'a thread of the slow lane died'));
    thread.on('exit', () => {
      const { entry } = lane;
      lane.thread = undefined;
      lane.entry = undefined;
      exports.forget(lane);
      entry?.settle(refusalOf(threadDied()));
      if (!isClosing) dispatch();
    });
    return thread;
  }

  /** Hands out questions while there are threads without one. */
  function dispatch(): void {
    for (const lane of lanes) {
      if (lane.entry !== undefined) continue;
      dropGone();
      const entry = waiting.next(({ question }) => exports.mayTake(lane, question));
      if (entry === undefined) continue;
      exports.take(lane, entry.question);
      lane.entry = entry;
      say(lane.thread ?? open(lane), { kind: 'question', question: entry.question });
    }
  }

  return {
    exports,
    ask(asked) {
      const question = 'view' in asked ? asked : exports.admit(asked);
      if (!('client' in question)) return Promise.resolve(question);
      return new Promise((resolve) => {
        const settle = (answer: LaneAnswer): void => {
          if (!('view' in question)) exports.note(question, answer);
          resolve(answer);
        };
        if (waiting.isFull) dropGone();
        const other = waiting.add(question.client, { question, settle });
        other?.settle(refusalOf(tooManyQueries()));
        dispatch();
      });
    },
    start() {
      for (const lane of lanes) if (lane.thread === undefined) open(lane);
    },
    async serve(generation) {
      const { parts } = generation;
      newest = parts;
      exports.serve(identityOf(generation));
      // who is busy goes on with what it has: nobody waits for that
      for (const { thread } of lanes)
        if (thread !== undefined) say(thread, { kind: 'serve', parts });
    },
    hear() {},
    async close() {
      isClosing = true;
      await Promise.all(lanes.map(({ thread }) => thread?.terminate()));
    },
  };

  /** Drops the questions that nobody waits for any more. */
  function dropGone(): void {
    for (const { settle } of waiting.drop(isGone)) settle(refusalOf(tookTooLong()));
  }
}

function say(thread: Worker, message: ToLane): void {
  thread.postMessage(message);
}

function isGone({ question }: Entry): boolean {
  return Atomics.load(question.ended, 0) !== 0;
}
