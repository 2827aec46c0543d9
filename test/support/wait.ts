import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 15;
/** What is awaited comes in a second on an idle machine; one of a tenth of the speed is no fault. */
const LIMIT_MS = 60_000;

/** Resolves once the condition holds; rejects with `what` was awaited when that takes too long. */
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

/** What others wait for until it is opened. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
