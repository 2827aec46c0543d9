import { readFileSync } from 'node:fs';
import { compareRuns } from './compare.js';
import { closedLoop } from './generators/closed.js';
import { openLoop } from './generators/open.js';
import { BUSY_CORES, type HttpResult, type Load, type Round } from './generators/types.js';
import { hasWrk, wrkLoop } from './generators/wrk.js';
import { surveyPlaces } from './places.js';
import { MANY_REQUESTS, requestPaths, SCENARIOS, type Scenario, scenarioOf } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  names,
  positive,
  positiveNumber,
  runMain,
  say,
  smokeFlags,
  typedCommand,
  writePart,
} from './support/run.js';
import { startService } from './support/service.js';
import { spreadOf } from './support/stats.js';
import { digits, textTable } from './support/table.js';

interface Options extends BenchOptions {
  readonly url?: string;
  readonly points: number;
  readonly scenarios: readonly string[];
  readonly generator: 'auto' | 'autocannon' | 'wrk';
  readonly rate?: number;
  readonly connections: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly rounds: number;
  readonly requests: number;
  readonly seed: number;
  readonly compare: boolean;
}

const command = benchCommand('http', 'Loads a server of the interface over HTTP and measures it.', {
  points: 1_000_000,
  seconds: 4,
  rounds: 3,
  connections: 32,
  seed: SEED,
})
  .argument('[files...]', 'with --compare: two files that --json wrote')
  .option('--url <url>', 'server to load, such as http://127.0.0.1:8080; without it our own')
  .option('--scenarios <names>', `with commas: ${SCENARIOS.map((one) => one.name)}`, names)
  .option('--generator <name>', 'autocannon, wrk, or auto: wrk where it is installed', 'auto')
  .option('--rate <number>', 'open loop: requests a second, whatever the answers', positiveNumber)
  .option(
    '--warmup <number>',
    'seconds before the first round that do not count',
    positiveNumber,
    2,
  )
  .option('--requests <number>', 'different requests of a scenario', positive, MANY_REQUESTS)
  .option('--compare', 'print what changed from one run to another', false);

/** Entry: loads a server, or compares two runs. */
async function main(): Promise<void> {
  command.parse();
  const given = command.opts<Options>();
  if (given.compare) {
    const [before, after] = command.args;
    if (before === undefined || after === undefined) throw new Error('--compare needs two files.');
    console.log(compareRuns(readFileSync(before, 'utf8'), readFileSync(after, 'utf8')));
    return;
  }
  const options = given.smoke
    ? { ...given, points: 20_000, seconds: 1, warmup: 0, rounds: 1, requests: 500 }
    : given;
  const results = await benchHttp(options);
  console.log(httpTable(results));
  for (const warning of warnings(results)) console.log(warning);
  writePart(options.json, typedCommand('http'), results);
  const failed = results.some(({ rounds }) => rounds.some(hasErrors));
  if (options.smoke && failed) throw new Error('Some requests failed.');
}

/** Runs the scenarios round by round, each in turn, against one server. */
async function benchHttp(options: Options): Promise<HttpResult[]> {
  const own =
    options.url === undefined
      ? await startService(await nativeFile(options.points), smokeFlags(options.smoke))
      : undefined;
  try {
    const base = (own?.url ?? options.url!).replace(/\/+$/, '');
    say(`asking ${base} where its points lie`);
    const places = await surveyPlaces(base, Math.min(1000, options.requests), options.seed);
    const chosen = options.scenarios?.map(scenarioOf) ?? SCENARIOS;
    const paths = new Map(
      chosen.map((one) => [one, requestPaths(one, places, options.requests, options.seed)]),
    );
    const generator = chooseGenerator(options);
    const rounds = new Map<Scenario, Round[]>(chosen.map((one) => [one, []]));
    for (let round = 0; round < options.rounds; round++) {
      for (const scenario of chosen) {
        const load: Load = {
          base,
          paths: paths.get(scenario)!,
          connections: options.connections,
          warmupSeconds: round === 0 ? options.warmup : Math.min(options.warmup, 0.5),
          seconds: options.seconds,
          pid: own?.pid,
        };
        const result = await generate(generator, load, options.rate);
        rounds.get(scenario)!.push(result);
        say(`${round + 1}/${options.rounds} ${scenario.name}: ${digits(result.perSecond)} /s`);
      }
    }
    return chosen.map((scenario) => ({
      scenario: scenario.name,
      title: scenario.title,
      generator,
      connections: options.connections,
      ...(options.rate === undefined ? {} : { rate: options.rate }),
      rounds: rounds.get(scenario)!,
    }));
  } finally {
    await own?.stop();
  }
}

function chooseGenerator({ generator, rate }: Options): HttpResult['generator'] {
  if (rate !== undefined) return 'open loop';
  if (generator === 'autocannon') return 'autocannon';
  if (hasWrk()) return 'wrk';
  if (generator === 'wrk') throw new Error('wrk is not installed.');
  return 'autocannon';
}

function generate(
  generator: HttpResult['generator'],
  load: Load,
  rate: number | undefined,
): Promise<Round> {
  if (generator === 'open loop') return openLoop({ ...load, rate: rate! });
  return generator === 'wrk' ? wrkLoop(load) : closedLoop(load);
}

/** The results as a table for the terminal. */
function httpTable(results: readonly HttpResult[]): string {
  const head = [
    'scenario',
    'requests/s',
    '±',
    'p50 ms',
    'p99 ms',
    'max ms',
    'CPU µs',
    'KB',
    'errors',
  ];
  const rows = results.map(({ scenario, rounds }) => {
    const rate = spreadOf(rounds.map((one) => one.perSecond));
    const mean = (read: (round: Round) => number | undefined): string => {
      const values = rounds.map(read).filter((value) => value !== undefined);
      return values.length === 0 ? '–' : digits(spreadOf(values).mean);
    };
    return [
      scenario,
      digits(rate.mean),
      digits(rate.deviation),
      mean((one) => one.latencies.percentiles['50']),
      mean((one) => one.latencies.percentiles['99']),
      mean((one) => one.latencies.max),
      mean((one) => one.serverMicros),
      mean((one) => one.bytesPerRequest / 1000),
      errorText(rounds),
    ];
  });
  const [first] = results;
  const how = `${first?.generator}, ${first?.connections} connections`;
  return `${how}\n${textTable(head, rows)}`;
}

function errorText(rounds: readonly Round[]): string {
  const sums: Record<string, number> = {};
  for (const { errors } of rounds) {
    for (const [kind, count] of Object.entries(errors)) sums[kind] = (sums[kind] ?? 0) + count;
  }
  const texts = Object.entries(sums).map(([kind, count]) => `${count} × ${kind}`);
  return texts.length === 0 ? '0' : texts.join(', ');
}

function hasErrors({ errors }: Round): boolean {
  return Object.keys(errors).length > 0;
}

/** What a reader must know before believing the figures. */
function warnings(results: readonly HttpResult[]): string[] {
  const bound = results.filter(({ rounds }) =>
    rounds.some((one) => one.generatorCores > BUSY_CORES),
  );
  if (bound.length === 0) return [];
  const which = bound.map((one) => one.scenario).join(', ');
  return [
    `The generator kept its core busy (${which}): the server can do more than these figures show; ` +
      'its CPU time a request still holds.',
  ];
}

await runMain(import.meta, main);
