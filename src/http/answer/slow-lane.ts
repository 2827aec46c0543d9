import type { Socket } from 'node:net';
import { exportEncoder } from '../../exports/encoders.js';
import { Export } from '../../exports/export-pieces.js';
import { AT_ONCE, Budget } from '../../model/budget.js';
import { disclose, enclose, sharedArray } from '../../model/memory.js';
import { inTime } from '../../model/turns.js';
import { reclaimMemory } from '../../reload/background.js';
import { createGeneration, type Generation, identityOf, type State } from '../../reload/current.js';
import { FRESH_MEMORY } from '../formats/representation.js';
import { exportEnded, tookTooLong } from '../request/http-error.js';
import type {
  ExportBegin,
  ExportPiece,
  ExportStep,
  LanePage,
  Made,
  Make,
  PageQuestion,
  SlowLane,
  Waited,
} from './question.js';

/** Milliseconds after which a question is given up. */
const LONGEST_MS = 10_000;

/** Gives up when the client has gone or it takes too long. Rejects as the lane does. */
export async function askSlowLane(
  lane: SlowLane,
  question: Omit<PageQuestion, 'ended'>,
  socket: Socket,
): Promise<Made> {
  const ended = sharedArray(Int32Array, 1);
  const end = (): void => void Atomics.store(ended, 0, 1);
  const late = (): Error => {
    end();
    return tookTooLong();
  };
  if (socket.destroyed) end();
  socket.on('close', end);
  try {
    const asked = lane.ask({ ...question, ended }).then((page) => {
      // a buffer that comes from another thread is a plain array
      const { buffer, byteOffset, byteLength } = disclose(page.body);
      return { ...page, body: Buffer.from(buffer, byteOffset, byteLength) };
    });
    return await inTime(LONGEST_MS, asked, late);
  } finally {
    socket.off('close', end);
  }
}

/**
 * Answers a question to its end in a thread of the slow lane: from its own generation where it
 * lacks the one asked for and the question does not bring it.
 */
export function answerInLane(make: Make, question: PageQuestion, own: Generation): LanePage {
  const { parts } = question;
  const generation = parts === undefined ? own : createGeneration(parts);
  const isSame = question.generation === identityOf(generation);
  const served = { generation, state: isSame ? question.state : generation.state() };
  const budget = new Budget(AT_ONCE, () => giveUpFor(question));
  const made = make(question, served, { budget, memory: FRESH_MEMORY })!;
  return { ...made, body: enclose(made.body) };
}

function giveUpFor(waited: Waited): void {
  if (isGivenUp(waited)) throw tookTooLong();
}

export function isGivenUp({ ended }: Waited): boolean {
  return Atomics.load(ended, 0) !== 0;
}

interface UnderWay {
  readonly file: Export;
  readonly state: State;
  readonly generation: string;
}

/** The exports that a thread of the slow lane makes, each by its number. */
export class LaneExports {
  readonly #all = new Map<number, UnderWay>();

  /** Makes the next piece; a new export is made from `generation`. */
  async step(step: ExportStep, generation: Generation): Promise<ExportPiece> {
    const number = step.export!;
    try {
      const found =
        this.#all.get(number) ?? (step.begin && (await begin(step, step.begin, generation)));
      if (found === undefined) throw exportEnded();
      this.#all.set(number, found);
      const { bytes, isLast } = found.file.next(step.bytes);
      if (isLast) this.drop(number, generation);
      const { state, generation: own } = found;
      return { export: number, body: enclose(bytes), isLast, state, generation: own };
    } catch (error) {
      this.drop(number, generation);
      throw error;
    }
  }

  /** Ends an export; `served` is the generation that is served now. */
  drop(number: number, served: Generation): void {
    const { generation } = this.#all.get(number) ?? {};
    if (!this.#all.delete(number) || generation === identityOf(served)) return;
    if (![...this.#all.values()].some((one) => one.generation === generation)) reclaimMemory();
  }
}

async function begin(
  step: ExportStep,
  { format, query, isGzipped }: ExportBegin,
  generation: Generation,
): Promise<UnderWay> {
  const { engine, delta } = generation;
  const state = generation.state();
  const source = { engine, delta, length: state.length };
  const check = (): void => giveUpFor(step);
  const file = new Export(source, query, await exportEncoder(format), { isGzipped, check });
  return { file, state, generation: identityOf(generation) };
}
