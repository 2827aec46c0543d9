import { linkSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS, type Attack, attackOf } from './attacks/kinds.js';
import { askOrdinarily, type Ordinary, ordinaryPaths } from './attacks/ordinary.js';
import type { Tally } from './attacks/sockets.js';
import { startAttack } from './attacks/start.js';
import { surveyPlaces } from './places.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { memoryOf } from './support/proc.js';
import {
  type BenchOptions,
  benchCommand,
  names,
  positiveNumber,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import { type Server, startService } from './support/service.js';
import { digits, textTable } from './support/table.js';

/** What bench/attacks writes, for each attack. */
export interface AttackResult {
  readonly attack: string;
  readonly title: string;
  readonly points: number;
  /** Ordinary clients before and after the attack, and while it runs. */
  readonly without: Ordinary;
  readonly during: Ordinary;
  /** 99th percentile during the attack beside that without. */
  readonly ratio: number;
  /** Requests of ordinary clients that were refused or failed during the attack. */
  readonly failed: number;
  /**
   * Bytes of memory that the service has more after the attack than before; at most, while it ran.
   */
  readonly growth: number;
  readonly peakGrowth: number;
  readonly tally: Tally;
}

interface Options extends BenchOptions {
  readonly points: number;
  readonly attacks?: readonly string[];
  readonly seconds: number;
  readonly rate: number;
  readonly seed: number;
}

/** As many as a service on two cores should not notice. */
const CLIENTS = 8;
const WARMUP_SECONDS = 1;
/** What an attack takes beyond its measured seconds, at most. */
const SPARE_SECONDS = 30;
const MEMORY_LOOK_MS = 100;
const PATHS = 20_000;

const command = benchCommand(
  'attacks',
  'Measures ordinary clients while the service is attacked.',
  {
    points: 1_000_000,
    seconds: 6,
    seed: SEED,
  },
)
  .option('--attacks <names>', `with commas: ${ATTACKS.map((one) => one.name)}`, names)
  .option('--rate <number>', `requests a second of each of ${CLIENTS} clients`, positiveNumber, 25);

/** A service that is to be attacked, and what ordinary clients ask it for. */
interface Arena {
  readonly server: Server;
  /** The folder that it watches. */
  readonly folder: string;
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/** Entry: each attack against a service of its own, one after the other. */
async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, points: 20_000, seconds: 0.4 } : given;
  const attacks = options.attacks?.map(attackOf) ?? ATTACKS;
  const results: AttackResult[] = [];
  // what is measured must not suffer from the attack before; a smoke test has no such worries
  const shared = options.smoke ? await openArena([], options) : undefined;
  try {
    for (const attack of attacks) {
      const arena =
        shared !== undefined && attack.flags === undefined
          ? { ...shared, close: async () => {} }
          : await openArena(attack.flags ?? [], options);
      try {
        const result = await benchAttack(attack, arena, options);
        results.push(result);
        say(`${attack.name}: ${digits(result.ratio)} × p99, ${result.failed} failed`);
      } finally {
        await arena.close();
      }
    }
  } finally {
    await shared?.close();
  }
  console.log(attackTable(results));
  writePart(options.json, typedCommand('attacks'), results);
  if (options.smoke) checkSmoke(results);
}

/**
 * Everything but speed: each attack took place, and no ordinary client suffered more than a delay.
 */
function checkSmoke(results: readonly AttackResult[]): void {
  for (const { attack, failed, during, tally } of results) {
    if (tally.opened + tally.sent === 0) throw new Error(`The attack ${attack} did nothing.`);
    const kinds = Object.keys(during.errors).join(', ');
    if (failed > 0)
      throw new Error(`${failed} ordinary requests failed during ${attack}: ${kinds}`);
  }
}

async function openArena(flags: readonly string[], options: Options): Promise<Arena> {
  const { points, seed, smoke } = options;
  const file = await nativeFile(points);
  const folder = mkdtempSync(join(CACHE, 'attack-'));
  linkSync(file, join(folder, 'points.waypost'));
  const server = await startService(folder, ['--settle', '50ms', ...flags]);
  const close = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const places = await surveyPlaces(server.url, smoke ? 40 : 200, seed);
    const paths = ordinaryPaths(places, smoke ? 500 : PATHS, seed);
    return { server, folder, paths, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Measures half of the quiet time before the attack and half after it. */
async function benchAttack(
  attack: Attack,
  { server, folder, paths }: Arena,
  { points, seconds, rate, seed, smoke }: Options,
): Promise<AttackResult> {
  const load = { base: server.url, clients: CLIENTS, rate, paths };
  await askOrdinarily({ ...load, seconds: smoke ? 0.2 : WARMUP_SECONDS });
  const before = await askOrdinarily({ ...load, seconds: seconds / 2 });
  if (attack.isLogUnread) server.pauseLog();
  const memory = watchMemory(server.pid);
  const running = await startAttack({
    attack: attack.name,
    port: Number(new URL(server.url).port),
    folder,
    points,
    seed,
    maxSeconds: seconds + SPARE_SECONDS,
  });
  const during = await askOrdinarily({ ...load, seconds });
  const tally = await running.end();
  await delay(smoke ? 20 : 500);
  const { growth, peakGrowth } = memory.end();
  const after = await askOrdinarily({ ...load, seconds: seconds / 2 });
  const p99 = (one: Ordinary): number => one.latencies.percentiles['99']!;
  // the quieter half: what is left of an attack must not excuse it
  const without = p99(before) < p99(after) ? before : after;
  return {
    attack: attack.name,
    title: attack.title,
    points,
    without,
    during,
    ratio: p99(during) / p99(without),
    failed: Object.values(during.errors).reduce((sum, count) => sum + count, 0),
    growth,
    peakGrowth,
    tally,
  };
}

/** Looks at the memory of a service again and again. */
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

function attackTable(results: readonly AttackResult[]): string {
  const head = [
    'attack',
    'p99 ms without',
    'with',
    'ratio',
    'max ms',
    'failed',
    'of',
    'MB more',
    'at most',
    'attacker sent',
  ];
  const megabytes = (bytes: number): string => digits(Math.round(bytes / 1e6));
  const rows = results.map(({ attack, without, during, ratio, failed, ...rest }) => [
    attack,
    digits(without.latencies.percentiles['99']!),
    digits(during.latencies.percentiles['99']!),
    digits(ratio),
    digits(during.latencies.max),
    failed === 0 ? '0' : `${failed} (${Object.keys(during.errors).join(', ')})`,
    digits(during.latencies.count),
    megabytes(rest.growth),
    megabytes(rest.peakGrowth),
    digits(rest.tally.sent + rest.tally.opened),
  ]);
  return textTable(head, rows);
}

await runMain(import.meta, main);
