import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const LOOK_MS = 15;
/** An idle machine needs a second at most; a slow one must not fail. */
const LIMIT_MS = 60_000;

/** Resolves once the condition holds; rejects with `what` after `LIMIT_MS`. */
export async function until(
  what: string,
  holds: () => unknown | Promise<unknown>,
  limitMs: number = LIMIT_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await delay(LOOK_MS);
  }
}

/** Runs a program until it ends, and returns what it wrote. */
export const run: typeof execFile.__promisify__ = promisify(execFile);

/** A promise that `open` resolves. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
