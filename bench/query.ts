import { openSnapshot } from '../src/formats/files/open.js';
import { buildDataset } from '../src/index/build-dataset.js';
import { assembleDataset } from '../src/index/dataset.js';
import type { Filters } from '../src/model/query.js';
import { Engine } from '../src/query/engine.js';
import { type Case, makeCases } from './query/cases.js';
import { checkCase } from './query/check.js';
import { buildRivals, type Rival } from './query/rivals.js';
import { nativeFile, SEED } from './support/data.js';
import { type BenchOptions, benchCommand, LARGE_HELP, runBench, say } from './support/run.js';
import { type Spread, spreadOf } from './support/stats.js';
import { digits, type Table } from './support/table.js';
import { microsOf, takeTurns } from './support/turns.js';

/** Microseconds a query, of every contender, for one kind and number of matches. */
export interface QueryResult {
  readonly points: number;
  readonly kind: Case['kind'];
  /** `100`, `10000` or `all`. */
  readonly target: string;
  readonly matches: number;
  readonly micros: Readonly<Record<string, Spread>>;
}

interface Options extends BenchOptions {
  readonly large: boolean;
}

/** From this number of points on, rivals with an object for each point do not fit in memory. */
const LIGHT_FROM = 4_000_000;
const LEAST_MS = 20;
/** Longest turn of a contender: a slow one gets fewer of the queries, which are all alike. */
const MOST_MS = 400;

const command = benchCommand(
  'query',
  'Measures the planner and the indexes alone, in this process.',
  { points: 1_000_000, rounds: 3, seed: SEED },
).option('--large', LARGE_HELP, false);

async function benchQuery(options: Options): Promise<QueryResult[]> {
  const cases: QueryResult[] = [];
  const { points, large, smoke, seed } = options;
  for (const size of large ? [points, 10_000_000] : [points]) {
    say(`loading ${size} points`);
    const engine = await loadEngine(await nativeFile(size));
    const rivals = buildRivals(engine.dataset, size >= LIGHT_FROM);
    for (const one of makeCases(engine, seed)) {
      // scans of that many points take long: fewer queries are checked
      const some = one.target === Infinity ? 2 : size < LIGHT_FROM ? 50 : 5;
      const checked = { ...one, filters: one.filters.slice(0, some) };
      const problems = checkCase(engine, checked, rivals);
      if (problems.length > 0) throw new Error(`Wrong answers: ${problems.join('; ')}`);
      cases.push(await measureCase(engine, one, rivals, options.rounds, smoke ? 1 : LEAST_MS));
      say(`${size} points: ${one.kind}, ${targetText(one)}: checked and measured`);
    }
  }
  return cases;
}

/** Builds a dataset and its engine in this thread. */
export async function loadEngine(path: string): Promise<Engine> {
  const reader = await openSnapshot(path, {});
  try {
    return new Engine(assembleDataset(await buildDataset(reader)));
  } finally {
    reader.close();
  }
}

/** Count and first page of 100, as row numbers, beside what rivals find. */
async function measureCase(
  engine: Engine,
  one: Case,
  rivals: readonly Rival[],
  rounds: number,
  leastMs: number,
): Promise<QueryResult> {
  const { kind, target, ordering, filters, matches } = one;
  const fitting = rivals.filter(
    ({ kinds, takesAll }) => kinds.includes(kind) && (takesAll || target !== Infinity),
  );
  const contenders: Pick<Rival, 'name' | 'find'>[] = [
    {
      name: 'Waypost',
      find: (query) => engine.run({ filters: query, ordering, page: 1, pageSize: 100 })!.rows,
    },
    ...fitting,
  ];
  const turns: [find: Rival['find'], some: readonly Filters[]][] = [];
  for (const { find } of contenders) {
    const micros = await microsOf(find, filters.slice(0, 1), leastMs);
    turns.push([find, filters.slice(0, Math.max(1, Math.floor((MOST_MS * 1000) / micros)))]);
  }
  // code is compiled in the first round, which does not count
  const micros = await takeTurns(turns, 1 + rounds, leastMs);
  const spreads = contenders.map(({ name }, i) => [name, spreadOf(micros[i]!.slice(1))]);
  const points = engine.dataset.count;
  return { points, kind, target: targetText(one), matches, micros: Object.fromEntries(spreads) };
}

function targetText({ target }: Case): string {
  return target === Infinity ? 'all' : String(target);
}

export function queryTables(cases: readonly QueryResult[]): Table[] {
  const rows = cases.flatMap(({ points, kind, target, micros }) =>
    Object.entries(micros).map(([name, { min, mean, median, deviation }]) => [
      `${digits(points)} ${kind}, ${target}: ${name}`,
      digits(min),
      `${digits(mean)} ± ${digits(deviation)}`,
      `${digits(median / micros['Waypost']!.median)} ×`,
    ]),
  );
  const head = ['points, kind, matches: contender', 'min µs', 'mean µs', 'to Waypost'];
  const note = 'Waypost counts, orders and takes page 1; the others only collect what matches.';
  return [{ title: 'Queries, in process', note, head, rows }];
}

const smoke = { points: 5_000, rounds: 1, large: false };
await runBench(import.meta, command, { smoke, run: benchQuery, tables: queryTables });
