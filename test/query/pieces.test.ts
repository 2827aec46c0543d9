import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Query } from '../../src/model/query.js';
import { listRows, type Matches } from '../../src/query/common/matches.js';
import { createScratch } from '../../src/query/common/scratch.js';
import { windowOf } from '../../src/query/common/windows.js';
import { drain, isWork } from '../../src/query/common/work.js';
import type { Answer, Engine, Hints } from '../../src/query/engine.js';
import { Suspended } from '../../src/query/suspended.js';
import { everyHint } from '../support/compare.js';
import { engineOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';

const SEED = 4711;
/** So little that every query of some hundred rows pauses. */
const PIECE = 500;

const notes = scatterNotes(SEED, 5_000);
const whole = await engineOf(notes);
const pausing = await engineOf(notes, PIECE);
const heavy: Query = {
  filters: {
    createdAt: { after: -1e15, before: 1.6e15 },
    modifiedAt: { after: 0, before: 1.7e15 },
  },
  ordering: '-modified_at',
  page: 2,
  pageSize: 100,
};

/**
 * The answer without its rows' memory, which the next query uses again, and without what it took.
 */
function plain(answer: Answer): unknown {
  const rows = answer && [...answer.rows.subarray(0, answer.length)];
  return answer && { ...answer, rows, effort: undefined };
}

/** Begins a query and works on it to its end; returns the answer and the number of pieces. */
function finish(engine: Engine, query: Query, hints?: Hints): [answer: unknown, pieces: number] {
  let answer = engine.begin(query, hints);
  let pieces = 1;
  for (; answer instanceof Suspended; pieces++) answer = answer.resume();
  return [plain(answer), pieces];
}

test('a query that pauses again and again gives the same page, whichever way', () => {
  let paused = 0;
  for (let index = 0; index < 4 * COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const count = whole.run({ filters, ordering, page: 1, pageSize: 1 })!.count;
    const query = { filters, ordering, ...pageOf(count) };
    const expected = plain(whole.run(query));
    for (const hints of [{}, ...everyHint(filters)]) {
      const [answer, pieces] = finish(pausing, query, hints);
      if (pieces > 1) paused++;
      const label = `seed ${SEED}, question ${index}: ${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
      assert.equal(answer, expected, label);
    }
  }
  assert.ok(paused > 1_000, `only ${paused} paused`);
});

test('the rows of one window of time are listed in pieces', () => {
  const { dataset } = whole;
  const window = windowOf(dataset.byCreatedAt, { after: 0, before: 1.6e15 })!;
  const { from, to } = window.range;
  const scratch = createScratch(dataset.count, PIECE);
  const matches: Matches = { form: 'windows', windows: [window], count: window.count };
  const listing = listRows(scratch, matches);
  assert.ok(window.count > 1_000 && isWork(listing));
  const rows = drain(listing, scratch.meter);
  assert.equal([...rows], [...dataset.byCreatedAt.rows.subarray(from, to)]);
});

test('others are answered while a query is half-way, and neither disturbs the other', () => {
  const expected = plain(whole.run(heavy));
  const half = pausing.begin(heavy);
  if (!(half instanceof Suspended)) throw new Error('Expected it to pause.');
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters, ordering } = randomQuestion(SEED + 1, index, notes);
    const query = { filters, ordering, page: 1, pageSize: 10 };
    assert.equal(plain(pausing.run(query)), plain(whole.run(query)));
    if (index % 8 === 0) assert.is(half.resume(), half, 'more pieces');
  }
  let answer: Answer | Suspended<Answer> = half;
  while (answer instanceof Suspended) answer = answer.resume();
  assert.equal(plain(answer), expected);
});

test('while a query is half-way, another one gets a share of a piece before it has to wait', async () => {
  const some: Query = {
    ...heavy,
    filters: { boxes: [{ west: -90, south: -45, east: 90, north: 45 }] },
  };
  const circle = { lon: 30, lat: 40, radius: 19_000_000 };
  const heavier: Query = { ...heavy, filters: { ...heavy.filters, circle } };
  // the least of these that suffices for it
  let piece = 1_000;
  let engine = await engineOf(notes, piece);
  for (; engine.begin(some) instanceof Suspended; piece *= 1.5) {
    engine = await engineOf(notes, piece);
  }
  const half = engine.begin(heavier);
  if (!(half instanceof Suspended)) throw new Error('Expected it to pause.');
  const beside = engine.begin(some);
  if (!(beside instanceof Suspended)) throw new Error('Expected it to pause.');
  half.drop();
  beside.drop();
  assert.is.not(engine.begin(some) instanceof Suspended, true);
});

test('of two that take long the second starts anew when the first has ended', () => {
  const other: Query = { ...heavy, ordering: 'id' };
  const [first, second] = [pausing.begin(heavy), pausing.begin(other)];
  if (!(first instanceof Suspended && second instanceof Suspended)) throw new Error('Both pause.');
  first.resume();
  assert.throws(() => second.resume(), 'Expected no other query to be half-way.');
  let answer: Answer | Suspended<Answer> = first;
  while (answer instanceof Suspended) answer = answer.resume();
  assert.equal(plain(answer), plain(whole.run(heavy)));
  answer = second;
  while (answer instanceof Suspended) answer = answer.resume();
  assert.equal(plain(answer), plain(whole.run(other)));
});

test('a query that is dropped half-way leaves nothing to the next', () => {
  for (const way of ['walk', 'mark', 'select'] as const) {
    for (let pieces = 1; pieces < 40; pieces += 3) {
      const dropped = pausing.begin(heavy, { way });
      if (!(dropped instanceof Suspended)) throw new Error('Expected it to pause.');
      for (let i = 1; i < pieces; i++) {
        if (!(dropped.resume() instanceof Suspended)) break;
      }
      dropped.drop();
      for (const other of ['mark', 'select'] as const) {
        const [answer] = finish(pausing, heavy, { way: other });
        assert.equal(answer, plain(whole.run(heavy)), `${way}, ${pieces} pieces, then ${other}`);
      }
    }
  }
});

test.run();
