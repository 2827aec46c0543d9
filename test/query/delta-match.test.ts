import { appendToDelta, continueDelta } from '../../src/index/delta.js';
import { copyPage, fetchPage } from '../../src/index/record-page.js';
import { renderPoint } from '../../src/model/point.js';
import type { Filters } from '../../src/model/query.js';
import { matchDelta } from '../../src/query/delta-match.js';
import { assertQuestion, everyHint } from '../support/compare.js';
import { acceptedMatches, acceptedOf, deltaOf, engineOf, idsOf, Meter } from '../support/engine.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { ascending, assert, IS_SOAK, test } from '../support/uvu.js';

const SEED = 13;
/** Of the questions each list of points is asked, other ones each time. */
const EVERY = IS_SOAK ? 1 : 3;
const notes = scatterNotes(SEED, 3_000);
const engine = await engineOf(notes.slice(0, 2_500));
const delta = deltaOf(notes.slice(2_500));

/** Asks about the first `served` notes as a generation, and those up to `length` as a delta. */
async function ask(served: number, lengths: readonly number[]): Promise<void> {
  const engine = await engineOf(notes.slice(0, served));
  const delta = deltaOf(notes.slice(served));
  for (const [turn, length] of lengths.entries()) {
    const oracle = new Oracle(notes.slice(0, served + length));
    for (let index = turn % EVERY; index < COMBINATIONS; index += EVERY) {
      const question = randomQuestion(SEED + length, index, notes);
      const every = everyHint(question.filters);
      const asked = { engine, oracle, delta, length, hints: every[index % (2 * every.length)] };
      assertQuestion(asked, question, `${served} notes and ${length}, question ${index}`);
    }
  }
}

test('a generation and a delta answer as a plain list of both, whatever is how large', async () => {
  await ask(2_500, [0, 1, 7, 500]);
  await ask(700, [1_100, 2_300]);
  await ask(1, [2_999]);
  await ask(0, [1, 3_000]);
});

test('a delta that goes on after a merge still tells attributes', () => {
  const delta = deltaOf(notes.slice(0, 400));
  const next = continueDelta(delta, 200, { rows: 600, bytes: 600_000 });
  appendToDelta(next, acceptedOf(notes.slice(400, 600), 401));
  const own = notes.slice(200, 600);
  const many = Array.from({ length: 20 }, (_, i) => `rare ${i}`);
  const asked: Filters[] = [
    { statuses: ['NEW'] },
    { statuses: ['OPEN', 'x"y'], isProcessed: true },
    { tags: ['Lighting', '],"created_at":"'] },
    { tags: ['😀'.repeat(64), ...many] },
    { tagsAll: ['Lighting', 'Muu 2'] },
    { createdBy: [148, undefined], hasImage: false },
    { createdBy: [2 ** 53 - 1] },
    { hasImage: true },
  ];
  const oracle = new Oracle(own);
  for (const filters of asked) {
    const found = [...matchDelta(next, filters, 0, 400)].map((row) => own[row]!.id);
    const expected = oracle.find(filters, 'id').notes.map(({ id }) => id);
    assert.equal(ascending(found), expected, JSON.stringify(filters));
    assert.ok(expected.length > 0 && expected.length < own.length);
  }
});

test('of points that share their place and times the ids decide, whichever of both they are in', async () => {
  // accepted ids lie between those of the dataset
  const ids = [5, 1, 9, 3, 30, 7, 20, 8, 2, 6, 25, 4];
  const alike = ids.map((id) => ({ id, lon: 24.9, lat: 60.1, created: 1e15, modified: 1e15 }));
  const engine = await engineOf(alike.slice(0, 5));
  const delta = deltaOf(alike.slice(5));
  const circle = { lon: 24.8, lat: 60.1, radius: 1e5 };
  const ascending = ids.toSorted((a, b) => a - b);
  for (const ordering of ['id', 'distance', 'created_at', '-modified_at'] as const) {
    const wanted = ordering === '-modified_at' ? ascending.toReversed() : ascending;
    for (const pageSize of [1, 2, 5, 12]) {
      for (let page = 1; (page - 1) * pageSize < ids.length; page++) {
        const accepted = acceptedMatches(delta, 7, { circle });
        const query = { filters: { circle }, ordering, page, pageSize };
        const { rows, length } = engine.run(query, {}, accepted)!;
        const found = idsOf(engine.dataset, rows, length, delta);
        const places = wanted.slice((page - 1) * pageSize, page * pageSize);
        assert.equal(found, places, `${ordering}, page ${page} of ${pageSize}`);
      }
    }
  }
});

test('a page of rows of both tells by which way it was taken', () => {
  const circle = { lon: 24.9, lat: 60.1, radius: 19_000_000 };
  const modifiedAt = { after: 0, before: 1.7e15 };
  const asked = [
    { filters: {}, ordering: 'id', ways: ['slice'] },
    { filters: { modifiedAt }, ordering: 'created_at', ways: ['cells', 'mark', 'select', 'walk'] },
    { filters: { circle }, ordering: 'distance', ways: ['distances', 'outwards'] },
  ] as const;
  for (const { filters, ordering, ways } of asked) {
    const accepted = acceptedMatches(delta, 500, filters);
    const query = { filters, ordering, page: 1, pageSize: 10 };
    const told = (['walk', 'mark', 'cells', 'select'] as const).map((accessPath) => {
      const { work } = engine.run(query, { accessPath }, accepted)!;
      const { work: alone } = engine.run(query, { accessPath })!;
      assert.is(work.accessPath, alone.accessPath, `${ordering}, ${accessPath}`);
      return work.accessPath;
    });
    assert.equal([...new Set(told)].sort(), ways);
  }
});

test('a page of rows of both is copied record by record', () => {
  const { dataset } = engine;
  const texts = new Map(notes.map((note) => [note.id, renderPoint(pointOf(note))]));
  for (const ordering of ['id', '-modified_at'] as const) {
    const query = { filters: {}, ordering, page: 2, pageSize: 1000 };
    const { rows, length } = engine.run(query, {}, acceptedMatches(delta, 500, {}))!;
    const fetched = fetchPage(dataset, delta, rows, length);
    const target = Buffer.alloc(fetched.size + 10);
    const end = copyPage(fetched, target, 10);
    const wanted = idsOf(dataset, rows, length, delta).map((id) => texts.get(id));
    assert.is(target.subarray(10, end).toString(), wanted.join(','));
    assert.is(end, fetched.size + 10);
  }
});

test('the shortest stretches of work find the same, in a delta and in pages with it', () => {
  const counted = new Oracle(notes);
  const meters = [0, 0];
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const query = { filters, ordering, ...pageOf(counted.find(filters, ordering).notes.length) };
    const accepted = acceptedMatches(delta, 500, filters);
    const [page, wanted] = [new Meter(500), undefined].map((budget) => {
      const found = engine.run(query, {}, accepted, budget);
      meters[0]! += budget?.renewals ?? 0;
      return found && idsOf(engine.dataset, found.rows, found.length, found.delta);
    });
    assert.equal(page, wanted, JSON.stringify(query));
    const meter = new Meter(200);
    const rows = matchDelta(delta, filters, 7, 500, meter);
    meters[1]! += meter.renewals;
    assert.equal(rows, matchDelta(delta, filters, 7, 500), JSON.stringify(filters));
  }
  for (const renewals of meters) assert.ok(renewals > COMBINATIONS / 2, `${meters} budgets`);
});

test.run();
