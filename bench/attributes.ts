import type { Filters } from '../src/model/query.js';
import { makeCases } from './query/cases.js';
import { measure, queryOf } from './query/measure.js';
import { loadEngine } from './query.js';
import { nativeFile, SEED } from './support/data.js';
import { plainCommand, positive, runMain } from './support/run.js';

const command = plainCommand(
  'attributes',
  'Measures what filters by attributes add to a query, in this process.',
).option('--points <number>', 'how many', positive, 1_000_000);

const ROUNDS = 5;
const LEAST_MS = 150;
const TAGS = ['Lighting', 'Muu 2', 'Traffic', 'Noise', 'Accessibility', 'Public transport'];

/** Attributes of query number `i`. */
const COMBINATIONS: Readonly<Record<string, (i: number) => Filters>> = {
  none: () => ({}),
  'status=OPEN': () => ({ statuses: ['OPEN'] }),
  'created_by=148': () => ({ createdBy: [148] }),
  'three attributes, kept': () => ({
    isProcessed: false,
    statuses: ['NEW', 'OPEN'],
    tags: TAGS.slice(0, 3),
  }),
  // more than are kept
  'three, never kept': (i) => ({
    isProcessed: i % 2 === 0,
    statuses: ['NEW', `other ${i % 50}`],
    tags: TAGS.slice(0, 3),
  }),
};

/** Entry: microseconds of count and first page of 100, for queries of each kind and size. */
async function main(): Promise<void> {
  const { points } = command.parse().opts<{ points: number }>();
  const engine = await loadEngine(await nativeFile(points));
  const names = Object.keys(COMBINATIONS);
  console.log(`| matches without attributes | ${names.join(' | ')} |`);
  console.log(`| --- |${' ---: |'.repeat(names.length)}`);
  for (const { kind, matches, ordering, filters } of makeCases(engine, SEED)) {
    const cells = names.map((name) => {
      const asked = filters.map((one, i) => ({ ...one, ...COMBINATIONS[name]!(i) }));
      const { run } = queryOf(engine, ordering);
      return measure([{ name, run }], asked, ROUNDS, LEAST_MS).get(name)!.median.toFixed(1);
    });
    console.log(`| ${kind}, ${Math.round(matches)} | ${cells.join(' | ')} |`);
  }
}

await runMain(import.meta, main);
