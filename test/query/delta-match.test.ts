import { appendToDelta, continueDelta } from '../../src/index/delta.js';
import { createPageCopier, fetchMixedPage } from '../../src/index/record-page.js';
import { renderPoint } from '../../src/model/point.js';
import type { Filters, Ordering } from '../../src/model/query.js';
import { matchDelta } from '../../src/query/delta-match.js';
import type { Hints } from '../../src/query/engine.js';
import { assertPage, everyHint } from '../support/compare.js';
import { acceptedMatches, acceptedOf, deltaOf, engineOf, idsOf, Meter } from '../support/engine.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { ascending, assert, test } from '../support/uvu.js';

const SEED = 13;
const notes = scatterNotes(SEED, 3_000);
const texts = new Map(notes.map((note) => [note.id, renderPoint(pointOf(note))]));

/** Asks of the first `served` notes as a generation, and the next, up to `length`, as a delta. */
async function ask(served: number, lengths: readonly number[], questions: number): Promise<void> {
  const engine = await engineOf(notes.slice(0, served));
  const delta = deltaOf(notes.slice(served));
  for (const length of lengths) {
    const all = notes.slice(0, served + length);
    const oracle = new Oracle(all);
    for (let index = 0; index < questions; index++) {
      const { filters, ordering, pageOf } = randomQuestion(SEED + length, index, notes);
      const expected = oracle.find(filters, ordering);
      const query = { filters, ordering, ...pageOf(expected.count) };
      const label = `${served} notes and ${length}, question ${index}: ${JSON.stringify(query)}`;
      const accepted = acceptedMatches(delta, length, filters);
      const hints = everyHint(filters);
      assertPage(engine, query, expected, label, accepted, hints[index % (2 * hints.length)]);
    }
  }
}

test('a generation and a delta together answer as a plain list of both, at every length', async () => {
  await ask(2_500, [0, 1, 7, 500], COMBINATIONS);
});

test('so do a delta that is larger than the generation, and one without any generation', async () => {
  await ask(700, [1_100, 2_300], COMBINATIONS);
  await ask(1, [2_999], COMBINATIONS);
  await ask(0, [1, 3_000], COMBINATIONS);
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

test('a look in the shortest stretches finds the same', () => {
  const delta = deltaOf(notes.slice(0, 1_500));
  let renewals = 0;
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters } = randomQuestion(SEED, index, notes);
    const meter = new Meter(500);
    const found = matchDelta(delta, filters, 7, 1_500, meter);
    renewals += meter.renewals;
    assert.equal(found, matchDelta(delta, filters, 7, 1_500), JSON.stringify(filters));
  }
  assert.ok(renewals > COMBINATIONS / 2, `${renewals} budgets`);
});

test('of points that share their place and times the ids decide, whichever of both they are in', async () => {
  // three places in the sequence of ids for each of the dataset's rows: before, between, behind
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

test('a page of rows of both tells by which way it was taken', async () => {
  const engine = await engineOf(notes.slice(0, 2_500));
  const delta = deltaOf(notes.slice(2_500));
  const circle = { lon: 24.9, lat: 60.1, radius: 19_000_000 };
  const modifiedAt = { after: 0, before: 1.7e15 };
  const asked = [
    { filters: {}, ordering: 'id', ways: ['slice'] },
    { filters: { modifiedAt }, ordering: 'created_at', ways: ['walk', 'mark', 'cells', 'select'] },
    { filters: { circle }, ordering: 'distance', ways: ['distances', 'outwards'] },
  ] as const;
  for (const { filters, ordering, ways } of asked) {
    const accepted = acceptedMatches(delta, 500, filters);
    const query = { filters, ordering, page: 1, pageSize: 10 };
    const told = (['walk', 'mark', 'cells', 'select'] as const).map((accessPath) => {
      const { effort } = engine.run(query, { accessPath }, accepted)!;
      assert.is(
        effort.accessPath,
        engine.run(query, { accessPath })!.effort.accessPath,
        `${ordering}, ${accessPath}`,
      );
      return effort.accessPath;
    });
    assert.equal([...new Set(told)].sort(), ways.toSorted());
  }
});

test('a page of rows of both is copied record by record', async () => {
  const engine = await engineOf(notes.slice(0, 2_000));
  const delta = deltaOf(notes.slice(2_000));
  const { dataset } = engine;
  const copier = createPageCopier();
  for (const ordering of ['id', '-modified_at'] as const) {
    const accepted = acceptedMatches(delta, 1_000, {});
    const page = engine.run({ filters: {}, ordering, page: 2, pageSize: 1000 }, {}, accepted)!;
    const { rows, length } = page;
    const fetched = fetchMixedPage(dataset.records, dataset.count, delta, rows, length);
    const target = Buffer.alloc(fetched.size + 10);
    const end = copier.copy(fetched, target, 10);
    const wanted = idsOf(dataset, rows, length, delta).map((id) => texts.get(id));
    assert.is(target.subarray(10, end).toString(), wanted.join(','));
    assert.is(end, fetched.size + 10);
  }
});

test('the shortest stretches of work give the same pages with accepted points', async () => {
  const engine = await engineOf(notes.slice(0, 2_500));
  const delta = deltaOf(notes.slice(2_500));
  const counted = new Oracle(notes);
  let renewals = 0;
  for (let index = 0; index < COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const query = { filters, ordering, ...pageOf(counted.find(filters, ordering).count) };
    const accepted = acceptedMatches(delta, 500, filters);
    const [own, wanted] = [new Meter(500), undefined].map((budget) => {
      const page = engine.run(query, {}, accepted, budget);
      renewals += budget?.renewals ?? 0;
      return page && idsOf(engine.dataset, page.rows, page.length, page.delta);
    });
    assert.equal(own, wanted, JSON.stringify(query));
  }
  assert.ok(renewals > COMBINATIONS, `${renewals} budgets`);
});

const WINDOW_SEED = 4712;
const many = scatterNotes(WINDOW_SEED, 20_000);
const engine = await engineOf(many);

test('rows of a window are told by the marks of a region as by a test of each', () => {
  const times = many.map(({ created }) => created).sort((a, b) => a - b);
  const changes = many.map(({ modified }) => modified).sort((a, b) => a - b);
  const circle = { lat: 60.17, lon: 24.94, radius: 18_500_000 };
  const createdAt = { after: times[8_000]!, before: times[9_200]! };
  const modifiedAt = { after: changes[600]!, before: changes[19_400]! };
  const boxes = [{ west: -170, south: -85, east: 170, north: 85 }];
  const asked: readonly Filters[] = [
    { circle, createdAt },
    { boxes, createdAt },
    { circle, createdAt, modifiedAt },
    { circle, boxes, createdAt, modifiedAt },
  ];
  for (const filters of asked) {
    for (const ordering of ['id', 'created_at', '-modified_at', 'distance'] as Ordering[]) {
      if (ordering === 'distance' && filters.circle === undefined) continue;
      const page = (hints: Hints): [number, number[]] => {
        const answer = engine.run({ filters, ordering, page: 2, pageSize: 50 }, hints)!;
        return [answer.count, idsOf(engine.dataset, answer.rows, answer.length)];
      };
      const expected = page({ driver: 'createdAt' });
      const label = JSON.stringify({ filters, ordering });
      assert.ok(expected[0] > 100 && expected[0] <= 1_201, `${expected[0]}: ${label}`);
      for (const accessPath of ['walk', 'mark', 'select'] as const) {
        assert.equal(page({ accessPath }), expected, label);
        assert.equal(page({ driver: 'region' }), expected, `after ${label}`);
      }
    }
  }
});

test.run();
