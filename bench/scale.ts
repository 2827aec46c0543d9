import { closedLoop } from './generators/closed.js';
import type { Round } from './generators/types.js';
import { hasWrk, wrkLoop } from './generators/wrk.js';
import { surveyPlaces } from './places.js';
import { MANY_REQUESTS, requestPaths, scenarioOf } from './scenarios.js';
import { nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  positive,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import { type Server, startService } from './support/service.js';
import { ratiosOf, type Spread, spreadOf } from './support/stats.js';
import { digits, textTable } from './support/table.js';

/** One scenario on the smaller and on the larger data. */
export interface ScaleResult {
  readonly scenario: string;
  readonly points: number;
  readonly largePoints: number;
  readonly rounds: readonly Round[];
  readonly largeRounds: readonly Round[];
  /** Requests a second on the larger beside the smaller, round by round. */
  readonly ratio: Spread;
}

interface Options extends BenchOptions {
  readonly points: number;
  readonly times: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

const SCENARIOS = ['small-box', 'nearby', 'tiles'] as const;

const command = benchCommand('scale', 'Serves ten times the points beside the points, in turns.', {
  points: 1_000_000,
  seconds: 2,
  rounds: 5,
  connections: 32,
}).option('--times <number>', 'how many times as many points the larger has', positive, 10);

/** Entry: two services, the same kind of requests, each round by both. */
async function main(): Promise<void> {
  const given = command.parse().opts<Options>();
  const options = given.smoke
    ? { ...given, points: 2_000, times: 2, rounds: 1, seconds: 1 }
    : given;
  const results = await benchScale(options);
  const rows = results.map(({ scenario, rounds, largeRounds, ratio }) => [
    scenario,
    digits(spreadOf(rounds.map((one) => one.perSecond)).mean),
    digits(spreadOf(largeRounds.map((one) => one.perSecond)).mean),
    `${digits(ratio.median)} ± ${digits(ratio.deviation)}`,
  ]);
  const large = digits(options.points * options.times);
  const head = ['requests/s', `${digits(options.points)} points`, `${large} points`, 'ratio'];
  console.log(textTable(head, rows));
  writePart(options.json, typedCommand('scale'), results);
}

async function benchScale(options: Options): Promise<ScaleResult[]> {
  const sizes = [options.points, options.points * options.times];
  const servers: Server[] = [];
  const generate = hasWrk() ? wrkLoop : closedLoop;
  try {
    for (const points of sizes) {
      say(`loading ${digits(points)} points`);
      servers.push(await startService(await nativeFile(points)));
    }
    const places = await Promise.all(servers.map(({ url }) => surveyPlaces(url, 1000, SEED)));
    const results: ScaleResult[] = [];
    for (const scenario of SCENARIOS) {
      const taken: Round[][] = servers.map(() => []);
      const paths = places.map((one) =>
        requestPaths(scenarioOf(scenario), one, MANY_REQUESTS, SEED),
      );
      for (let round = 0; round < options.rounds; round++) {
        for (const [i, { url, pid }] of servers.entries()) {
          const { seconds, connections } = options;
          const warmupSeconds = round === 0 && !options.smoke ? 1 : 0;
          const load = { base: url, paths: paths[i]!, connections, seconds, warmupSeconds, pid };
          taken[i]!.push(await generate(load));
        }
        say(`${scenario} ${round + 1}/${options.rounds}`);
      }
      const [rounds, largeRounds] = [taken[0]!, taken[1]!];
      const rates = taken.map((all) => all.map((one) => one.perSecond));
      const ratio = ratiosOf(rates[1]!, rates[0]!);
      const [points, largePoints] = [sizes[0]!, sizes[1]!];
      results.push({ scenario, points, largePoints, rounds, largeRounds, ratio });
    }
    return results;
  } finally {
    for (const server of servers) await server.stop();
  }
}

await runMain(import.meta, main);
