import { type Callback, test as suite } from 'uvu';
import * as all from 'uvu/assert';

/** Adds a test to those of the file, which the runner runs. */
export const test: typeof suite = suite;
export const assert: typeof all = all;

/** A test that is skipped when there is a reason to; the runner shows the reason. */
export function testUnless(reason: string | undefined, name: string, run: Callback): void {
  if (reason === undefined) {
    test(name, run);
    return;
  }
  console.log(`skipped: ${name}: ${reason}`);
  test.skip(name, run);
}
