import * as assert from 'uvu/assert';
import { InputError } from '../../src/model/quote.js';

/** The error that work ends in. */
export async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

/** The message of the InputError that work ends in. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await failure(work);
  assert.instance(error, InputError, String(error));
  return error.message;
}

/** The error of a kind that a call throws. */
export function thrownBy<Kind extends Error>(
  kind: abstract new (...given: never[]) => Kind,
  call: () => unknown,
): Kind {
  try {
    call();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
