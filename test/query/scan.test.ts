import type { Filters } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { everyHint } from '../support/compare.js';
import { acceptedMatches, deltaOf, engineOf, idsOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, rounds, test } from '../support/uvu.js';

const SEED = 515;
/** A budget so small that scans use up many. */
const LITTLE = 5_000;
const ALWAYS = { after: -1e16, before: 1e16 };
const notes = scatterNotes(SEED, rounds(80_000));
const oracle = new Oracle(notes);
const engine = await engineOf(notes);

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

test('a scan visits each match once, whatever is gone through, and however short the stretches are', () => {
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = randomQuestion(SEED, index, notes);
    const expected = oracle.find(filters, 'id').notes.map(({ id }) => id);
    for (const { driver } of everyHint(filters).filter(({ accessPath }) => accessPath === 'walk')) {
      const label = `seed ${SEED}, question ${index}, ${driver}: ${JSON.stringify(filters)}`;
      const whole = visitor();
      const hints = driver === undefined ? {} : { driver };
      assert.is(engine.scan(filters, whole.visit, hints), expected.length, label);
      assert.equal(idsOfRows(engine, whole.rows), expected, label);
      const inParts = visitor();
      const count = engine.scan(filters, inParts.visit, hints, undefined, new Meter(LITTLE));
      assert.is(count, expected.length, label);
      assert.equal(inParts.rows, whole.rows, label);
    }
  }
});

test('accepted points come last, each once, neighbours as one run', () => {
  const delta = deltaOf(notes.slice(0, 300));
  const { count } = engine.dataset;
  for (const filters of [{}, { isProcessed: true }, { createdAt: { after: 0, before: 1.6e15 } }]) {
    const own = visitor();
    engine.scan(filters, own.visit);
    const accepted = acceptedMatches(delta, 300, filters)!;
    const both = visitor();
    const found = engine.scan(filters, both.visit, {}, accepted);
    assert.is(found, own.rows.length + accepted.rows.length);
    assert.equal(both.rows, [...own.rows, ...Array.from(accepted.rows, (row) => count + row)]);
    if (accepted.rows.length === 300) assert.is(both.visits, own.visits + 1);
    const inParts = visitor();
    assert.is(engine.scan(filters, inParts.visit, {}, accepted, new Meter(LITTLE)), found);
    assert.equal(inParts.rows, both.rows);
  }
});

test('where whole stretches match they come as runs, and a long one in parts', () => {
  const all = visitor();
  const meter = new Meter(LITTLE);
  assert.is(engine.scan({}, all.visit, {}, undefined, meter), notes.length);
  // two nanoseconds a row
  assert.is(all.visits, Math.ceil(notes.length / (meter.stretch / 2)));
  const half = visitor();
  const boxes: Filters['boxes'] = [{ west: -180, south: 0, east: 180, north: 90 }];
  const count = engine.scan({ boxes }, half.visit);
  assert.ok(half.visits < count / 8, `${half.visits} visits for ${count} rows`);
});

test('marks from the first row on are visited across stretches of work', async () => {
  const count = 2_000;
  const many = notes.slice(0, count).map((note, i) => ({ ...note, id: i + 1, created: i + 1 }));
  const all = many.map(({ id }) => id);
  const asked = await engineOf(many);
  // all but one match, and of these two one has hundreds of rows before its own
  for (const [after, before] of [
    [1, count - 1],
    [2, count],
  ] as const) {
    const seen = visitor();
    const found = asked.scan(
      { createdAt: { after, before }, modifiedAt: ALWAYS },
      seen.visit,
      {},
      undefined,
      new Meter(LITTLE),
    );
    assert.equal([found, seen.rows[0]], [count - 1, 0]);
    assert.equal(idsOfRows(asked, seen.rows), all.slice(after - 1, before));
  }
});

test('a visitor that throws ends a scan, which leaves nothing to the next query', () => {
  const filters = { createdAt: { after: -1e16, before: 1.6e15 }, modifiedAt: ALWAYS };
  const query = { filters, ordering: 'modified_at', page: 2, pageSize: 10 } as const;
  const stop = (): never => {
    throw new RangeError('enough');
  };
  assert.throws(() => engine.scan(filters, stop), 'enough');
  const { count } = engine.run(query, { accessPath: 'mark' })!;
  assert.is(count, oracle.find(filters, 'id').notes.length);
});

test.run();
