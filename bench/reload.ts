import { linkSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type OpenLoad, type OpenRound, openLoop } from './generators/open.js';
import { warmUp } from './generators/wrk.js';
import { surveyPlaces } from './places.js';
import { dealer, MANY_REQUESTS, requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, ndjsonFile, SEED } from './support/data.js';
import { p99 } from './support/histogram.js';
import { ahead, memoryOf } from './support/proc.js';
import {
  type BenchOptions,
  benchCommand,
  positiveNumber,
  runBench,
  say,
  smokeFlags,
} from './support/run.js';
import { startService, temporaryFolder } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, type Table } from './support/table.js';

export interface ReloadResults {
  readonly points: number;
  readonly scenario: string;
  readonly quiet: readonly OpenRound[];
  readonly reloading: readonly OpenRound[];
  /** 99th percentile during reloads beside that without, round by round. */
  readonly ratio: Spread;
  readonly failed: number;
  /** Resident memory a minute after the last reload, beside the size of the NDJSON. */
  readonly memory: number;
}

interface Options extends BenchOptions {
  readonly rate: number;
  readonly scenario: string;
}

const ADMIN_TOKEN = 'bench';
const QUIET_SECONDS = 4;
const IDLE_MS = 60_000;
/** Longer than any reload. */
const NO_END_SECONDS = 3_600;

const command = benchCommand(
  'reload',
  'Measures latencies while snapshots are swapped under load.',
  { points: 1_000_000, connections: 32, rounds: 3 },
)
  .option('--rate <number>', 'requests a second, whatever the answers', positiveNumber, 1_000)
  .option('--scenario <name>', 'what is asked for', 'mix');

/** A quiet stretch and a reload in each round. */
async function benchReload(options: Options): Promise<ReloadResults> {
  const { points, rate, connections, scenario, smoke } = options;
  const files = [await nativeFile(points, SEED), await nativeFile(points, SEED + 1)];
  const folder = temporaryFolder('reload', CACHE);
  const served = join(folder, 'served.waypost');
  linkSync(files[0]!, served);
  const flags = ['--watch', 'off', '--settle', '50ms', '--admin-token', ADMIN_TOKEN];
  const server = await startService(served, [...flags, ...smokeFlags(smoke)]);
  const places = await surveyPlaces(server.url, 500, SEED);
  const paths = requestPaths(scenarioOf(scenario), places, MANY_REQUESTS, SEED);
  const seconds = smoke ? 0.7 : QUIET_SECONDS;
  const deal = dealer(paths);
  const load = (more: Partial<OpenLoad>): Promise<OpenRound> => {
    const own = { paths: deal(paths.length / 10), warmupSeconds: 0 };
    const base = { base: server.url, connections, rate, seconds, pid: server.pid };
    return ahead(() => openLoop({ ...base, ...own, ...more }));
  };
  await warmUp(server.url, paths, smoke);
  const quiet: OpenRound[] = [];
  const reloading: OpenRound[] = [];
  for (let round = 0; round < options.rounds; round++) {
    quiet.push(await load({}));
    // renamed into place, as a batch job does; writing the file here would delay the requests
    linkSync(files[(round + 1) % files.length]!, `${served}.tmp`);
    renameSync(`${served}.tmp`, served);
    const over = new AbortController();
    const asked = load({ seconds: NO_END_SECONDS, signal: over.signal });
    await reload(server.url).finally(() => over.abort());
    reloading.push(await asked);
    say(`${round + 1}/${options.rounds} reloads: ${digits(reloading.at(-1)!.seconds)} s`);
  }
  const failed = [...quiet, ...reloading].flatMap(({ errors }) => Object.values(errors));
  if (failed.length > 0) process.exitCode = 1;
  const ratio = ratiosOf(reloading.map(p99), quiet.map(p99));
  await delay(smoke ? 0 : IDLE_MS);
  const memory = (memoryOf(server.pid)?.rss ?? 0) / statSync(await ndjsonFile(points, SEED)).size;
  const total = failed.reduce((a, b) => a + b, 0);
  return { points, scenario, quiet, reloading, ratio, failed: total, memory };
}

async function reload(url: string): Promise<void> {
  const answer = await fetch(`${url}/admin/reload?wait`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { stale, reason } = (await answer.json()) as { stale: boolean; reason?: string };
  if (!answer.ok || stale) throw new Error(`The reload failed: ${answer.status} ${reason}`);
}

export function reloadTables(results: ReloadResults): Table[] {
  const { points, scenario, quiet, reloading, ratio, failed, memory } = results;
  const row = (name: string, rounds: readonly OpenRound[]): string[] => [
    name,
    digits(rounds.reduce((sum, { requests }) => sum + requests, 0)),
    ...['50', '90', '99', '99.9'].map((p) =>
      digits(spreadOf(rounds.map(({ latencies }) => latencies.percentiles[p]!)).mean),
    ),
    digits(Math.max(...rounds.map(({ latencies }) => latencies.max))),
  ];
  const lateness = Math.max(...[...quiet, ...reloading].map((round) => round.lateness));
  return [
    {
      title: 'Reloads under load',
      note:
        `${scenario}, ${digits(quiet[0]!.rate)} requests/s, ${digits(points)} points, ${quiet.length} reloads: ` +
        `p99 ${digits(ratio.median)} ± ${digits(ratio.deviation)} × that without, ${failed} requests failed. ` +
        `A minute later ${digits(memory)} × the NDJSON is resident. The generator was at most ${digits(lateness)} ms late (p99).`,
      head: ['ms', 'requests', 'p50', 'p90', 'p99', 'p99.9', 'max'],
      rows: [row('without', quiet), row('reloading', reloading)],
    },
  ];
}

const smoke = { points: 5_000, rounds: 2, rate: 200 };
await runBench(import.meta, command, { smoke, run: benchReload, tables: reloadTables });
