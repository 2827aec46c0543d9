import { buildDataset } from '../src/dataset/build.js';
import { assembleDataset } from '../src/dataset/dataset.js';
import { createEngine, type Engine } from '../src/query/engine.js';
import { openSnapshot } from '../src/snapshot/files/open.js';
import { type Case, makeCases } from './query/cases.js';
import { checkCase } from './query/check.js';
import { FULL_TAIL, searchFullTail } from './query/full-tail.js';
import { type Contender, measure, pageOf, queryOf } from './query/measure.js';
import { buildRivals, type Rival } from './query/rivals.js';
import { SLOWEST, type Slow, searchEverything } from './query/search.js';
import { nativeFile, SEED } from './support/data.js';
import {
  type BenchOptions,
  benchCommand,
  LARGE_HELP,
  positive,
  runMain,
  say,
  typedCommand,
  writePart,
} from './support/run.js';
import type { Spread } from './support/stats.js';
import { digits, textTable } from './support/table.js';

/** Microseconds a query, of every contender, for one kind and number of matches. */
export interface QueryResult {
  readonly points: number;
  readonly kind: Case['kind'];
  /** `100`, `10000` or `all`. */
  readonly target: string;
  readonly matches: number;
  readonly micros: Readonly<Record<string, Spread>>;
}

/** What bench/query writes. */
export interface QueryResults {
  readonly cases: readonly QueryResult[];
  /** The slowest queries that a search found, the slowest first. */
  readonly slowest: readonly Slow[];
  /** Those that hold a thread longest, the longest first. */
  readonly longestHeld?: readonly Slow[];
  /** Those with a polygon, which are not among the others. */
  readonly polygons?: readonly Slow[];
  /** Those that hold a thread longest beside a full tail, the longest first. */
  readonly besideFullTail?: readonly Slow[];
  /** Queries that the search tried. */
  readonly searched: number;
}

interface Options extends BenchOptions {
  readonly points?: number;
  readonly large: boolean;
  readonly rounds: number;
  readonly queries: number;
  readonly searchOnly: boolean;
  readonly seed: number;
}

/** From this number of points on, rivals with an object for each point do not fit in memory. */
const LIGHT_FROM = 4_000_000;
const LEAST_MS = 20;
const SMOKE_POINTS = 5_000;
const SHOWN_POLYGONS = 3;
/** One query of so many is asked beside a full tail. */
const FULL_TAIL_SHARE = 100;
/** Points in which slow queries are searched for. */
const SEARCHED_POINTS = 1_000_000;

const command = benchCommand(
  'query',
  'Measures the planner and the indexes alone, in this process.',
  { rounds: 7, seed: SEED },
)
  .option('--points <number>', 'one size instead of 100,000 and 1,000,000', positive)
  .option('--large', LARGE_HELP, false)
  .option('--queries <number>', 'queries that the search for slow ones tries', positive, 20_000)
  .option('--search-only', 'the search alone', false);

/** Entry: measures each size in turn. */
async function main(): Promise<void> {
  const options = command.parse().opts<Options>();
  const cases = options.searchOnly ? [] : await measureSizes(options);
  if (cases.length > 0) console.log(queryTable(cases));
  const points = options.smoke ? SMOKE_POINTS : (options.points ?? SEARCHED_POINTS);
  const searched = options.smoke ? 200 : options.queries;
  say(`searching ${searched} queries of ${points} points for slow ones`);
  const generated = await loadEngine(await nativeFile(points, options.seed));
  const effort = { queries: searched, seed: options.seed };
  const { slowest, longestHeld, polygons } = await searchEverything(generated, effort);
  console.log(slowestText(`the ${SLOWEST} slowest queries`, slowest));
  console.log(slowestText(`the ${SLOWEST} that hold a thread longest`, longestHeld));
  console.log(slowestText('the slowest with a polygon', polygons.slice(0, SHOWN_POLYGONS)));
  const beside = searchFullTail(generated, options.smoke ? 2_000 : FULL_TAIL, {
    queries: Math.ceil(searched / FULL_TAIL_SHARE),
    seed: options.seed,
  });
  console.log(slowestText('those that hold a thread longest beside a full tail', beside));
  const results: QueryResults = {
    cases,
    slowest,
    longestHeld,
    polygons,
    besideFullTail: beside,
    searched,
  };
  writePart<QueryResults>(options.json, typedCommand('query'), results);
}

async function measureSizes(options: Options): Promise<QueryResult[]> {
  const cases: QueryResult[] = [];
  for (const points of sizesOf(options)) {
    say(`loading ${points} points`);
    const engine = await loadEngine(await nativeFile(points));
    const rivals = buildRivals(engine.dataset, points >= LIGHT_FROM);
    for (const one of makeCases(engine, options.seed)) {
      // scans of that many points take long: fewer queries are measured
      const some = one.target === Infinity ? 2 : points < LIGHT_FROM ? 50 : 5;
      const checked = { ...one, filters: one.filters.slice(0, some) };
      const problems = checkCase(engine, checked, rivals);
      if (problems.length > 0) throw new Error(`Wrong answers: ${problems.join('; ')}`);
      const rounds = options.smoke ? 1 : options.rounds;
      cases.push(measureCase(engine, one, rivals, rounds, options.smoke ? 1 : LEAST_MS));
      say(`${points} points: ${one.kind}, ${targetText(one)}: checked and measured`);
    }
  }
  return cases;
}

function sizesOf({ smoke, points, large }: Options): number[] {
  if (smoke) return [SMOKE_POINTS];
  if (points !== undefined) return [points];
  return large ? [100_000, 1_000_000, 10_000_000] : [100_000, 1_000_000];
}

/** Builds a dataset and its engine in this thread. */
export async function loadEngine(path: string): Promise<Engine> {
  const reader = await openSnapshot(path, {});
  try {
    return createEngine(assembleDataset(await buildDataset(reader)));
  } finally {
    reader.close();
  }
}

function measureCase(
  engine: Engine,
  one: Case,
  rivals: readonly Rival[],
  rounds: number,
  leastMs: number,
): QueryResult {
  const fitting = rivals.filter(
    ({ kinds, takesAll }) => kinds.includes(one.kind) && (takesAll || one.target !== Infinity),
  );
  const contenders: Contender[] = [
    queryOf(engine, one.ordering),
    pageOf(engine, one.ordering),
    ...fitting.map((rival) => ({ name: rival.name, run: rival.find })),
  ];
  return {
    points: engine.dataset.count,
    kind: one.kind,
    target: targetText(one),
    matches: one.matches,
    micros: Object.fromEntries(measure(contenders, one.filters, rounds, leastMs)),
  };
}

function targetText({ target }: Case): string {
  return target === Infinity ? 'all' : String(target);
}

function queryTable(cases: readonly QueryResult[]): string {
  const rows = cases.flatMap(({ points, kind, target, matches, micros }) =>
    Object.entries(micros).map(([name, spread]) => {
      const ours = micros['Waypost']!;
      return [
        `${digits(points)} ${kind}, ${target}: ${name}`,
        digits(matches),
        digits(spread.min),
        `${digits(spread.mean)} ± ${digits(spread.deviation)}`,
        `${digits(spread.median / ours.median)} ×`,
      ];
    }),
  );
  const head = ['points, kind, matches: contender', 'matches', 'min µs', 'mean µs', 'to ours'];
  return textTable(head, rows);
}

/** One line for each query: its parameters are too long for a table. */
function slowestText(title: string, slowest: readonly Slow[]): string {
  const lines = slowest.map(
    ({ data, query, matches, millis, held }) =>
      `${digits(millis)} ms, held ${digits(held)} ms, ${digits(matches)} matches, ${data}: ${query}`,
  );
  return `\n${title}\n${lines.join('\n')}`;
}

await runMain(import.meta, main);
