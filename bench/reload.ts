import { linkSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openLoop, type Sample } from './generators/open.js';
import { surveyPlaces } from './places.js';
import { makeTimeline, type Span, type Tick } from './reload/timeline.js';
import { MANY_REQUESTS, requestPaths, scenarioOf } from './scenarios.js';
import { CACHE, nativeFile, SEED } from './support/data.js';
import { type Latencies, LatencyHistogram } from './support/histogram.js';
import {
  type BenchOptions,
  benchCommand,
  positive,
  positiveNumber,
  runMain,
  say,
  smokeFlags,
  typedCommand,
  writePart,
} from './support/run.js';
import { startService } from './support/service.js';
import { digits, textTable } from './support/table.js';

/** What bench/reload writes. */
export interface ReloadResults {
  readonly points: number;
  readonly rate: number;
  readonly scenario: string;
  readonly quiet: Latencies;
  readonly reloading: Latencies;
  /** 99th percentile during reloads beside that without. */
  readonly ratio: number;
  readonly failed: number;
  readonly requests: number;
  /** How late the generator sent, in milliseconds, 99th percentile. */
  readonly lateness: number;
  readonly reloads: readonly Span[];
  readonly timeline: readonly Tick[];
}

interface Options extends BenchOptions {
  readonly points: number;
  readonly reloads: number;
  readonly rate: number;
  readonly connections: number;
  readonly scenario: string;
}

const ADMIN_TOKEN = 'bench';
const WARMUP_SECONDS = 3;
const SMOKE_WARMUP_SECONDS = 0.3;
/** Quiet time before, between and after reloads, in milliseconds. */
const QUIET_MS = 4_000;
/** Longer than any run. */
const NO_END_SECONDS = 3_600;

const command = benchCommand(
  'reload',
  'Measures latencies while snapshots are swapped under load.',
  {
    points: 1_000_000,
    connections: 32,
  },
)
  .option('--reloads <number>', 'how many reloads', positive, 4)
  .option('--rate <number>', 'requests a second, whatever the answers', positiveNumber, 1_000)
  .option('--scenario <name>', 'what is asked for', 'mix');

/** Entry: quiet stretches and reloads take turns in one run. */
async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, points: 5_000, reloads: 2, rate: 200 } : given;
  const results = await benchReload(options);
  console.log(reloadTable(results));
  writePart(options.json, typedCommand('reload'), results);
  if (results.failed > 0) process.exitCode = 1;
}

async function benchReload(options: Options): Promise<ReloadResults> {
  const { points, rate, connections } = options;
  const files = [await nativeFile(points, SEED), await nativeFile(points, SEED + 1)];
  const folder = mkdtempSync(join(CACHE, 'reload-'));
  const served = join(folder, 'served.waypost');
  linkSync(files[0]!, served);
  const flags = ['--watch', 'off', '--settle', '50ms', '--admin-token', ADMIN_TOKEN];
  const server = await startService(served, [...flags, ...smokeFlags(options.smoke)]);
  const ended = new AbortController();
  try {
    const places = await surveyPlaces(server.url, 500, SEED);
    const paths = requestPaths(scenarioOf(options.scenario), places, MANY_REQUESTS, SEED);
    const samples: Sample[] = [];
    const warmupSeconds = options.smoke ? SMOKE_WARMUP_SECONDS : WARMUP_SECONDS;
    const began = performance.now() + warmupSeconds * 1000;
    const load = openLoop({
      base: server.url,
      paths,
      connections,
      rate,
      warmupSeconds,
      seconds: NO_END_SECONDS,
      pid: server.pid,
      onSample: (sample) => samples.push(sample),
      signal: ended.signal,
    });
    const quietMs = options.smoke ? 700 : QUIET_MS;
    await delay(warmupSeconds * 1000 + quietMs);
    const reloads: Span[] = [];
    for (let i = 0; i < options.reloads; i++) {
      // as a batch job does, but for the writing, which would keep this process from sending
      linkSync(files[(i + 1) % files.length]!, `${served}.tmp`);
      renameSync(`${served}.tmp`, served);
      const from = performance.now() - began;
      await reload(server.url);
      const to = performance.now() - began;
      reloads.push({ from, to });
      say(`${i + 1}/${options.reloads} reloads: ${digits((to - from) / 1000)} s`);
      await delay(quietMs);
    }
    ended.abort();
    const round = await load;
    const failed = Object.values(round.errors).reduce((sum, count) => sum + count, 0);
    return summarize(options, samples, reloads, { failed, lateness: round.lateness });
  } finally {
    ended.abort();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function reload(url: string): Promise<void> {
  const answer = await fetch(`${url}/admin/reload?wait`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const { stale, reason } = (await answer.json()) as { stale: boolean; reason?: string };
  if (!answer.ok || stale) throw new Error(`The reload failed: ${answer.status} ${reason}`);
}

function summarize(
  { points, rate, scenario }: Options,
  samples: readonly Sample[],
  reloads: readonly Span[],
  counted: { failed: number; lateness: number },
): ReloadResults {
  const quiet = new LatencyHistogram();
  const reloading = new LatencyHistogram();
  for (const { due, milliseconds } of samples) {
    // a request belongs to a reload when any of its life does
    const isDuring = reloads.some(({ from, to }) => due <= to && due + milliseconds >= from);
    (isDuring ? reloading : quiet).record(milliseconds);
  }
  return {
    points,
    rate,
    scenario,
    quiet: quiet.summary(),
    reloading: reloading.summary(),
    ratio: reloading.percentile(99) / quiet.percentile(99),
    requests: samples.length,
    ...counted,
    reloads,
    timeline: makeTimeline(samples),
  };
}

function reloadTable(results: ReloadResults): string {
  const row = (name: string, { count, mean, max, percentiles }: Latencies): string[] => [
    name,
    digits(count),
    digits(mean),
    ...['50', '90', '99', '99.9'].map((p) => digits(percentiles[p]!)),
    digits(max),
  ];
  const head = ['', 'requests', 'mean ms', 'p50', 'p90', 'p99', 'p99.9', 'max'];
  const rows = [row('without', results.quiet), row('reloading', results.reloading)];
  return [
    `${results.scenario}, ${digits(results.rate)} requests/s, ${digits(results.points)} points`,
    textTable(head, rows),
    `p99 during reloads beside p99 without: ${digits(results.ratio)}; failed requests: ` +
      `${results.failed} of ${digits(results.requests)}; the generator was at most ` +
      `${digits(results.lateness)} ms late (p99)`,
  ].join('\n');
}

await runMain(import.meta, main);
