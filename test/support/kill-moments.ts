import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Random } from '../../src/generate/random.js';
import { MAIN, runCommand, type Service } from './service.js';

/**
 * What kills are aimed at: the journal written anew, accepted points made part of the indexes, or a
 * snapshot made of both by `waypost compact`, which is killed, too.
 */
export type Aim = 'rewrite' | 'fold' | 'compact';

/** How long after its beginning what is aimed at is killed, at most. */
const MOST_STEPS_MS = 8;

/**
 * Waits until what is aimed at has begun, and a moment longer, or for `mostMs`. Returns whether it
 * had begun. What was started for it is gone then.
 */
export async function untilBegun(
  aim: Aim,
  service: Service,
  snapshot: string,
  mostMs: number,
  random: Random,
): Promise<boolean> {
  if (aim === 'fold') return untilFold(service, mostMs);
  const draft = aim === 'rewrite' ? `${basename(snapshot)}.journal.new` : '.waypost-';
  const begun = new AbortController();
  const watcher = watch(dirname(snapshot), (_event, name) => {
    if (name?.startsWith(draft)) begun.abort();
  });
  const compacting = aim === 'compact' ? startCompact(snapshot) : undefined;
  const ended = compacting && once(compacting, 'close');
  await delay(mostMs, undefined, { signal: begun.signal }).catch(() => {});
  // any step of it may be the one that does not come back
  await delay(random.int(MOST_STEPS_MS));
  watcher.close();
  compacting?.kill('SIGKILL');
  await ended;
  return begun.signal.aborted;
}

/** Asserts that what `waypost compact` left is a whole snapshot, where there is one. */
export async function compactedIsWhole(snapshot: string, about: string): Promise<void> {
  const path = compactedFrom(snapshot);
  if (!existsSync(path)) return;
  const { code, stdout, stderr } = await runCommand(['verify', path]);
  assert.is(code, 0, `${about}: ${stdout}${stderr}`);
}

async function untilFold({ logs }: Service, mostMs: number): Promise<boolean> {
  const until = performance.now() + mostMs;
  while (performance.now() < until) {
    if (logs.some(({ msg }) => msg === 'folding accepted points in')) return true;
    await delay(1);
  }
  return false;
}

function startCompact(snapshot: string): ChildProcess {
  const args = ['compact', snapshot, `${snapshot}.journal`, compactedFrom(snapshot)];
  return spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore' });
}

function compactedFrom(snapshot: string): string {
  return `${snapshot}.compacted.waypost`;
}
