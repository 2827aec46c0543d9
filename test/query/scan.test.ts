import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Filters } from '../../src/model/query.js';
import type { Answer, Engine } from '../../src/query/engine.js';
import { Suspended } from '../../src/query/suspended.js';
import { everyHint } from '../support/compare.js';
import { acceptedMatches, engineOf, idsOf, tailOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';

const SEED = 515;
const PIECE = 5_000;
const ALWAYS = { after: -1e16, before: 1e16 };
const notes = scatterNotes(SEED, 40_000);
const oracle = new Oracle(notes);
const engine = await engineOf(notes, PIECE);

/** Notes what a visitor sees, and asserts that it comes in order. */
function visitor(): { rows: number[]; visits: number; visit: (from: number, to: number) => void } {
  const seen = {
    rows: [] as number[],
    visits: 0,
    visit(from: number, to: number): void {
      assert.ok(from < to && from > (seen.rows.at(-1) ?? -1), `${from} to ${to}`);
      seen.visits++;
      for (let row = from; row < to; row++) seen.rows.push(row);
    },
  };
  return seen;
}

function idsOfRows({ dataset }: Engine, rows: readonly number[]): number[] {
  return idsOf(dataset, rows, rows.length).sort((a, b) => a - b);
}

/** Resumes a scan to its end; returns the count and the number of pieces. */
function finish(scan: Suspended<number>): [count: number, pieces: number] {
  for (let pieces = 1; ; pieces++) {
    const result = scan.resume();
    if (!(result instanceof Suspended)) return [result, pieces];
  }
}

test('a scan visits each match once, whatever is gone through, whole or in pieces', () => {
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = randomQuestion(SEED, index, notes);
    const expected = oracle.find(filters, 'id').notes.map(({ id }) => id);
    for (const { driver } of everyHint(filters).filter(({ way }) => way === 'walk')) {
      const label = `seed ${SEED}, question ${index}, ${driver}: ${JSON.stringify(filters)}`;
      const whole = visitor();
      const hints = driver === undefined ? {} : { driver };
      assert.is(engine.scan(filters, whole.visit, hints), expected.length, label);
      assert.equal(idsOfRows(engine, whole.rows), expected, label);
      const inPieces = visitor();
      const [count] = finish(engine.beginScan(filters, inPieces.visit, hints));
      assert.is(count, expected.length, label);
      assert.equal(inPieces.rows, whole.rows, label);
    }
  }
});

test('accepted points come last, each once, neighbours as one run', () => {
  const tail = tailOf(notes.slice(0, 300));
  const { count } = engine.dataset;
  for (const filters of [{}, { isProcessed: true }, { createdAt: { after: 0, before: 1.6e15 } }]) {
    const own = visitor();
    engine.scan(filters, own.visit);
    const accepted = acceptedMatches(tail, 300, filters)!;
    const both = visitor();
    const found = engine.scan(filters, both.visit, {}, accepted);
    assert.is(found, own.rows.length + accepted.rows.length);
    assert.equal(both.rows, [...own.rows, ...Array.from(accepted.rows, (row) => count + row)]);
    if (accepted.rows.length === 300) assert.is(both.visits, own.visits + 1);
    const inPieces = visitor();
    assert.is(finish(engine.beginScan(filters, inPieces.visit, {}, accepted))[0], found);
    assert.equal(inPieces.rows, both.rows);
  }
});

test('where whole stretches match they come as runs, and a long one in parts', () => {
  const all = visitor();
  assert.is(engine.scan({}, all.visit), notes.length);
  // a stretch of work is a fifth of a piece, two nanoseconds a row
  assert.is(all.visits, Math.ceil(notes.length / (PIECE / 5 / 2)));
  const half = visitor();
  const boxes: Filters['boxes'] = [{ west: -180, south: 0, east: 180, north: 90 }];
  const count = engine.scan({ boxes }, half.visit);
  assert.ok(half.visits < count / 8, `${half.visits} visits for ${count} rows`);
});

test('marks from the first row on are visited across stretches of work', async () => {
  const count = 2_000;
  const many = notes.slice(0, count).map((note, i) => ({ ...note, id: i + 1, created: i + 1 }));
  const all = many.map(({ id }) => id);
  const asked = await engineOf(many, PIECE);
  // all but one match, and of these two one has hundreds of rows before its own
  for (const [after, before] of [
    [1, count - 1],
    [2, count],
  ] as const) {
    const seen = visitor();
    const found = asked.scan({ createdAt: { after, before }, modifiedAt: ALWAYS }, seen.visit);
    assert.equal([found, seen.rows[0]], [count - 1, 0]);
    assert.equal(idsOfRows(asked, seen.rows), all.slice(after - 1, before));
  }
});

test('a scan begins with its first piece, lets queries pass, and can be dropped', () => {
  const filters = { createdAt: { after: -1e16, before: 1.6e15 } };
  const seen = visitor();
  const scan = engine.beginScan(filters, seen.visit);
  assert.is(seen.visits, 0);
  for (let pieces = 0; pieces < 5; pieces++) {
    assert.instance(scan.resume(), Suspended);
    const { count } = engine.run({ filters, ordering: 'modified_at', page: 2, pageSize: 10 })!;
    assert.is(count, oracle.find(filters, 'id').notes.length);
  }
  scan.drop();
  const again = visitor();
  const [count, pieces] = finish(engine.beginScan(filters, again.visit));
  assert.is(count, again.rows.length);
  assert.ok(pieces > 10, `${pieces} pieces`);
});

test('a query that pauses before a scan has begun waits for the scan, and starts anew', () => {
  const filters = { createdAt: { after: -1e16, before: 1.6e15 } };
  const query = { filters, ordering: 'modified_at', page: 2, pageSize: 10 } as const;
  const seen = visitor();
  const scan = engine.beginScan(filters, seen.visit);
  const paused = engine.begin(query, { way: 'mark' });
  if (!(paused instanceof Suspended)) throw new Error('Expected it to pause.');
  const [count] = finish(scan);
  assert.is(count, seen.rows.length);
  let answer: Answer | Suspended<Answer> = paused;
  while (answer instanceof Suspended) answer = answer.resume();
  assert.is(answer!.count, count);
});

test.run();
