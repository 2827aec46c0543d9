import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { cached, nativeFile, ndjsonFile, SEED } from './support/data.js';
import { memoryOf } from './support/proc.js';
import { type BenchOptions, benchCommand, LARGE_HELP, runBench, say } from './support/run.js';
import {
  dieTogether,
  MAIN,
  type Server,
  startServer,
  startService,
  withoutSettings,
} from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, size, type Table } from './support/table.js';

interface LoadResult {
  readonly points: number;
  readonly format: string;
  readonly fileBytes: number;
  /** Of the same points as NDJSON. */
  readonly ndjsonBytes: number;
  /** Milliseconds from the start of the process until it listens. */
  readonly startMs: Spread;
  /** Start time beside JSON.parse of the NDJSON line by line, round by round. */
  readonly toParse?: Spread;
  /** Most bytes in memory while loading. */
  readonly peak: number;
}

/** What pack or verify took. */
interface RateResult {
  readonly command: string;
  readonly seconds: Spread;
  readonly pointsPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly peak: number;
}

export interface LoadResults {
  readonly loads: readonly LoadResult[];
  readonly rates: readonly RateResult[];
}

interface Options extends BenchOptions {
  readonly large: boolean;
}

interface File {
  readonly format: string;
  readonly path: string;
}

const PARSE = 'JSON.parse, line by line';
const PARSE_LINES = join(import.meta.dirname, 'parse-lines.js');
const EXPORTED = ['csv', 'geojson', 'msgpack', 'parquet'] as const;
/** Milliseconds until all threads of a service run that has begun to listen. */
const THREADS_MS = 1_500;

const command = benchCommand(
  'load',
  'Measures start, memory, pack and verify for every format, beside JSON.parse in rounds.',
  { points: 1_000_000, rounds: 2, seed: SEED },
).option('--large', LARGE_HELP, false);

async function benchLoad({ points, seed, rounds, smoke, large }: Options): Promise<LoadResults> {
  const threadsMs = smoke ? 100 : THREADS_MS;
  const ndjson = await ndjsonFile(points, seed);
  const files = [{ format: PARSE, path: ndjson }, ...(await makeFiles(points, seed))];
  const loads = await measureLoads(files, { points, rounds, threadsMs, ndjson });
  const rates = await measureRates(points, seed, rounds);
  if (large) {
    const many = 10_000_000;
    const native = [{ format: 'native', path: await nativeFile(many, seed) }];
    // without JSON.parse, which runs out of memory
    const ndjson = await ndjsonFile(many, seed);
    const other = { points: many, rounds: 1, threadsMs, ndjson };
    loads.push(...(await measureLoads(native, other)));
  }
  return { loads, rates };
}

/** The same points in every format, kept in the cache; most are exported by a service. */
async function makeFiles(points: number, seed: number): Promise<File[]> {
  const [ndjson, native] = [await ndjsonFile(points, seed), await nativeFile(points, seed)];
  const makers: Readonly<Record<string, (out: string) => Promise<void>>> = {
    'ndjson.gz': (out) =>
      pipeline(createReadStream(ndjson), createGzip({ level: 6 }), createWriteStream(out)),
    json: (out) => pipeline(Readable.from(arrayOf(ndjson)), createWriteStream(out)),
    ...Object.fromEntries(
      EXPORTED.map((format) => [format, (out) => exported(native, format, out)]),
    ),
  };
  const files: File[] = [
    { format: 'native', path: native },
    { format: 'ndjson', path: ndjson },
  ];
  for (const [format, make] of Object.entries(makers)) {
    files.push({ format, path: await cached(`${points}-${seed}.${format}`, make) });
  }
  return files;
}

/** The records of an NDJSON file as one JSON array. */
async function* arrayOf(path: string): AsyncGenerator<string> {
  let before = '[';
  for await (const line of createInterface({ input: createReadStream(path) })) {
    yield before + line;
    before = ',\n';
  }
  yield ']';
}

async function exported(native: string, format: string, out: string): Promise<void> {
  const service = await startService(native);
  try {
    const answer = await fetch(`${service.url}/export/points.${format}`);
    if (!answer.ok) throw new Error(`The export as ${format} got ${answer.status}.`);
    await pipeline(Readable.fromWeb(answer.body as ReadableStream), createWriteStream(out));
  } finally {
    await service.stop();
  }
}

async function measureLoads(
  files: readonly File[],
  about: { points: number; rounds: number; threadsMs: number; ndjson: string },
): Promise<LoadResult[]> {
  const { points, rounds, threadsMs, ndjson } = about;
  const starts = new Map<string, number[]>(files.map(({ format }) => [format, []]));
  const peaks = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    for (const { format, path } of files) {
      const server: Server =
        format === PARSE ? await startServer(PARSE_LINES, [path]) : await startService(path);
      starts.get(format)!.push(server.startMs);
      // memory hardly varies between rounds
      if (round === 0) {
        await delay(threadsMs);
        peaks.set(format, memoryOf(server.pid)?.peak ?? 0);
      }
      await server.stop();
      say(`${round + 1}/${rounds} ${format}: ${digits(server.startMs)} ms`);
    }
  }
  const parse = starts.get(PARSE);
  return files.map(({ format, path }) => ({
    points,
    format,
    fileBytes: statSync(path).size,
    ndjsonBytes: statSync(ndjson).size,
    startMs: spreadOf(starts.get(format)!),
    ...(parse === undefined ? {} : { toParse: ratiosOf(starts.get(format)!, parse) }),
    peak: peaks.get(format)!,
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

/** Seconds and most bytes in memory of a command of this build; rejects when it fails. */
async function runCommand(args: readonly string[]): Promise<{ seconds: number; peak: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: withoutSettings(),
  });
  const ended = dieTogether(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid!)?.peak ?? 0);
  }, 20);
  const code = await ended;
  clearInterval(look);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}`);
  return { seconds: (performance.now() - started) / 1000, peak };
}

export function loadTables({ loads, rates }: LoadResults): Table[] {
  return [
    {
      title: 'Loading',
      note: 'From the start of the process until it listens; memory is the whole process.',
      head: ['points, format', 'file', 'ready s', 'to JSON.parse', 'peak', 'to NDJSON'],
      rows: loads.map((one) => [
        `${digits(one.points)}, ${one.format}`,
        size(one.fileBytes),
        digits(one.startMs.mean / 1000),
        one.toParse === undefined ? '–' : digits(one.toParse.median),
        size(one.peak),
        `${digits(one.peak / one.ndjsonBytes)} ×`,
      ]),
    },
    {
      title: 'Pack and verify',
      note: 'Whole commands, the start of Node included.',
      head: ['command', 's', 'points/s', 'MB/s', 'peak'],
      rows: rates.map((one) => [
        one.command,
        digits(one.seconds.mean),
        digits(one.pointsPerSecond),
        digits(one.megabytesPerSecond),
        size(one.peak),
      ]),
    },
  ];
}

const smoke = { points: 3_000, rounds: 1, large: false };
await runBench(import.meta, command, { smoke, run: benchLoad, tables: loadTables });
