import type { Filters, Ordering } from '../../src/model/query.js';
import type { Hints } from '../../src/query/engine.js';
import { allPages, assertHints, assertNotes, assertQuestion } from '../support/compare.js';
import { engineOf, idsOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, IS_SOAK, test } from '../support/uvu.js';

const SEED = 2026;
/** Questions of each kind, fewer where each is asked in many ways. */
const ROUNDS = IS_SOAK ? 102 : 2;

// more than 65,536, where the tree of the radius index begins to number its points in 32 bits
const notes = scatterNotes(SEED, 66_000);
const oracle = new Oracle(notes);
const engine = await engineOf(notes);
/** Few enough that the tree numbers its points in 16 bits. */
const fewer = notes.slice(0, 12_000);
const oracleOfFewer = new Oracle(fewer);
const engineOfFewer = await engineOf(fewer);

for (const [asked, known, step] of [
  // a step that leads to each set of filters, and to each order
  [{ engine, oracle }, notes, IS_SOAK ? 1 : 3],
  [{ engine: engineOfFewer, oracle: oracleOfFewer }, fewer, 1],
] as const) {
  test(`random queries of ${known.length} notes are answered as by filtering and sorting all`, () => {
    for (let index = 0; index < (IS_SOAK ? ROUNDS : ROUNDS / 2) * COMBINATIONS; index += step) {
      const question = randomQuestion(SEED, index, known);
      assertQuestion(asked, question, `seed ${SEED}, question ${index} of ${known.length} notes`);
    }
  });
}

test('whatever the planner chooses, the page is the same', () => {
  for (let index = 0; index < Math.ceil(ROUNDS / 3) * COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED + 1, index, fewer);
    const count = engineOfFewer.run({ filters, ordering, page: 1, pageSize: 1 })!.count;
    const query = { filters, ordering, ...pageOf(count) };
    const label = `seed ${SEED + 1}, question ${index}: ${JSON.stringify(query)}`;
    assertHints(engineOfFewer, query, label);
  }
});

test('all pages together hold each match once, in order', () => {
  for (let index = 0; index < Math.ceil(ROUNDS / 3) * COMBINATIONS; index++) {
    const { filters, ordering } = randomQuestion(SEED + 2, index, fewer);
    const expected = oracleOfFewer.find(filters, ordering);
    const pages = 1 + (index % 9);
    const pageSize = Math.max(1, Math.min(1000, Math.ceil(expected.notes.length / pages)));
    const label = `seed ${SEED + 2}, question ${index}, pages of ${pageSize}: ${JSON.stringify(filters)}`;
    const ids = allPages(engineOfFewer, { filters, ordering, pageSize });
    assertNotes(ids, expected.notes, expected, label);
  }
});

test('the marks of a region choose the same rows of a window as a test of each row', () => {
  const { byCreatedAt: created, byModifiedAt: modified } = engine.dataset;
  const circle = { lat: 60.17, lon: 24.94, radius: 18_500_000 };
  const createdAt = { after: created.keys[26_400]!, before: created.keys[27_600]! };
  const modifiedAt = { after: modified.keys[2_000]!, before: modified.keys[64_000]! };
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
