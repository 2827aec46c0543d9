import { type Callback, test as suite } from 'uvu';
import * as all from 'uvu/assert';
import { InputError } from '../../src/model/quote.js';
import * as folder from './folder.js';
import * as wait from './wait.js';

export const test: typeof suite = suite;
export const assert: typeof all = all;
export const until: typeof wait.until = wait.until;
export const makeFolder: typeof folder.makeFolder = folder.makeFolder;
export const makeFile: typeof folder.makeFile = folder.makeFile;

/** Whether tests may take minutes. `--soak` runs the files that import this, too. */
export const IS_SOAK: boolean = process.env['TEST_KIND'] === 'soak';

/** The number of random rounds to make: all in a soak, else a fifth. */
export function rounds(many: number): number {
  return IS_SOAK ? many : Math.ceil(many / 5);
}

// the runner does this after all hooks; a file that runs alone would not end
if (process.send === undefined) test.after(folder.closeAll);

/** Adds a test that is skipped where there is a reason, which the runner prints. */
export function testUnless(reason: string | undefined, name: string, run: Callback): void {
  if (reason === undefined) {
    test(name, run);
    return;
  }
  console.log(`skipped: ${name}: ${reason}`);
  test.skip(name, run);
}

/** Cells of a text, separated by blanks; rows end at a bar or a line's end. */
export function table(text: string): string[][] {
  const rows = text.trim().split(/\s*[|\n]\s*/);
  return rows.map((row) => row.split(/ +/));
}

export function pluck<Row extends object, Key extends keyof Row>(
  rows: Iterable<Row>,
  key: Key,
): Row[Key][] {
  return Array.from(rows, (row) => row[key]);
}

export function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}

export async function failure(work: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

export async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await failure(work);
  assert.instance(error, InputError, String(error));
  return error.message;
}

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
