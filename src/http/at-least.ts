import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { quote } from '../model/quote.js';
import type { Current } from '../reload/current.js';
import { servedSequence } from '../reload/generation.js';
import { HttpError, tryLater } from './request/http-error.js';

/** Header of a request that is to be answered from a state which has a sequence of the journal. */
export const AT_LEAST = 'waypost-at-least';
const PATIENCE_MS = 1_000;
/** Between two looks whether the sequence is there. */
const LOOK_MS = 5;
/** Requests of a thread that may wait at the same time. */
const MAX_WAITING = 256;

/**
 * Makes a function that waits until the posts are served that a request asks for. It returns
 * undefined where nothing is to be waited for. Throws, or rejects with, a 400 HttpError for what is
 * no sequence, and a 503 one where the posts do not come in time or too many requests wait.
 */
export function createAtLeast(
  current: Current,
): (request: IncomingMessage) => Promise<void> | undefined {
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

  return ({ headers }) => {
    const header = headers[AT_LEAST];
    if (header === undefined) return undefined;
    const text = String(header);
    if (!/^\d{1,15}$/.test(text)) {
      const detail = `Got Waypost-At-Least ${quote(text)}. Expected a sequence as Waypost-Sequence has it, such as 17.`;
      throw new HttpError(400, { detail });
    }
    const wanted = Number(text);
    return servedSequence(current.generation) >= wanted ? undefined : wait(wanted);
  };
}

function notThere(reason: string): HttpError {
  return tryLater(`The posts asked for are not there yet: ${reason}. Try again in a moment.`);
}
