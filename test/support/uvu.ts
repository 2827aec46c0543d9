import { type Callback, test as suite } from 'uvu';
import * as all from 'uvu/assert';
import { InputError } from '../../src/model/quote.js';
import * as folder from './folder.js';
import * as wait from './wait.js';

/** Adds a test to those of the file, whose last line runs them: `test.run()`. */
export const test: typeof suite = suite;
export const assert: typeof all = all;
export const until: typeof wait.until = wait.until;
export const makeFolder: typeof folder.makeFolder = folder.makeFolder;

/** Whether minutes may be taken: `--soak` has the runner run the files that ask this, too. */
export const IS_SOAK: boolean = process.env['TEST_KIND'] === 'soak';

/** How many of so many random rounds are made: a fifth where minutes may not be taken. */
export function rounds(many: number): number {
  return IS_SOAK ? many : Math.ceil(many / 5);
}

// the runner does so behind all hooks of a file; one that runs by itself would not end
if (process.send === undefined) test.after(folder.closeAll);

/** A test that is skipped when there is a reason to; the runner shows the reason. */
export function testUnless(reason: string | undefined, name: string, run: Callback): void {
  if (reason === undefined) {
    test(name, run);
    return;
  }
  console.log(`skipped: ${name}: ${reason}`);
  test.skip(name, run);
}

/** Rows of a text, which end at a bar or a line's end, as cells, which blanks separate. */
export function table(text: string): string[][] {
  const rows = text.trim().split(/\s*[|\n]\s*/);
  return rows.map((row) => row.split(/ +/));
}

/** What each of these has under a key. */
export function pluck<Row extends object, Key extends keyof Row>(
  rows: Iterable<Row>,
  key: Key,
): Row[Key][] {
  return Array.from(rows, (row) => row[key]);
}

/** A copy of numbers, the least first. */
export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}

/** The error that work ends in. */
export async function failure(work: Promise<unknown>): Promise<NodeJS.ErrnoException> {
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
