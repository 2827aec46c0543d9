import { AT_ONCE, Budget } from '../../budget.js';
import { sharedArray } from '../../common-array.js';
import { type Generation, identityOf } from '../../live/generation.js';
import { type Format, FRESH_MEMORY } from '../formats/format.js';
import { HttpError, tookTooLong } from '../request/errors.js';
import type { Made, Make } from './making.js';
import type { LaneAnswer, LaneQuestion, SlowLane } from './question.js';

/** Milliseconds after which a question is given up. */
const LONGEST_MS = 10_000;

/** Who waits for an answer of the slow lane. */
export interface Waiter {
  readonly socket: {
    readonly destroyed: boolean;
    on(event: 'close', ended: () => void): unknown;
    off(event: 'close', ended: () => void): unknown;
  };
  done(made: Made): void;
  failed(error: unknown): void;
}

/** Asks the slow lane until there is an answer, the client has gone or it takes too long. */
export function askSlowLane(
  lane: SlowLane,
  question: Omit<LaneQuestion, 'ended'>,
  formats: readonly Format[],
  { socket, done, failed }: Waiter,
): void {
  const ended = sharedArray(Int32Array, 1);
  const end = (): void => void Atomics.store(ended, 0, 1);
  let timer: NodeJS.Timeout;
  const late = new Promise<LaneAnswer>((resolve) => {
    timer = setTimeout(() => {
      end();
      resolve(refusalOf(tookTooLong()));
    }, LONGEST_MS);
  });
  socket.on('close', end);

  function take(answer: LaneAnswer): void {
    clearTimeout(timer);
    socket.off('close', end);
    if (socket.destroyed) return;
    if ('error' in answer) throw answer.error;
    if ('status' in answer) throw new HttpError(answer.status, answer.body, answer.headers);
    const { buffer, byteOffset, byteLength } = answer.body;
    const body = Buffer.from(buffer, byteOffset, byteLength);
    const format = formats[question.format]!;
    const heads = answer.heads.map((head) => ({ ...head, format }));
    done({ heads, body, work: answer.work, state: answer.state });
  }

  Promise.race([lane.ask({ ...question, ended }), late])
    .then(take)
    .catch(failed);
}

/** What {@link answerInLane} throws when nobody waits any more: made once, and caught there only. */
const ENDED = new Error('Nobody waits for the answer.');

/**
 * Answers a question to its end in a thread of the slow lane. A thread that has not got the
 * generation that is asked for answers from its own.
 */
export function answerInLane(
  make: Make,
  question: LaneQuestion,
  generation: Generation,
): LaneAnswer {
  const { ended } = question;
  const isSame = question.generation === identityOf(generation);
  const served = { generation, state: isSame ? question.state : generation.state() };
  const budget = new Budget(AT_ONCE, () => {
    if (Atomics.load(ended, 0) !== 0) throw ENDED;
  });
  try {
    const means = { budget, memory: FRESH_MEMORY, isKnown: () => false };
    const { heads, body, work, state } = make(question, served, means)!;
    return {
      heads: heads.map(({ format: _, ...head }) => head),
      body: new Uint8Array(body.buffer, body.byteOffset, body.length),
      work,
      state,
    };
  } catch (error) {
    if (error === ENDED) return refusalOf(tookTooLong());
    return error instanceof HttpError ? refusalOf(error) : { error };
  }
}

/** An error as it goes to another thread. */
export function refusalOf({ status, body, headers }: HttpError): LaneAnswer {
  return { status, body, headers };
}

/** The memory that goes to another thread with an answer. */
export function memoryOf(answer: LaneAnswer): ArrayBuffer[] {
  return 'heads' in answer ? [answer.body.buffer] : [];
}
