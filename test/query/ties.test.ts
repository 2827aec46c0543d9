import { test } from 'uvu';
import { Random } from '../../src/cli/generate/random.js';
import type { Filters, Ordering } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { allPages, assertHints, assertNotes, assertPage } from '../support/compare.js';
import { engineOf } from '../support/engine.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { IS_SOAK } from '../support/soak.js';

const SEED = 81;
/** Questions of each kind. */
const ROUNDS = IS_SOAK ? 100 : 1;
const NOON = Date.UTC(2023, 4, 1, 12) * 1000;

/** Thousands in one place at one time, thousands more there or then, and some rings round them. */
function tiedNotes(): Note[] {
  const random = new Random(SEED, 'point');
  const here = { lon: 24.94, lat: 60.17 };
  const notes: Note[] = [];
  for (let id = 1; id <= 12_000; id++) {
    const [created, modified] = [NOON + random.int(50), NOON + random.int(50)];
    const there = { lon: random.int(40) - 20, lat: random.int(40) - 20 };
    // as far to the east as to the west
    const ring = { lon: here.lon + random.pick([-1, 1]), lat: here.lat };
    const kind = random.int(12);
    if (kind < 6) notes.push({ id, ...here, created: NOON, modified: NOON });
    else if (kind < 8) notes.push({ id, ...here, created, modified: NOON });
    else if (kind < 10) notes.push({ id, ...ring, created: NOON, modified });
    else notes.push({ id, ...there, created: NOON, modified: NOON });
  }
  return notes;
}

const notes = tiedNotes();
const oracle = new Oracle(notes);
const engine = await engineOf(notes);

/** Asserts pages, planner overrides and completeness of random questions about these notes. */
function assertQuestions(asked: Engine, answers: Oracle, known: Note[], count: number): void {
  for (let index = 0; index < count; index++) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, known);
    const expected = answers.find(filters, ordering);
    const query = { filters, ordering, ...pageOf(expected.count) };
    const label = `${known.length} notes, seed ${SEED}, question ${index}: ${JSON.stringify(query)}`;
    assertPage(asked, query, expected, label);
    assertHints(asked, query, label);
  }
}

test('random queries where nearly everything is tied', () => {
  assertQuestions(engine, oracle, notes, ROUNDS * COMBINATIONS);
});

test('ties go by id through all pages, whichever way they are found', () => {
  const circle = { lon: 24.94, lat: 60.17, radius: 200_000 };
  const filters: [Filters, Ordering][] = [
    [{ circle }, 'distance'],
    [{ circle: { ...circle, radius: 0 } }, 'distance'],
    [{ circle: { ...circle, radius: 4e7 } }, 'distance'],
    [{ circle, createdAt: { after: NOON, before: NOON } }, 'distance'],
    [{ circle }, '-created_at'],
    [{}, 'created_at'],
    [{ createdAt: { after: NOON, before: NOON } }, '-modified_at'],
  ];
  for (const [filter, ordering] of filters) {
    const expected = oracle.find(filter, ordering);
    for (const pageSize of [997, 1000]) {
      for (const hints of [
        {},
        { accessPath: 'walk' },
        { accessPath: 'mark' },
        { accessPath: 'select' },
      ] as const) {
        const label = `${JSON.stringify(filter)} by ${ordering}, ${JSON.stringify(hints)}`;
        const ids = allPages(engine, { filters: filter, ordering, pageSize }, hints);
        assertNotes(ids, expected.notes, expected, label);
      }
    }
  }
});

for (const count of [0, 1, 2, 3, 17, 18, 40]) {
  test(`${count} notes`, async () => {
    const few = scatterNotes(SEED + count, count);
    assertQuestions(await engineOf(few), new Oracle(few), few, ROUNDS * COMBINATIONS);
  });
}

test.run();
