import { setTimeout as delay } from 'node:timers/promises';
import { openLoop, type Post } from '../generators/open.js';
import type { Round } from '../generators/types.js';
import { p99 } from '../support/histogram.js';
import { ahead, memoryOf } from '../support/proc.js';
import type { BenchOptions } from '../support/run.js';
import type { Server } from '../support/service.js';
import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import type { Attack } from './material.js';
import { emptyTally, type Tally } from './sockets.js';
import { startAttack } from './start.js';

/** A service that is to be attacked, and what ordinary clients ask it for. */
export interface Arena {
  readonly server: Server;
  /** The folder that the service watches. */
  readonly folder: string;
  readonly paths: readonly (string | Post)[];
}

/** `seconds` is the length of each half of a round: without the attack, and with it. */
export interface Measuring extends BenchOptions {
  /** Requests a second of each ordinary client. */
  readonly rate: number;
}

/** What bench/attacks writes, for each attack. */
export interface AttackResult {
  readonly attack: string;
  /** 99th percentiles in milliseconds, round by round: without the attack and with it. */
  readonly without: Spread;
  readonly during: Spread;
  /** `during` divided by `without`, round by round. */
  readonly ratio: Spread;
  /** The slowest answer while the attack ran, in milliseconds. */
  readonly slowest: number;
  /** Requests of ordinary clients that were answered while the attack ran. */
  readonly asked: number;
  /** Requests of ordinary clients that were refused or failed, and how. */
  readonly failed: number;
  readonly failures: readonly string[];
  /** Growth of the service's memory in bytes: after the attacks, and at its peak. */
  readonly growth: number;
  readonly peakGrowth: number;
  /** Of the last round's attacker. */
  readonly tally: Tally;
}

/** Number of ordinary clients, few enough for a service on two cores. */
export const CLIENTS = 8;
const WARMUP_SECONDS = 1;
/** Longest wait of an ordinary client. */
const TIMEOUT_MS = 5_000;
/** How long after its measured seconds an attacker ends by itself. */
const SPARE_SECONDS = 30;
const MEMORY_LOOK_MS = 100;
/** Time for the service to find out that the connections of an attack are gone. */
const REST_MS = 300;

/** Measures in rounds, without the attack and with it: what slows the machine slows both. */
export async function benchAttack(
  attack: Attack,
  { server, folder, paths }: Arena,
  { points, rounds, seconds, rate, seed, smoke }: Measuring,
): Promise<AttackResult> {
  const load = {
    ...{ base: server.url, paths, warmupSeconds: 0, timeout: TIMEOUT_MS },
    // a connection each
    ...{ connections: CLIENTS, rate: CLIENTS * rate },
  };
  const ask = (length: number): Promise<Round> =>
    ahead(() => openLoop({ ...load, seconds: length }));
  await ask(smoke ? 0.2 : WARMUP_SECONDS);
  const memory = watchMemory(server.pid);
  const without: Round[] = [];
  const during: Round[] = [];
  let tally = emptyTally();
  for (let round = 0; round < rounds; round++) {
    without.push(await ask(seconds));
    if (attack.isLogUnread) server.pauseLog();
    const running = await startAttack({
      attack: attack.name,
      port: Number(new URL(server.url).port),
      folder,
      points,
      seed: seed + round,
      maxSeconds: seconds + SPARE_SECONDS,
    });
    during.push(await ask(seconds));
    tally = await running.end();
    await delay(smoke ? 20 : REST_MS);
  }
  const failures = during.map(({ errors }) => errors);
  return {
    attack: attack.name,
    without: spreadOf(without.map(p99)),
    during: spreadOf(during.map(p99)),
    ratio: ratiosOf(during.map(p99), without.map(p99)),
    slowest: Math.max(...during.map(({ latencies }) => latencies.max)),
    asked: during.reduce((sum, { latencies }) => sum + latencies.count, 0),
    failed: failures.flatMap(Object.values).reduce((sum, count: number) => sum + count, 0),
    failures: [...new Set(failures.flatMap(Object.keys))],
    ...memory.end(),
    tally,
  };
}

function watchMemory(pid: number): { end(): { growth: number; peakGrowth: number } } {
  const look = (): number => memoryOf(pid)?.rss ?? 0;
  const before = look();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, look());
  }, MEMORY_LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      const after = look();
      return { growth: after - before, peakGrowth: Math.max(peak, after) - before };
    },
  };
}
