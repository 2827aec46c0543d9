import { openLoop } from './generators/open.js';
import { BUSY_CORES, type HttpResult, type Load, meanOf, type Round } from './generators/types.js';
import { fullLoop, hasWrk, warmUp } from './generators/wrk.js';
import { surveyPlaces } from './places.js';
import { MANY_REQUESTS, requestPaths, SCENARIOS, type Scenario, scenarioOf } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  names,
  positive,
  positiveNumber,
  runBench,
  say,
  smokeFlags,
} from './support/run.js';
import { type Server, startService } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, plusMinus, type Table } from './support/table.js';

const BATCH = '/rest/map_data_points/query/';

interface Options extends BenchOptions {
  readonly url?: readonly string[];
  readonly scenarios: readonly string[];
  readonly rate?: number;
  readonly warmup: number;
  readonly requests: number;
  readonly batch?: number;
  readonly beside?: number;
}

const command = benchCommand('http', 'Loads a server of the interface over HTTP and measures it.', {
  points: 1_000_000,
  seconds: 1,
  rounds: 2,
  connections: 32,
  seed: SEED,
})
  .option(
    '--url <urls>',
    'servers to load by turns, with commas between; without them our own',
    names,
  )
  .option('--scenarios <names>', `with commas: ${SCENARIOS.map((one) => one.name)}`, names)
  .option('--rate <number>', 'open loop: requests a second, whatever the answers', positiveNumber)
  .option(
    '--warmup <number>',
    'seconds before the first round that do not count',
    positiveNumber,
    1,
  )
  .option('--requests <number>', 'different requests of a scenario', positive, MANY_REQUESTS)
  .option('--batch <number>', 'beside each scenario the same, so many in a request', positive)
  .option('--beside <number>', 'beside each scenario the same of so many points', positive);

/** One side of the comparison: a server, its paths by scenario, and the questions of a path. */
interface Variant {
  /** Appended to the names of its scenarios. */
  readonly suffix: string;
  readonly base: string;
  readonly pid: number | undefined;
  readonly paths: ReadonlyMap<Scenario, readonly string[]>;
  readonly batch: number;
}

/** Batches take an eighth of the connections: what is unanswered at the end does not count. */
const BATCH_SHARE = 8;

/** Runs every variant of every scenario, round by round. */
async function benchHttp(options: Options): Promise<HttpResult[]> {
  const { url, points, beside, batch, smoke, rounds, rate, connections, seconds } = options;
  const sizes = url ? [] : [points, ...(beside === undefined ? [] : [beside])];
  const chosen = options.scenarios?.map(scenarioOf) ?? SCENARIOS;
  const own: Server[] = [];
  for (const size of sizes) own.push(await startService(await nativeFile(size), smokeFlags(smoke)));
  const variants: Variant[] = [];
  for (const [i, base] of (url ?? own.map((one) => one.url)).entries()) {
    const suffix = i === 0 ? '' : url ? `, ${base}` : `, ${digits(sizes[i]!)} points`;
    variants.push(await variantOf(options, chosen, { suffix, base, pid: own[i]?.pid }));
  }
  if (batch !== undefined) variants.splice(1, 0, batchesOf(variants[0]!, batch));
  const results = chosen.flatMap(({ name }) =>
    variants.map(({ suffix }) => ({ scenario: name + suffix, rounds: [] as Round[] })),
  );
  for (const { base, paths } of variants.filter((one) => one.batch === 1)) {
    await warmUp(base, paths.get(chosen[0]!)!, smoke);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [i, result] of results.entries()) {
      const { base, pid, paths, batch: size } = variants[i % variants.length]!;
      const load: Load = {
        base,
        pid,
        paths: paths.get(chosen[Math.floor(i / variants.length)]!)!,
        ...(size > 1 ? { postTo: BATCH } : {}),
        connections: size > 1 ? Math.ceil(connections / BATCH_SHARE) : connections,
        warmupSeconds: round === 0 ? options.warmup : Math.min(options.warmup, 0.5),
        seconds,
      };
      const isFull = rate === undefined || size > 1;
      const made = await (isFull ? fullLoop(load) : openLoop({ ...load, rate }));
      result.rounds.push(questionsOf(made, size));
      const perSecond = digits(result.rounds.at(-1)!.perSecond);
      say(`${round + 1}/${rounds} ${result.scenario}: ${perSecond} /s`);
    }
  }
  if (
    smoke &&
    results.some((one) => one.rounds.some(({ errors }) => Object.keys(errors).length > 0))
  ) {
    throw new Error('Some requests failed.');
  }
  const generator = rate !== undefined ? 'open loop' : hasWrk() ? 'wrk' : 'closed loop';
  const about = { generator, connections, ...(rate === undefined ? {} : { rate }) } as const;
  return results.map((one) => ({ ...about, ...one }));
}

async function variantOf(
  { requests, seed }: Options,
  chosen: readonly Scenario[],
  about: Pick<Variant, 'suffix' | 'base' | 'pid'>,
): Promise<Variant> {
  say(`asking ${about.base} where its points lie`);
  const base = about.base.replace(/\/+$/, '');
  const places = await surveyPlaces(base, Math.min(1000, requests), seed);
  const paths = new Map(chosen.map((one) => [one, requestPaths(one, places, requests, seed)]));
  return { ...about, base, paths, batch: 1 };
}

/** The same questions, `size` of them in the body of a post. */
function batchesOf(variant: Variant, size: number): Variant {
  const bodiesOf = (paths: readonly string[]): string[] => {
    const questions = paths.map((path) =>
      Object.fromEntries(new URLSearchParams(path.slice(path.indexOf('?')))),
    );
    return Array.from({ length: Math.ceil(paths.length / size) }, (_, batch) => {
      const places = Array.from({ length: size }, (_, i) => (batch * size + i) % paths.length);
      return JSON.stringify(places.map((place) => questions[place]));
    });
  };
  const paths = new Map([...variant.paths].map(([one, all]) => [one, bodiesOf(all)]));
  return { ...variant, suffix: ` × ${size}`, paths, batch: size };
}

/** Converts the figures of a round of batches from requests to questions. */
function questionsOf(round: Round, size: number): Round {
  const { requests, perSecond, bytesPerRequest, serverMicros } = round;
  return {
    ...round,
    requests: requests * size,
    perSecond: perSecond * size,
    bytesPerRequest: bytesPerRequest / size,
    ...(serverMicros !== undefined && { serverMicros: serverMicros / size }),
  };
}

export function httpTables(results: readonly HttpResult[]): Table[] {
  const [first] = results;
  const rate = first?.rate === undefined ? '' : `, ${digits(first.rate)} requests/s asked for`;
  // scenarios whose figures the generator limits, not the server
  const bound = results.filter(({ rounds }) =>
    rounds.some((one) => one.generatorCores > BUSY_CORES),
  );
  const busy =
    bound.length === 0
      ? ''
      : ` The generator kept its core busy (${bound.map((one) => one.scenario).join(', ')}): these requests a second are its own.`;
  return [
    {
      title: `Scenarios, ${first?.generator === 'open loop' ? 'open loop at a fixed rate' : 'closed loop'}`,
      note: `${first?.generator}, ${first?.connections} connections${rate}.${busy}`,
      head: [
        'scenario',
        'questions/s',
        '±',
        'beside the first',
        'p50 ms',
        'p99 ms',
        'max ms',
        'CPU µs',
        'KB',
        'errors',
      ],
      rows: results.map(({ scenario, rounds }) => [
        scenario,
        meanOf(rounds, perSecond),
        digits(spreadOf(rounds.map(perSecond)).deviation),
        besideText(results, scenario),
        meanOf(rounds, (one) => one.latencies.percentiles['50']),
        meanOf(rounds, (one) => one.latencies.percentiles['99']),
        meanOf(rounds, (one) => one.latencies.max),
        meanOf(rounds, (one) => one.serverMicros),
        meanOf(rounds, (one) => one.bytesPerRequest / 1000),
        errorText(rounds),
      ]),
    },
  ];
}

/**
 * Questions a second of a variant, such as `tiles × 100`, beside those of its scenario, round by
 * round; undefined where that was not measured.
 */
export function besideOf(results: readonly HttpResult[], scenario: string): Spread | undefined {
  const name = /^[a-z-]+/.exec(scenario)![0];
  const [own, first] = [scenario, name].map((one) => results.find((all) => all.scenario === one));
  if (own === undefined || first === undefined || own === first) return undefined;
  return ratiosOf(own.rounds.map(perSecond), first.rounds.map(perSecond));
}

function besideText(results: readonly HttpResult[], scenario: string): string {
  const ratio = besideOf(results, scenario);
  return ratio === undefined ? '' : plusMinus(ratio);
}

function perSecond(round: Round): number {
  return round.perSecond;
}

function errorText(rounds: readonly Round[]): string {
  const sums: Record<string, number> = {};
  for (const { errors } of rounds) {
    for (const [kind, count] of Object.entries(errors)) sums[kind] = (sums[kind] ?? 0) + count;
  }
  const texts = Object.entries(sums).map(([kind, count]) => `${count} × ${kind}`);
  return texts.length === 0 ? '0' : texts.join(', ');
}

const smoke = { points: 20_000, seconds: 1, warmup: 0, rounds: 1, requests: 500 };
await runBench(import.meta, command, { smoke, run: benchHttp, tables: httpTables });
