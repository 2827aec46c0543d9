import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openLoop } from '../generators/open.js';
import { ahead } from '../support/ahead.js';
import { dieTogether } from '../support/service.js';
import type { KINDS } from './clients.js';

/** 99th percentiles of reads in milliseconds, and what they were measured beside. */
export interface ReadRound {
  /** Nothing else. */
  readonly quietMs: number;
  /** Posts that are refused once their fields were looked at. */
  readonly refusedMs: number;
  /** Posts that are accepted. */
  readonly besideMs: number;
  /** Folds that ended meanwhile. */
  readonly folds: number;
}

export const READS_A_SECOND = 1_000;
export const POSTS_A_SECOND = 500;
const READERS = 32;
const WARMUP_SECONDS = 0.5;
/** What is posted while each is measured. */
const POSTED = { quietMs: undefined, refusedMs: 'refused', besideMs: 'accepted' } as const;
const STEADY = join(import.meta.dirname, 'steady.js');

/**
 * Reads evenly at {@link READS_A_SECOND}, without posts and with {@link POSTS_A_SECOND}, which come
 * from a process of their own. The paths go on from one measurement to the next: an answer that was
 * asked for before would come from the cache.
 */
export async function readBesidePosts(
  url: string,
  nextPaths: (count: number) => readonly string[],
  seconds: number,
  round: number,
): Promise<ReadRound> {
  const count = READS_A_SECOND * (WARMUP_SECONDS + seconds);
  const read = async (kind?: keyof typeof KINDS): Promise<number> => {
    const posting = kind && postFrom(url, WARMUP_SECONDS + seconds, kind);
    const [p99] = await Promise.all([readFor(url, nextPaths(count), seconds), posting]);
    return p99;
  };
  const before = await foldsOf(url);
  const measured = { quietMs: 0, refusedMs: 0, besideMs: 0 };
  const kinds = ['quietMs', 'refusedMs', 'besideMs'] as const;
  // each comes first in turn: what another has left to do is not always done beside the same one
  for (let i = 0; i < kinds.length; i++) {
    const key = kinds[(round + i) % kinds.length]!;
    measured[key] = await read(POSTED[key]);
  }
  return { ...measured, folds: (await foldsOf(url)) - before };
}

/** Posts evenly, from another process. */
async function postFrom(url: string, seconds: number, kind: keyof typeof KINDS): Promise<void> {
  const flags = [STEADY, url, String(seconds), String(POSTS_A_SECOND), kind];
  const child = spawn(process.execPath, flags, { stdio: 'inherit' });
  const release = dieTogether(child);
  const [code] = await once(child, 'close');
  release();
  if (code !== 0) throw new Error(`The process that posts ended with ${code}.`);
}

/** Reads evenly. Returns the 99th percentile in milliseconds. */
async function readFor(base: string, paths: readonly string[], seconds: number): Promise<number> {
  const rate = READS_A_SECOND;
  const load = { base, paths, connections: READERS, warmupSeconds: WARMUP_SECONDS, seconds, rate };
  const { latencies, errors } = await ahead(() => openLoop(load));
  const failed = Object.entries(errors);
  if (failed.length > 0) throw new Error(`Reads failed: ${JSON.stringify(errors)}`);
  return latencies.percentiles[99]!;
}

async function foldsOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^waypost_folds_total\{outcome="folded"\} (\d+)/m.exec(text)?.[1] ?? 0);
}
