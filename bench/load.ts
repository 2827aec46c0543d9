import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { runCommand } from './load/command.js';
import { convertRows, ROW_FORMS } from './load/convert.js';
import { cached, nativeFile, ndjsonFile, SEED } from './support/data.js';
import { memoryOf } from './support/proc.js';
import {
  type BenchOptions,
  benchCommand,
  LARGE_HELP,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import { type Server, startServer, startService } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, size, textTable } from './support/table.js';

/** What loading one file took. */
export interface LoadResult {
  readonly points: number;
  readonly format: string;
  readonly fileBytes: number;
  /** Of the same points as NDJSON. */
  readonly ndjsonBytes: number;
  /** Milliseconds from the start of the process until it listens. */
  readonly startMs: Spread;
  /** Start time beside JSON.parse of the NDJSON line by line, round by round. */
  readonly toParse: Spread;
  /** Most bytes in memory while loading, and bytes `LATER_MS` later. */
  readonly peak: number;
  readonly later: number;
}

/** What pack or verify took. */
export interface RateResult {
  readonly points: number;
  readonly command: string;
  readonly seconds: Spread;
  readonly pointsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly peak: number;
}

/** What bench/load writes. */
export interface LoadResults {
  readonly loads: readonly LoadResult[];
  readonly rates: readonly RateResult[];
}

interface Options extends BenchOptions {
  readonly points: number;
  readonly large: boolean;
  readonly rounds: number;
  readonly seed: number;
}

interface File {
  readonly format: string;
  readonly path: string;
}

const PARSE = 'JSON.parse, line by line';
/** Formats that a goal is about; the others take long and are measured once. */
const REPEATED: ReadonlySet<string> = new Set([PARSE, 'native']);
const PARSE_LINES = join(import.meta.dirname, 'load/parse-lines.js');
/** Time for the garbage of loading to be collected, in milliseconds. */
const LATER_MS = 5_000;

const command = benchCommand(
  'load',
  'Measures start, memory, pack and verify for every format; native files beside JSON.parse in rounds.',
  { points: 1_000_000, rounds: 5, seed: SEED },
).option('--large', LARGE_HELP, false);

/** Entry: loads each format in turn, round by round. */
async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke ? { ...given, points: 3_000, rounds: 1 } : given;
  const { points, seed, rounds } = options;
  const laterMs = options.smoke ? 100 : LATER_MS;
  const loads = await measureLoads(await makeFiles(points, seed), points, rounds, laterMs);
  const rates = await measureRates(points, seed, Math.min(rounds, 3));
  if (options.large) {
    const large = 10_000_000;
    const files = [
      { format: 'native', path: await nativeFile(large, seed) },
      { format: 'ndjson', path: await ndjsonFile(large, seed) },
    ];
    // JSON.parse of so much runs out of memory
    loads.push(...(await measureLoads(files.slice(0, 1), large, 1, laterMs, files[1]!.path)));
  }
  console.log(`${loadTable(loads)}\n\n${rateTable(rates)}`);
  writePart<LoadResults>(options.json, typedCommand('load'), { loads, rates });
}

/** The same points in every format, kept in the cache. */
async function makeFiles(points: number, seed: number): Promise<File[]> {
  const ndjson = await ndjsonFile(points, seed);
  const files: File[] = [
    { format: 'native', path: await nativeFile(points, seed) },
    { format: 'ndjson', path: ndjson },
  ];
  const gz = await cached(`${points}-${seed}.ndjson.gz`, (out) =>
    pipeline(createReadStream(ndjson), createGzip({ level: 6 }), createWriteStream(out)),
  );
  files.push({ format: 'ndjson.gz', path: gz });
  for (const form of ROW_FORMS) {
    const path = await cached(`${points}-${seed}.${form}`, (out) => convertRows(ndjson, out, form));
    files.push({ format: form, path });
  }
  return files;
}

async function measureLoads(
  files: readonly File[],
  points: number,
  rounds: number,
  laterMs: number,
  ndjson: string = files.find((one) => one.format === 'ndjson')!.path,
): Promise<LoadResult[]> {
  const canParse = files.some((one) => one.path === ndjson);
  const all = canParse ? [{ format: PARSE, path: ndjson }, ...files] : files;
  const starts = new Map<string, number[]>(all.map(({ format }) => [format, []]));
  const memory = new Map<string, { peak: number; later: number }>();
  for (let round = 0; round < rounds; round++) {
    for (const { format, path } of all) {
      if (round > 0 && !REPEATED.has(format)) continue;
      const server: Server =
        format === PARSE ? await startServer(PARSE_LINES, [path]) : await startService(path);
      starts.get(format)!.push(server.startMs);
      // the first round's memory will do: it hardly varies. Its other threads are there by then
      if (round === 0) {
        await delay(laterMs);
        const { peak = 0, rss: later = 0 } = memoryOf(server.pid) ?? {};
        memory.set(format, { peak, later });
      }
      await server.stop();
      say(`${round + 1}/${rounds} ${format}: ${digits(server.startMs)} ms`);
    }
  }
  return all.map(({ format, path }) => ({
    points,
    format,
    fileBytes: statSync(path).size,
    ndjsonBytes: statSync(ndjson).size,
    startMs: spreadOf(starts.get(format)!),
    toParse: canParse
      ? ratiosOf(starts.get(format)!, starts.get(PARSE)!)
      : { rounds: 0, min: 0, mean: 0, median: 0, max: 0, deviation: 0 },
    ...memory.get(format)!,
  }));
}

async function measureRates(points: number, seed: number, rounds: number): Promise<RateResult[]> {
  const ndjson = await ndjsonFile(points, seed);
  const native = await nativeFile(points, seed);
  const out = `${native}.packed`;
  const commands = [
    { name: 'pack, from NDJSON', args: ['pack', ndjson, out], input: ndjson },
    { name: 'verify, NDJSON', args: ['verify', ndjson], input: ndjson },
    { name: 'verify, native', args: ['verify', native], input: native },
  ];
  const results: RateResult[] = [];
  for (const { name, args, input } of commands) {
    const costs = [];
    for (let round = 0; round < rounds; round++) costs.push(await runCommand(args));
    const seconds = spreadOf(costs.map((one) => one.seconds));
    say(`${name}: ${digits(seconds.mean)} s`);
    results.push({
      points,
      command: name,
      seconds,
      pointsPerSecond: points / seconds.mean,
      megabytesPerSecond: statSync(input).size / 1e6 / seconds.mean,
      peak: Math.max(...costs.map((one) => one.peak)),
    });
  }
  rmSync(out, { force: true });
  return results;
}

function loadTable(loads: readonly LoadResult[]): string {
  const rows = loads.map((one) => [
    `${digits(one.points)}, ${one.format}`,
    size(one.fileBytes),
    `${digits(one.startMs.mean / 1000)} ± ${digits(one.startMs.deviation / 1000)}`,
    one.toParse.rounds === 0 ? '–' : digits(one.toParse.median),
    size(one.peak),
    digits(one.peak / one.ndjsonBytes),
    size(one.later),
  ]);
  const head = ['points, format', 'file', 'ready s', 'to parse', 'peak', 'to NDJSON', 'later'];
  return textTable(head, rows);
}

function rateTable(rates: readonly RateResult[]): string {
  const rows = rates.map((one) => [
    one.command,
    `${digits(one.seconds.mean)} ± ${digits(one.seconds.deviation)}`,
    digits(one.pointsPerSecond),
    digits(one.megabytesPerSecond),
    size(one.peak),
  ]);
  return textTable(['command', 's', 'points/s', 'MB/s', 'peak'], rows);
}

await runMain(import.meta, main);
