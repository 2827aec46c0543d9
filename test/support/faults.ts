import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, workerData } from 'node:worker_threads';
import { until } from './wait.js';

/** The environment variable that names the folder where tests put orders. */
const FOLDER = 'FAULT_FOLDER';
const LOOK_MS = 20;
/** A thread that begins to hang writes this into its order. */
const HANGING = 'hanging';

type Victim = 'main' | `thread-${number}`;

/** The environment of a service whose threads can be made to fail. */
export function faultEnvironment(folder: string): Record<string, string> {
  return { [FOLDER]: folder, NODE_OPTIONS: `--import=${import.meta.url}` };
}

/** Throws an uncaught exception in a thread. */
export function killThread(folder: string, victim: Victim): void {
  writeFileSync(join(folder, `${victim}-dies`), '');
}

/** Resolves once the thread hangs; the returned function ends that. */
export async function occupyThread(folder: string, victim: Victim): Promise<() => void> {
  const path = join(folder, `${victim}-hangs`);
  writeFileSync(path, '');
  await until(`${victim} hangs`, () => readFileSync(path, 'utf8') === HANGING);
  return () => rmSync(path, { force: true });
}

/** The environment variable for how many milliseconds a service's clock is ahead. */
const AHEAD = 'CLOCK_AHEAD_MS';
/** The interval at which a service prunes day-old keys, and its replacement. */
const [PRUNE_MS, EARLY_MS] = [60_000, 50];

/** The environment of a service whose clock is ahead and which prunes every `EARLY_MS`. */
export function aheadBy(ms: number): Record<string, string> {
  return { [AHEAD]: String(ms), NODE_OPTIONS: `--import=${import.meta.url}` };
}

// the rest runs in each thread of the service, before its own code

const folder = process.env[FOLDER];
if (folder !== undefined) {
  const { thread } = (workerData ?? {}) as { thread?: number };
  if (isMainThread ? process.send !== undefined : thread !== undefined) {
    const victim = isMainThread ? 'main' : (`thread-${thread!}` as const);
    setInterval(() => obey(folder, victim), LOOK_MS).unref();
  }
}

function obey(orders: string, victim: Victim): void {
  const [dies, hangs] = [join(orders, `${victim}-dies`), join(orders, `${victim}-hangs`)];
  if (existsSync(dies)) {
    rmSync(dies);
    throw new Error('a fault that a test asked for');
  }
  if (existsSync(hangs)) writeFileSync(hangs, HANGING);
  while (existsSync(hangs)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
}

const ahead = Number(process.env[AHEAD]);
if (process.env[AHEAD] !== undefined) {
  const { now } = Date;
  Date.now = () => now() + ahead;
  const origin = performance.timeOrigin + ahead;
  Object.defineProperty(performance, 'timeOrigin', { value: origin });
  const repeat = globalThis.setInterval;
  globalThis.setInterval = ((work: () => void, ms: number) =>
    repeat(work, ms === PRUNE_MS ? EARLY_MS : ms)) as typeof setInterval;
}
