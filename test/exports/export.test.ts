import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import { renderPoint } from '../../src/model/point.js';
import type { TimeOrdering } from '../../src/model/query.js';
import { deltaOf, engineOf } from '../support/engine.js';
import { exportPieces, linesOf } from '../support/exporting.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';

const SEED = 31;
const notes = scatterNotes(SEED, 2_000);
const texts = new Map(notes.map((note) => [note.id, renderPoint(pointOf(note))]));
const byId = (a: Note, b: Note): number => a.id - b.id;

/** Asks for all that questions find among some notes and a delta, in pieces of any size. */
async function check(served: number, lengths: readonly number[]): Promise<void> {
  const random = new Random(SEED, 'point');
  const engine = await engineOf(notes.slice(0, served));
  const delta = deltaOf(notes.slice(served));
  for (const length of lengths) {
    const oracle = new Oracle(notes.slice(0, served + length));
    for (let index = 0; index < COMBINATIONS; index++) {
      const { filters, ordering: wanted } = randomQuestion(SEED + length, index, notes);
      const isOrdered = wanted !== 'distance' && wanted !== 'id';
      const ordering = isOrdered ? (wanted as TimeOrdering) : undefined;
      const bytes = 10 ** random.int(6);
      const query = { filters, ordering };
      const pieces = await exportPieces(engine, 'ndjson', { query, delta, length, bytes });
      const found = linesOf(Buffer.concat(pieces));
      const { notes: all } = oracle.find(filters, ordering ?? 'id');
      const expected = [...all].map(({ id }) => texts.get(id)!);
      const label = `${served} and ${length}, question ${index}: ${JSON.stringify(query)}`;
      if (!isOrdered) for (const list of [found, expected]) list.sort();
      assert.ok(found.join() === expected.join(), label);
      assert.ok(pieces.length <= Math.ceil(Buffer.concat(pieces).length / bytes) + 1, label);
    }
  }
}

test('an export has what a plain list finds, in its order, whatever is accepted besides', async () => {
  await check(1_500, [0, 1, 500]);
  await check(1, [1_999]);
  await check(0, [0, 700]);
});

test('accepted points with the times of others stand among them by their ids', async () => {
  const some = Array.from({ length: 60 }, (_, i) => ({ id: i + 1, lon: 0, lat: 0 }));
  const tied = some.map((one) => ({ ...one, created: one.id % 3, modified: 7 }));
  const engine = await engineOf(tied.filter(({ id }) => id % 2 === 0));
  const delta = deltaOf(tied.filter(({ id }) => id % 2 === 1));
  const ids = async (ordering: TimeOrdering): Promise<number[]> => {
    const [piece] = await exportPieces(engine, 'ndjson', { query: { ordering }, delta });
    return linesOf(piece!).map((line) => JSON.parse(line).id);
  };
  const byCreation = [...tied].sort((a, b) => a.created - b.created || byId(a, b));
  assert.equal(
    await ids('created_at'),
    byCreation.map(({ id }) => id),
  );
  assert.equal(await ids('-created_at'), byCreation.map(({ id }) => id).reverse());
  assert.equal(
    await ids('modified_at'),
    tied.map(({ id }) => id),
  );
});

test('a compressed export is one stream of gzip, whatever its pieces', async () => {
  const engine = await engineOf(notes);
  for (const bytes of [1, 10_000, 2 ** 20]) {
    const plain = Buffer.concat(await exportPieces(engine, 'geojson', { bytes }));
    const gzipped = Buffer.concat(
      await exportPieces(engine, 'geojson', { bytes, isGzipped: true }),
    );
    assert.ok(gunzipSync(gzipped).equals(plain), `${bytes}`);
  }
  const none = await exportPieces(await engineOf([]), 'ndjson', { isGzipped: true });
  assert.is(gunzipSync(Buffer.concat(none)).length, 0);
});

test('what is posted after an export began is not in it', async () => {
  const engine = await engineOf(notes.slice(0, 10));
  const delta = deltaOf(notes.slice(10, 20));
  const pieces = await exportPieces(engine, 'ndjson', { delta, length: 4, bytes: 1 });
  assert.is(pieces.length, 14);
});

test.run();
