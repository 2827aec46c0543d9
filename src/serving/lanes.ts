import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import type {
  ExportPiece,
  ExportStep,
  LanePage,
  PageQuestion,
  SlowLane,
  Waited,
} from '../http/answer/question.js';
import { isGivenUp } from '../http/answer/slow-lane.js';
import type { ExportNumbers } from '../http/metrics.js';
import {
  exportEnded,
  type HttpError,
  threadDied,
  tookTooLong,
  tooManyExports,
  tooManyQueries,
} from '../http/request/http-error.js';
import { Calls } from '../model/calls.js';
import { Turns } from '../model/turns.js';
import {
  type Follower,
  type Generation,
  type GenerationParts,
  identityOf,
} from '../reload/current.js';

/** More threads would take the cores from those that answer at once. */
export const MOST_LANES = 4;
/** Questions that wait for each thread of the slow lane, at some 2 kB. */
const WAITING_EACH = 256;
/** Generations that exports may hold beside the one that is served. */
const MOST_OLD = 2;

export interface LaneStart {
  readonly settings: ServeSettings;
  /** Whether points can be posted. */
  readonly posts: boolean;
}

/** What a thread of the slow lane does for the main one. */
export type OfLane = SlowLane & {
  serve(parts: GenerationParts): void;
  drop(exported: number): void;
};

interface Entry {
  readonly waited: Waited;
  /** The export that the question belongs to. */
  readonly exported: UnderWay | undefined;
  run(thread: Calls<OfLane>): Promise<unknown>;
  refuse(error: HttpError): void;
}

interface Lane {
  thread: { readonly worker: Worker; readonly calls: Calls<OfLane> } | undefined;
  isBusy: boolean;
}

/** An export under way: it stays in the lane that began it, which has its rows and generation. */
interface UnderWay {
  /** Undefined while the export waits to begin. */
  lane: Lane | undefined;
  /** Names the generation that it holds; undefined until there is a first piece. */
  generation: string | undefined;
}

/**
 * The slow lane of a process: one queue before some threads, each of which works on one question at
 * a time, to its end. A question whose thread dies is not tried again; a new thread takes the next.
 */
export class Lanes implements SlowLane, Follower, ExportNumbers {
  /** `ended`: so that the generation could go; `refused`: too many exports were under way. */
  readonly outcomes = { whole: 0, left: 0, ended: 0, failed: 0, refused: 0 };
  readonly #start: LaneStart;
  readonly #logger: Logger;
  readonly #lanes: readonly Lane[];
  readonly #waiting: Turns<Entry>;
  readonly #exports = new Map<number, UnderWay>();
  #lastExport = 0;
  #newest: GenerationParts | undefined;
  #served: string | undefined;
  #isClosing = false;

  constructor(start: LaneStart, threads: number, logger: Logger) {
    this.#start = start;
    this.#logger = logger;
    this.#lanes = Array.from({ length: threads }, () => ({ thread: undefined, isBusy: false }));
    this.#waiting = new Turns(WAITING_EACH * threads);
  }

  get open(): number {
    return this.#exports.size;
  }

  get oldGenerations(): number {
    return this.#olds().size;
  }

  ask(question: PageQuestion): Promise<LanePage> {
    return this.#queue(question, undefined, (thread) => thread.call('ask', question));
  }

  async step(asked: ExportStep): Promise<ExportPiece> {
    const number = asked.export ?? this.#begin();
    const exported = this.#exports.get(number);
    if (exported === undefined) throw exportEnded();
    const step = { ...asked, export: number };
    try {
      if (isGivenUp(step)) throw tookTooLong();
      const piece = await this.#queue(step, exported, (thread) => thread.call('step', step));
      exported.generation = piece.generation;
      if (piece.isLast) this.#end(number, 'whole');
      else this.#endOldest();
      return piece;
    } catch (error) {
      this.#end(number, isGivenUp(step) ? 'left' : 'failed');
      throw error;
    }
  }

  /** Starts the first thread; the others, of 10 MB, start when a question finds none idle. */
  start(): void {
    const [first] = this.#lanes;
    if (first?.thread === undefined) this.#open(first!);
  }

  async serve(generation: Generation): Promise<void> {
    const { parts } = generation;
    this.#newest = parts;
    this.#served = identityOf(generation);
    this.#endOldest();
    // a busy thread takes over the generation after its question
    for (const { thread } of this.#lanes) thread?.calls.tell('serve', parts);
  }

  hear(): void {}

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#lanes.map(({ thread }) => thread?.worker.terminate()));
  }

  #open(lane: Lane): NonNullable<Lane['thread']> {
    const url = new URL('./lane-thread.js', import.meta.url);
    const worker = new Worker(url, { workerData: this.#start });
    const calls = new Calls<OfLane>(worker, {});
    lane.thread = { worker, calls };
    calls.tell('serve', this.#newest!);
    worker.on('error', (error) => {
      this.#logger.error({ err: error }, 'a thread of the slow lane died');
    });
    worker.on('exit', () => {
      lane.thread = undefined;
      for (const [number, one] of this.#exports) {
        if (one.lane === lane) this.#end(number, 'failed');
      }
      calls.fail(threadDied());
    });
    return lane.thread;
  }

  #queue<Answer>(
    waited: Waited,
    exported: UnderWay | undefined,
    ask: (thread: Calls<OfLane>) => Promise<Answer>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const run = (thread: Calls<OfLane>): Promise<Answer> => {
        const answer = ask(thread);
        resolve(answer);
        return answer;
      };
      if (this.#waiting.isFull) this.#dropGone();
      const other = this.#waiting.add(waited.client, { waited, exported, run, refuse: reject });
      other?.refuse(tooManyQueries());
      this.#dispatch();
    });
  }

  #dispatch(): void {
    for (const lane of this.#lanes) {
      if (lane.isBusy || this.#isClosing) continue;
      this.#dropGone();
      const entry = this.#waiting.next(({ exported }) => (exported?.lane ?? lane) === lane);
      if (entry === undefined) continue;
      if (entry.exported !== undefined) entry.exported.lane = lane;
      lane.isBusy = true;
      const free = (): void => {
        lane.isBusy = false;
        this.#dispatch();
      };
      const { calls } = lane.thread ?? this.#open(lane);
      entry.run(calls).then(free, free);
    }
  }

  #dropGone(): void {
    for (const { refuse } of this.#waiting.drop(({ waited }) => isGivenUp(waited))) {
      refuse(tookTooLong());
    }
  }

  /** Begins an export, and returns its number. Throws a 503 HttpError where there are too many. */
  #begin(): number {
    const { maxExports } = this.#start.settings;
    if (this.open >= maxExports) {
      this.outcomes.refused++;
      throw tooManyExports(maxExports);
    }
    this.#exports.set(++this.#lastExport, { lane: undefined, generation: undefined });
    return this.#lastExport;
  }

  /** Ends an export, also in its lane, which may have ended it by itself. */
  #end(number: number, outcome: keyof Lanes['outcomes']): void {
    const exported = this.#exports.get(number);
    if (!this.#exports.delete(number)) return;
    this.outcomes[outcome]++;
    exported?.lane?.thread?.calls.tell('drop', number);
  }

  /** The old generations that exports hold, that of the oldest export first. */
  #olds(): Set<string> {
    const all = [...this.#exports.values()].flatMap(({ generation }) => generation ?? []);
    return new Set(all.filter((one) => one !== this.#served));
  }

  /** Ends the exports of the oldest generation where they hold too many. */
  #endOldest(): void {
    const olds = this.#olds();
    if (olds.size <= MOST_OLD) return;
    const [oldest] = olds;
    const ending = [...this.#exports].filter(([, { generation }]) => generation === oldest);
    for (const [number] of ending) this.#end(number, 'ended');
    this.#logger.warn({ exports: ending.length }, 'exports ended: their points were replaced');
  }
}
