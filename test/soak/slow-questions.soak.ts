import { loadEngine } from '../../bench/query.js';
import { nativeFile } from '../../bench/support/data.js';
import type { Dataset } from '../../src/index/dataset.js';
import { AT_ONCE, Budget, EXCEEDED } from '../../src/model/budget.js';
import type { Circle, Query } from '../../src/model/query.js';
import { createEngine } from '../../src/query/engine.js';
import { HOSTILE_DATA, hostileDataset } from '../support/hostile-data.js';
import type { Note } from '../support/notes.js';
import { randomQuestion } from '../support/queries.js';
import { assert, test } from '../support/uvu.js';

/** What a question took, in milliseconds. */
interface Took {
  /** From beginning to end. */
  readonly millis: number;
  /** As long as it holds a thread that answers others, too: until its budget is used up. */
  readonly held: number;
}

/** Works on a question within a budget. */
type Work = (budget: Budget) => unknown;

/** Milliseconds until work ends or has used up its budget, and whether it has ended. */
function hold(work: Work): { readonly held: number; readonly isDone: boolean } {
  let isDone = true;
  const held = millisOf(() => {
    try {
      work(new Budget(AT_ONCE));
    } catch (error) {
      if (error !== EXCEEDED) throw error;
      isDone = false;
    }
  });
  return { held, isDone };
}

/** Works on a question at once, then to its end where that did not suffice; tells what that took. */
function timeWork(work: Work): Took {
  const { held, isDone } = hold(work);
  return { held, millis: isDone ? held : millisOf(() => work(new Budget())) };
}

function millisOf(work: () => void): number {
  // other processes take time of the clock, this one's other threads that of the processor
  const began = performance.now();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return Math.min(performance.now() - began, (user + system) / 1000);
}

const POINTS = 200_000;
const QUESTIONS = 500;
/** Milliseconds of the processor: the budget has one, and a stretch may end late. */
const MOST_HELD = 20;
/** A hiccup of the machine, or code that V8 has yet to compile, must not make a finding. */
const AGAIN = 7;
const SHOWN = 5;

interface Asked extends Took {
  readonly question: string;
}

test('no random question holds a thread for long, on points laid out to be slow either', async () => {
  const found = searchSlow('generated', (await loadEngine(await nativeFile(POINTS))).dataset, []);
  for (const { name, circles, times, make } of HOSTILE_DATA) {
    found.push(...searchSlow(name, await hostileDataset(make(POINTS), times), circles));
  }
  for (const by of ['millis', 'held'] as const) {
    const worst = found.toSorted((a, b) => b[by] - a[by]).slice(0, SHOWN);
    console.log(worst.map((one) => `${by} ${one[by].toFixed(1)}: ${one.question}`).join('\n'));
    if (by === 'held') for (const one of worst) assert.ok(one.held < MOST_HELD, one.question);
  }
});

/** The slowest of random questions, and those that hold a thread longest. */
function searchSlow(name: string, dataset: Dataset, circles: readonly Circle[]): Asked[] {
  const engine = createEngine(dataset);
  const notes = notesOf(dataset);
  const found: Asked[] = [];
  for (let i = 0; i < QUESTIONS; i++) {
    const { filters, ordering, pageOf } = randomQuestion(1, i, notes);
    const circle = filters.circle && circles[i % (2 * circles.length)];
    const asked = circle === undefined ? filters : { ...filters, circle };
    const first = { filters: asked, ordering, page: 1, pageSize: 1 };
    const query: Query = { ...first, ...pageOf(engine.run(first)!.count) };
    const work: Work = (budget) => engine.run(query, undefined, undefined, budget);
    const worst = (by: keyof Took): number =>
      found.toSorted((a, b) => b[by] - a[by])[SHOWN]?.[by] ?? 0;
    const once = timeWork(work);
    if (once.millis <= worst('millis') && once.held <= worst('held')) continue;
    // to the end it takes half a second where every point needs a geodesic: once will do
    const again = Array.from({ length: AGAIN }, () => hold(work).held);
    const held = Math.min(once.held, ...again);
    found.push({ question: `${name}: ${JSON.stringify(query)}`, millis: once.millis, held });
  }
  return found;
}

/** Places and times of some points, which questions are then asked about. */
function notesOf({ coords, count, byCreatedAt, byModifiedAt }: Dataset): Note[] {
  return Array.from({ length: 1_000 }, (_, i) => {
    const row = Math.floor((i * count) / 1_000);
    return {
      id: 1,
      lon: coords[2 * row]!,
      lat: coords[2 * row + 1]!,
      created: byCreatedAt.keys[byCreatedAt.ranks[row]!]!,
      modified: byModifiedAt.keys[byModifiedAt.ranks[row]!]!,
    };
  });
}

test.run();
