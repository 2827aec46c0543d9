import { recordBytes } from '../../src/index/records.js';
import { renderPoint } from '../../src/model/point.js';
import { allPages, assertHints, assertNotes, assertPage } from '../support/compare.js';
import { engineOf, idsOf } from '../support/engine.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { IS_SOAK } from '../support/soak.js';
import { assert, test } from '../support/uvu.js';

const SEED = 2026;
/** Questions of each kind, fewer where each is asked in many ways. */
const ROUNDS = IS_SOAK ? 102 : 3;
const QUESTIONS = ROUNDS * COMBINATIONS;

// more than 65,536, where the tree of the radius index begins to number its points in 32 bits
const notes = scatterNotes(SEED, 66_000);
const oracle = new Oracle(notes);
const engine = await engineOf(notes);

test('every row is its record', () => {
  const { dataset } = engine;
  const rendered = new Map(notes.map((note) => [note.id, renderPoint(pointOf(note))]));
  const ids = idsOf(
    dataset,
    Array.from({ length: dataset.count }, (_, row) => row),
    dataset.count,
  );
  for (const [row, id] of ids.entries()) {
    const text = Buffer.from(recordBytes(dataset.records, row)).toString();
    if (text !== rendered.get(id)) assert.is(text, rendered.get(id), `row ${row}`);
  }
  assert.is(new Set(ids).size, notes.length);
});

test(`${QUESTIONS} random queries are answered as by filtering and sorting every note`, () => {
  for (let index = 0; index < QUESTIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const expected = oracle.find(filters, ordering);
    const query = { filters, ordering, ...pageOf(expected.count) };
    const label = `seed ${SEED}, question ${index}: ${JSON.stringify(query)}`;
    assertPage(engine, query, expected, label);
  }
});

test('whatever the planner chooses, the page is the same', () => {
  for (let index = 0; index < Math.ceil(ROUNDS / 2) * COMBINATIONS; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED + 1, index, notes);
    const count = engine.run({ filters, ordering, page: 1, pageSize: 1 })!.count;
    const query = { filters, ordering, ...pageOf(count) };
    assertHints(engine, query, `seed ${SEED + 1}, question ${index}: ${JSON.stringify(query)}`);
  }
});

test('all pages together hold each match once, in order', () => {
  for (let index = 0; index < (ROUNDS / 3) * COMBINATIONS; index++) {
    const { filters, ordering } = randomQuestion(SEED + 2, index, notes);
    const expected = oracle.find(filters, ordering);
    const pages = 1 + (index % 9);
    const pageSize = Math.max(1, Math.min(1000, Math.ceil(expected.count / pages)));
    const label = `seed ${SEED + 2}, question ${index}, pages of ${pageSize}: ${JSON.stringify(filters)}`;
    const ids = allPages(engine, { filters, ordering, pageSize });
    assertNotes(ids, expected.notes, expected, label);
  }
});

test.run();
