import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import type { ExportStep, LaneAnswer, LaneQuestion, SlowLane } from '../http/answer/question.js';
import { refusalOf } from '../http/answer/slow-lane.js';
import {
  exportEnded,
  threadDied,
  tookTooLong,
  tooManyExports,
  tooManyQueries,
} from '../http/request/http-error.js';
import { Turns } from '../posts/media/shares.js';
import {
  type Follower,
  type Generation,
  type GenerationParts,
  identityOf,
} from '../reload/current.js';

/** More threads than these would take the cores from those that answer at once. */
export const MOST_LANES = 4;
/** Questions that wait for each thread of the slow lane, at some 2 kB. */
const WAITING_EACH = 256;
/** Generations that exports may hold beside the one that is served. */
const MOST_OLD = 2;

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

/** What has become of exports, and how many are under way. */
export interface ExportStats {
  readonly open: number;
  /** Generations that exports hold, beside the one that is served. */
  readonly oldGenerations: number;
  readonly outcomes: {
    /** All of it was made. */
    whole: number;
    /** The reader left. */
    left: number;
    /** Ended, so that its generation could go. */
    ended: number;
    failed: number;
    /** Never begun, since too many were under way. */
    refused: number;
  };
}

/** A question, and who waits for its answer. */
interface Entry {
  readonly question: LaneQuestion;
  finish(answer: LaneAnswer): void;
}

interface Lane {
  thread: Worker | undefined;
  entry: Entry | undefined;
}

/** An export under way: it stays in the lane that began it, since what it needs is there. */
interface UnderWay {
  /** Undefined while the export waits to begin. */
  lane: Lane | undefined;
  /** Names the generation that it holds; undefined until there is a first piece. */
  generation: string | undefined;
}

/**
 * The slow lane of a process: one queue before some threads, each of which works on one question at
 * a time, to its end. A thread that dies takes its question with it, which is not tried again, and
 * is replaced for the next one.
 */
export class Lanes implements SlowLane, Follower, ExportStats {
  readonly outcomes: ExportStats['outcomes'] = {
    whole: 0,
    left: 0,
    ended: 0,
    failed: 0,
    refused: 0,
  };
  readonly #start: LaneStart;
  readonly #logger: Logger;
  readonly #lanes: readonly Lane[];
  readonly #waiting: Turns<Entry>;
  /** By their numbers. */
  readonly #exports = new Map<number, UnderWay>();
  #lastExport = 0;
  #newest: GenerationParts | undefined;
  #served: string | undefined;
  #isClosing = false;

  constructor(start: LaneStart, threads: number, logger: Logger) {
    this.#start = start;
    this.#logger = logger;
    this.#lanes = Array.from({ length: threads }, () => ({ thread: undefined, entry: undefined }));
    this.#waiting = new Turns(WAITING_EACH * threads);
  }

  get open(): number {
    return this.#exports.size;
  }

  get oldGenerations(): number {
    return this.#olds().size;
  }

  ask(asked: LaneQuestion): Promise<LaneAnswer> {
    const question = 'view' in asked ? asked : this.#admit(asked);
    if (!('client' in question)) return Promise.resolve(question);
    return new Promise((resolve) => {
      const finish = (answer: LaneAnswer): void => {
        if (!('view' in question)) this.#note(question, answer);
        resolve(answer);
      };
      if (this.#waiting.isFull) this.#dropGone();
      const other = this.#waiting.add(question.client, { question, finish });
      other?.finish(refusalOf(tooManyQueries()));
      this.#dispatch();
    });
  }

  /** Starts the threads, which are otherwise started by the first questions. */
  start(): void {
    for (const lane of this.#lanes) if (lane.thread === undefined) this.#open(lane);
  }

  async serve(generation: Generation): Promise<void> {
    const { parts } = generation;
    this.#newest = parts;
    this.#served = identityOf(generation);
    this.#endOldest();
    // a busy thread takes over the generation after its question
    for (const { thread } of this.#lanes) {
      if (thread !== undefined) say(thread, { kind: 'serve', parts });
    }
  }

  hear(): void {}

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#lanes.map(({ thread }) => thread?.terminate()));
  }

  #open(lane: Lane): Worker {
    const url = new URL('./lane-thread.js', import.meta.url);
    const thread = new Worker(url, { workerData: this.#start });
    lane.thread = thread;
    say(thread, { kind: 'serve', parts: this.#newest! });
    thread.on('message', (answer: LaneAnswer) => {
      lane.entry!.finish(answer);
      lane.entry = undefined;
      this.#dispatch();
    });
    thread.on('error', (error) => {
      this.#logger.error({ err: error }, 'a thread of the slow lane died');
    });
    thread.on('exit', () => {
      const { entry } = lane;
      lane.thread = undefined;
      lane.entry = undefined;
      for (const [number, one] of this.#exports) {
        if (one.lane === lane) this.#end(number, 'failed');
      }
      entry?.finish(refusalOf(threadDied()));
      if (!this.#isClosing) this.#dispatch();
    });
    return thread;
  }

  /** Hands out questions while there are threads without one. */
  #dispatch(): void {
    for (const lane of this.#lanes) {
      if (lane.entry !== undefined) continue;
      this.#dropGone();
      const entry = this.#waiting.next(({ question }) => {
        return (this.#exportOf(question)?.lane ?? lane) === lane;
      });
      if (entry === undefined) continue;
      const its = this.#exportOf(entry.question);
      if (its !== undefined) its.lane = lane;
      lane.entry = entry;
      say(lane.thread ?? this.#open(lane), { kind: 'question', question: entry.question });
    }
  }

  /** Drops the questions that nobody waits for any more. */
  #dropGone(): void {
    for (const { finish } of this.#waiting.drop(({ question }) => isGone(question))) {
      finish(refusalOf(tookTooLong()));
    }
  }

  #exportOf(question: LaneQuestion): UnderWay | undefined {
    return 'view' in question ? undefined : this.#exports.get(question.export!);
  }

  /** The step as a lane takes it, or the answer where none is to work on it. */
  #admit(step: ExportStep): ExportStep | LaneAnswer {
    const { maxExports } = this.#start.settings;
    if (step.export === undefined) {
      if (this.open < maxExports) {
        this.#exports.set(++this.#lastExport, { lane: undefined, generation: undefined });
        return { ...step, export: this.#lastExport };
      }
      this.outcomes.refused++;
      return refusalOf(tooManyExports(maxExports));
    }
    if (!this.#exports.has(step.export)) return refusalOf(exportEnded());
    if (!isGone(step)) return step;
    this.#end(step.export, 'left');
    return refusalOf(tookTooLong());
  }

  /** To be called with the answer to each step that was admitted. */
  #note(step: ExportStep, answer: LaneAnswer): void {
    const number = step.export!;
    const its = this.#exports.get(number);
    if (its === undefined) return;
    if (!('export' in answer)) this.#end(number, isGone(step) ? 'left' : 'failed');
    else if (answer.isLast) this.#end(number, 'whole');
    else {
      its.generation = answer.generation;
      this.#endOldest();
    }
  }

  /** Ends an export, also in its lane, which may have ended it by itself. */
  #end(number: number, outcome: keyof ExportStats['outcomes']): void {
    const thread = this.#exports.get(number)?.lane?.thread;
    this.#exports.delete(number);
    this.outcomes[outcome]++;
    if (thread !== undefined) say(thread, { kind: 'drop', export: number });
  }

  /** The old generations that exports hold, the one of the oldest export first. */
  #olds(): Set<string> {
    const all = [...this.#exports.values()].flatMap(({ generation }) => generation ?? []);
    return new Set(all.filter((one) => one !== this.#served));
  }

  /** Ends the exports of the oldest generation where they hold too many. */
  #endOldest(): void {
    const olds = this.#olds();
    if (olds.size <= MOST_OLD) return;
    const [oldest] = olds;
    const its = [...this.#exports].filter(([, { generation }]) => generation === oldest);
    for (const [number] of its) this.#end(number, 'ended');
    this.#logger.warn({ exports: its.length }, 'exports ended: their points were replaced');
  }
}

function say(thread: Worker, message: ToLane): void {
  thread.postMessage(message);
}

function isGone({ ended }: LaneQuestion): boolean {
  return Atomics.load(ended, 0) !== 0;
}
