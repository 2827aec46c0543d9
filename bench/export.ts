import { createWriteStream } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { warmUp } from './generators/wrk.js';
import { LIST } from './places.js';
import { dealReads, READS_A_SECOND, readFor } from './post/posting.js';
import { MANY_REQUESTS } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import { memoryOf } from './support/proc.js';
import { type BenchOptions, benchCommand, runBench, say, smokeFlags } from './support/run.js';
import { startServer, startService, temporaryFolder } from './support/service.js';
import { figureOf, ratioOf } from './support/stats.js';
import { digits, spreadTable, type Table } from './support/table.js';

interface ExportRound {
  /** Megabytes a second of an export as NDJSON, and of a bare Fastify route that streams them. */
  readonly export: number;
  readonly bare: number;
  /**
   * 99th percentiles of reads in milliseconds: alone, while slow readers begin, and beside them.
   * For their first seconds the system takes megabytes for each, as fast as they are made.
   */
  readonly quietMs: number;
  readonly beginMs: number;
  readonly besideMs: number;
  /** Growth of the service's memory with the slow readers. */
  readonly mebibytes: number;
}

export interface ExportResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly ExportRound[];
}

const EXPORT = '/export/points.ndjson';
const PEER = join(import.meta.dirname, 'peers/server.js');
const SLOW = join(import.meta.dirname, 'export/slow-readers.js');
const SMOKE = { points: 5_000, connections: 4, seconds: 0.5, rounds: 1 };

const command = benchCommand(
  'export',
  'Measures an export beside a bare stream of the same bytes, and reads beside slow readers.',
  { points: 1_000_000, connections: 200, seconds: 5, rounds: 3, seed: SEED },
);

async function benchExports(options: BenchOptions): Promise<ExportResults> {
  const { points, connections, seconds, seed } = options;
  const native = await nativeFile(points, seed);
  const { url, pid } = await startService(native, smokeFlags(options.smoke));
  const file = join(temporaryFolder('export'), 'points.ndjson');
  await pipeline(await answerTo(url + EXPORT), createWriteStream(file));
  const bare = await startServer(PEER, ['file', file]);
  const deal = await dealReads(url, options);
  const reads = (): Promise<number> =>
    readFor(url, deal(Math.ceil(READS_A_SECOND * (seconds + 1))), seconds);
  await warmUp(url, deal(MANY_REQUESTS), options.smoke);
  const rounds: ExportRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    say(`round ${round}`);
    const measured = { bare: await paceOf(bare.url + LIST), export: await paceOf(url + EXPORT) };
    const quietMs = await reads();
    const before = memoryOf(pid)?.rss ?? 0;
    const slow = await startServer(SLOW, [url + EXPORT, String(connections)]);
    const beginMs = await reads();
    const besideMs = await reads();
    const mebibytes = ((memoryOf(pid)?.rss ?? 0) - before) / 2 ** 20;
    await slow.stop();
    rounds.push({ ...measured, quietMs, beginMs, besideMs, mebibytes });
  }
  return { points, connections, rounds };
}

/** Megabytes a second of an answer whose reader keeps up, and keeps nothing. */
async function paceOf(url: string): Promise<number> {
  const started = performance.now();
  let bytes = 0;
  const answer = await answerTo(url);
  answer.on('data', ({ length }: Buffer) => {
    bytes += length;
  });
  await finished(answer);
  return bytes / 1000 / (performance.now() - started);
}

function answerTo(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, resolve).on('error', reject);
  });
}

export function exportTables({ points, connections, rounds }: ExportResults): Table[] {
  const note = `${digits(points)} points, ${rounds.length} rounds. A slow reader takes 128 KiB a second. Bare Fastify streams a file.`;
  const table = spreadTable('Exports', note, [
    ['export as NDJSON, MB a second', figureOf(rounds, 'export')],
    ['the same bytes by bare Fastify', figureOf(rounds, 'bare')],
    ['  export beside that', ratioOf(rounds, 'export', 'bare')],
    [`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, figureOf(rounds, 'quietMs')],
    [`the same while ${connections} slow readers begin, ms`, figureOf(rounds, 'beginMs')],
    ['the same beside them, ms', figureOf(rounds, 'besideMs')],
    ['  beside to without', ratioOf(rounds, 'besideMs', 'quietMs')],
    ['memory more with them, MiB', figureOf(rounds, 'mebibytes')],
  ]);
  return [table];
}

await runBench(import.meta, command, { smoke: SMOKE, run: benchExports, tables: exportTables });
