import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { LIST, surveyPlaces } from './places.js';
import { READS_A_SECOND, readFor } from './post/reads.js';
import { dealer, requestPaths, scenarioOf } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import { memoryOf } from './support/proc.js';
import { type BenchOptions, benchCommand, runBench, say, smokeFlags } from './support/run.js';
import { type Server, startServer, startService, temporaryFolder } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, type Table } from './support/table.js';

interface Options extends BenchOptions {
  readonly points: number;
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

/** What a round measured. */
interface ExportRound {
  /** Megabytes a second of an export as NDJSON, and of a bare Fastify route that streams them. */
  readonly export: number;
  readonly bare: number;
  /** 99th percentiles of reads in milliseconds: alone, and beside the slow readers. */
  readonly quietMs: number;
  readonly besideMs: number;
  /** Bytes that the service had more in memory with the slow readers. */
  readonly memory: number;
}

/** What bench/export writes. */
export interface ExportResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly ExportRound[];
}

const EXPORT = '/export/points.ndjson';
const PEER = join(import.meta.dirname, 'peers/server.js');
const SLOW = join(import.meta.dirname, 'export/slow-readers.js');
const DIFFERENT_READS = 100_000;
const SMOKE = { points: 5_000, connections: 4, seconds: 0.5, rounds: 1 };

const command = benchCommand(
  'export',
  'Measures an export beside a bare stream of the same bytes, and reads beside slow readers.',
  { points: 1_000_000, connections: 200, seconds: 6, rounds: 3, seed: SEED },
);

async function benchExports(options: Options): Promise<ExportResults> {
  const { points, connections, seconds, seed } = options;
  const servers: Server[] = [];
  const start = async (server: Promise<Server>): Promise<Server> => {
    servers.push(await server);
    return servers.at(-1)!;
  };
  try {
    const service = await start(
      startService(await nativeFile(points, seed), smokeFlags(options.smoke)),
    );
    const { url, pid } = service;
    const file = join(temporaryFolder('export'), 'points.ndjson');
    writeFileSync(file, Buffer.concat(await chunksOf(url + EXPORT)));
    const bare = await start(startServer(PEER, ['file', file]));
    const places = await surveyPlaces(url, options.smoke ? 40 : 400, seed);
    const paths = requestPaths(scenarioOf('small-box'), places, DIFFERENT_READS, seed);
    const deal = dealer(paths);
    const reads = (): Promise<number> =>
      readFor(url, deal(Math.ceil(READS_A_SECOND * (seconds + 1))), seconds);
    const rounds: ExportRound[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      say(`round ${round}`);
      const measured = { bare: await paceOf(bare.url + LIST), export: await paceOf(url + EXPORT) };
      const quietMs = await reads();
      const before = memoryOf(pid)?.rss ?? 0;
      const slow = await startServer(SLOW, [url + EXPORT, String(connections)]);
      const besideMs = await reads();
      const memory = (memoryOf(pid)?.rss ?? 0) - before;
      await slow.stop();
      rounds.push({ ...measured, quietMs, besideMs, memory });
    }
    return { points, connections, rounds };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Megabytes a second of an answer whose reader keeps up. */
async function paceOf(url: string): Promise<number> {
  const started = performance.now();
  const chunks = await chunksOf(url);
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return bytes / 1000 / (performance.now() - started);
}

function chunksOf(url: string): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(chunks));
      answer.on('error', reject);
    }).on('error', reject);
  });
}

const MEBIBYTE = 2 ** 20;

/** A line for each figure and each ratio of the rounds. */
export function exportTables({ points, connections, rounds }: ExportResults): Table[] {
  const values = (key: keyof ExportRound): number[] => rounds.map((one) => one[key]);
  const row = (name: string, { min, mean, max, deviation }: Spread): string[] => {
    return [name, ...[min, mean, max, deviation].map(digits)];
  };
  const rows = [
    row('export as NDJSON, MB a second', spreadOf(values('export'))),
    row('the same bytes by bare Fastify', spreadOf(values('bare'))),
    row('  export beside that', exportRatio(rounds, 'export', 'bare')),
    row(`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, spreadOf(values('quietMs'))),
    row(`the same beside ${connections} slow readers, ms`, spreadOf(values('besideMs'))),
    row('  beside to without', exportRatio(rounds, 'besideMs', 'quietMs')),
    row('memory more with them, MiB', spreadOf(values('memory').map((one) => one / MEBIBYTE))),
  ];
  const note = `${digits(points)} points, ${rounds.length} rounds. A slow reader takes 128 KiB a second. Bare Fastify streams a file.`;
  return [{ title: 'Exports', note, head: ['what', 'least', 'mean', 'most', 'deviation'], rows }];
}

/** One value of each round beside another one of the same round. */
export function exportRatio(
  rounds: readonly ExportRound[],
  ours: keyof ExportRound,
  theirs: keyof ExportRound,
): Spread {
  return ratiosOf(
    rounds.map((one) => one[ours]),
    rounds.map((one) => one[theirs]),
  );
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchExports, tables: exportTables });
