import type { Logger } from 'pino';
import type { ExportStep, LaneAnswer, LaneQuestion } from '../http/answer/question.js';
import { refusalOf } from '../http/answer/slow-lane.js';
import { exportEnded, tookTooLong, tooManyExports } from '../http/request/http-error.js';

/** Generations that exports may hold beside the one that is served. */
const MOST_OLD = 2;

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

const NONE = { whole: 0, left: 0, ended: 0, failed: 0, refused: 0 };

/** An export under way. */
interface UnderWay<Lane> {
  /** The lane that makes it; undefined while it waits to begin. */
  lane: Lane | undefined;
  /** Names the generation that it holds; undefined until there is a first piece. */
  generation: string | undefined;
}

/**
 * The exports of all lanes. An export stays in the lane that began it, since what it needs is there.
 * `drop` has a lane forget one.
 */
export class LaneRegister<Lane> implements ExportStats {
  readonly outcomes: ExportStats['outcomes'] = { ...NONE };
  readonly #all = new Map<number, UnderWay<Lane>>();
  readonly #most: number;
  readonly #drop: (lane: Lane, number: number) => void;
  readonly #logger: Pick<Logger, 'warn'>;
  #last = 0;
  #served: string | undefined;

  constructor(
    most: number,
    drop: (lane: Lane, number: number) => void,
    logger: Pick<Logger, 'warn'>,
  ) {
    this.#most = most;
    this.#drop = drop;
    this.#logger = logger;
  }

  get open(): number {
    return this.#all.size;
  }

  get oldGenerations(): number {
    return this.#olds().size;
  }

  /** The step as a lane takes it, or the answer where none is to work on it. */
  admit(step: ExportStep): ExportStep | LaneAnswer {
    const { outcomes } = this;
    if (step.export === undefined) {
      if (this.#all.size >= this.#most) {
        outcomes.refused++;
        return refusalOf(tooManyExports(this.#most));
      }
      this.#all.set(++this.#last, { lane: undefined, generation: undefined });
      return { ...step, export: this.#last };
    }
    if (!this.#all.has(step.export)) return refusalOf(exportEnded());
    if (Atomics.load(step.ended, 0) === 0) return step;
    outcomes.left++;
    this.#end(step.export);
    return refusalOf(tookTooLong());
  }

  /** Whether a lane may work on a question. */
  mayTake(lane: Lane, question: LaneQuestion): boolean {
    const own = 'view' in question ? undefined : this.#all.get(question.export!)?.lane;
    return own === undefined || own === lane;
  }

  /** To be called with a question that a lane begins to work on. */
  take(lane: Lane, question: LaneQuestion): void {
    const found = 'view' in question ? undefined : this.#all.get(question.export!);
    if (found !== undefined) found.lane = lane;
  }

  /** To be called with each answer. */
  note({ export: number, ended }: ExportStep, answer: LaneAnswer): void {
    const found = this.#all.get(number!);
    if (found === undefined) return;
    if ('export' in answer && !answer.isLast) {
      found.generation = answer.generation;
      this.#endOldest();
      return;
    }
    const { outcomes } = this;
    this.#all.delete(number!);
    if ('export' in answer) outcomes.whole++;
    else if (Atomics.load(ended, 0) !== 0) outcomes.left++;
    else outcomes.failed++;
  }

  /** A lane has died, and with it what it made. */
  forget(lane: Lane): void {
    for (const [number, one] of this.#all) {
      if (one.lane !== lane) continue;
      this.#all.delete(number);
      this.outcomes.failed++;
    }
  }

  /** Another generation is served from now on. */
  serve(generation: string): void {
    this.#served = generation;
    this.#endOldest();
  }

  /** Ends the exports of the oldest generation where they hold too many. */
  #endOldest(): void {
    const olds = this.#olds();
    if (olds.size <= MOST_OLD) return;
    const [oldest] = olds;
    const its = [...this.#all].filter(([, { generation }]) => generation === oldest);
    for (const [number] of its) this.#end(number);
    this.outcomes.ended += its.length;
    this.#logger.warn({ exports: its.length }, 'exports ended: their points were replaced');
  }

  #end(number: number): void {
    const { lane } = this.#all.get(number)!;
    this.#all.delete(number);
    if (lane !== undefined) this.#drop(lane, number);
  }

  /** The old generations that exports hold, the one of the oldest export first. */
  #olds(): Set<string> {
    const olds = new Set<string>();
    for (const { generation } of this.#all.values()) {
      if (generation !== undefined && generation !== this.#served) olds.add(generation);
    }
    return olds;
  }
}
