import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { openLoop } from '../generators/open.js';
import { fullLoop } from '../generators/wrk.js';
import { LIST, surveyPlaces } from '../places.js';
import { dealer, MANY_REQUESTS, requestPaths, scenarioOf } from '../scenarios.js';
import { p99 } from '../support/histogram.js';
import { ahead } from '../support/proc.js';
import type { BenchOptions } from '../support/run.js';
import { dieTogether } from '../support/service.js';

/** In the emptiest sea: else some of the small boxes that are read would hold ever more points. */
export const POST_BODY: string = JSON.stringify({
  ...{ lat: '-48.8767', lon: '-123.3933' },
  ...{ comment: 'The bench is broken.', tags: ['Repair'] },
});

/** Posts in a closed loop. Returns the posts accepted a second; throws when one is refused. */
export async function postFor(base: string, seconds: number, connections: number): Promise<number> {
  const load = { base, paths: [POST_BODY], postTo: LIST, connections, warmupSeconds: 0, seconds };
  const { perSecond, errors } = await fullLoop(load);
  if (Object.keys(errors).length > 0) throw new Error(`Posts failed: ${JSON.stringify(errors)}`);
  return perSecond;
}

/** 99th percentiles of reads in milliseconds: alone, and beside posts; and merges meanwhile. */
export interface ReadRound {
  readonly quietMs: number;
  readonly besideMs: number;
  readonly merges: number;
}

export const READS_A_SECOND = 1_000;
export const POSTS_A_SECOND = 500;
const READERS = 32;
const WARMUP_SECONDS = 0.5;
const STEADY = join(import.meta.dirname, 'steady.js');

/**
 * Reads evenly at {@link READS_A_SECOND}, without posts and with {@link POSTS_A_SECOND}, which come
 * from a process of their own. Each measurement takes new paths: a repeated one would be answered
 * from the cache. Posts go to `postTo`, which may be another instance.
 */
export async function readBesidePosts(
  url: string,
  nextPaths: (count: number) => readonly string[],
  seconds: number,
  round: number,
  postTo: string = url,
): Promise<ReadRound> {
  const count = READS_A_SECOND * (WARMUP_SECONDS + seconds);
  const before = await mergesOf(url);
  const alone = (): Promise<number> => readFor(url, nextPaths(count), seconds);
  const beside = async (): Promise<number> => {
    const posting = postFrom(postTo, WARMUP_SECONDS + seconds);
    const [p99] = await Promise.all([alone(), posting]);
    return p99;
  };
  // which comes first alternates: work that one leaves behind slows the next
  const first = await (round % 2 === 0 ? alone() : beside());
  const second = await (round % 2 === 0 ? beside() : alone());
  const [quietMs, besideMs] = round % 2 === 0 ? [first, second] : [second, first];
  return { quietMs, besideMs, merges: (await mergesOf(url)) - before };
}

/** Deals out small boxes around points of a server: none again before its cache has forgotten it. */
export async function dealReads(
  url: string,
  { seed, smoke }: BenchOptions,
): Promise<(count: number) => string[]> {
  const places = await surveyPlaces(url, smoke ? 40 : 400, seed);
  return dealer(requestPaths(scenarioOf('small-box'), places, MANY_REQUESTS, seed));
}

async function postFrom(url: string, seconds: number): Promise<void> {
  const flags = [STEADY, url, String(seconds), String(POSTS_A_SECOND)];
  const code = await dieTogether(spawn(process.execPath, flags, { stdio: 'inherit' }));
  if (code !== 0) throw new Error(`The process that posts ended with ${code}.`);
}

/** Reads evenly. Returns the 99th percentile in milliseconds. */
export async function readFor(
  base: string,
  paths: readonly string[],
  seconds: number,
): Promise<number> {
  const rate = READS_A_SECOND;
  const load = { base, paths, connections: READERS, warmupSeconds: WARMUP_SECONDS, seconds, rate };
  const round = await ahead(() => openLoop(load));
  const { errors } = round;
  if (Object.keys(errors).length > 0) throw new Error(`Reads failed: ${JSON.stringify(errors)}`);
  return p99(round);
}

async function mergesOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^waypost_folds_total\{outcome="folded"\} (\d+)/m.exec(text)?.[1] ?? 0);
}
