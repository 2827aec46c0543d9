import { type Callback, test } from 'uvu';

/** A test that is skipped when there is a reason to; the runner shows the reason. */
export function testUnless(reason: string | undefined, name: string, run: Callback): void {
  if (reason === undefined) {
    test(name, run);
    return;
  }
  console.log(`skipped: ${name}: ${reason}`);
  test.skip(name, run);
}
