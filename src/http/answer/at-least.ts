import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { unkept } from '../../posts/adopt.js';
import type { JournalReader, JournalState } from '../../posts/journal.js';
import { type Current, servedSequence } from '../../reload/current.js';
import { HttpError, tryLater } from '../request/http-error.js';
import { sequenceIn } from '../request/list-parameters.js';

const PATIENCE_MS = 1_000;
/** Between two looks whether the sequence is there. */
const LOOK_MS = 5;
/** Requests of a thread that may wait at the same time. */
const MAX_WAITING = 256;

/**
 * Makes a function that waits until the sequence that a header asks for is served; it returns
 * undefined where there is nothing to wait for. Throws an HttpError: 400 for what is no sequence,
 * 503 where there is no journal. Rejects with a 503 one where the posts do not come in time, or too
 * many requests wait.
 */
export function createAtLeast(
  current: Current,
): (request: IncomingMessage) => Promise<void> | undefined {
  const waitFor = createWait(current);
  return ({ headers }) => {
    const expected = 'a sequence as Waypost-Sequence has it';
    const wanted = sequenceIn(headers['waypost-at-least'], 'Waypost-At-Least', expected);
    if (wanted === undefined) return undefined;
    if (wanted === 0 || current.generation.delta !== undefined) return waitFor(wanted);
    const detail = `Waypost-At-Least asks for post ${wanted}, and this instance has no journal.`;
    throw new HttpError(503, { detail: `${detail} Leave the header out here.` });
  };
}

/** Returns undefined where the sequence is served. Rejects as {@link createAtLeast} does. */
function createWait(current: Current): (sequence: number) => Promise<void> | undefined {
  let waiting = 0;

  async function wait(wanted: number): Promise<void> {
    if (waiting === MAX_WAITING) throw notThere(`${MAX_WAITING} requests wait for posts already`);
    waiting++;
    try {
      const until = performance.now() + PATIENCE_MS;
      while (servedSequence(current.generation) < wanted) {
        if (performance.now() > until) {
          const served = servedSequence(current.generation);
          throw notThere(`the last post served is ${served}, and ${wanted} was asked for`);
        }
        await delay(LOOK_MS);
      }
    } finally {
      waiting--;
    }
  }

  return (wanted) => (servedSequence(current.generation) >= wanted ? undefined : wait(wanted));
}

/**
 * Makes a function that returns the state of a journal to a reader behind a sequence. An instance
 * of a fleet waits for a sequence that it lacks as {@link createAtLeast} does: another one may have
 * named it. Rejects with a 410 HttpError where posts behind the sequence are not kept, or there is
 * no such post.
 */
export function createKeptState(
  current: Current,
  journal: JournalReader,
): (after: number | undefined) => Promise<JournalState> {
  const waitFor = createWait(current);
  return async (after) => {
    let state = await journal.state();
    if (after === undefined) return state;
    if (after > state.lastSequence && state.lag !== undefined) {
      await waitFor(after)?.catch((error) => {
        if (state.problem !== undefined) throw error;
      });
      state = await journal.state();
    }
    const why = unkept(after, state);
    if (why === undefined) return state;
    throw new HttpError(410, { detail: `${why} Begin with all points, and go on from there.` });
  };
}

function notThere(reason: string): HttpError {
  return tryLater(`The posts asked for are not there yet: ${reason}. Try again in a moment.`);
}
