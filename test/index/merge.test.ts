import { Random } from '../../src/cli/generate/random.js';
import { isInKdOrder } from '../../src/formats/kd-order.js';
import { rendered, storePoint } from '../../src/formats/record-layout.js';
import { appendBlocks, type Blocks, cutBlocks } from '../../src/index/blocks.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset, type DatasetParts } from '../../src/index/dataset.js';
import { appendToDelta, continueDelta, deltaLength } from '../../src/index/delta.js';
import { mergeDataset } from '../../src/index/merge-dataset.js';
import { buildOrders, type OrderKeys } from '../../src/index/orders.js';
import { stretchOf, thinningOf } from '../../src/index/records.js';
import { renderPoint } from '../../src/model/point.js';
import { Engine } from '../../src/query/engine.js';
import { acceptedOf, deltaOf, engineOf, idsOf, readerOf } from '../support/engine.js';
import { attributesOfRecords, type Note, pointOf, scatterNotes } from '../support/notes.js';
import { assert, table, test } from '../support/uvu.js';

const SEED = 47;
const NONE = new Float64Array(0);

/** The records of notes, which several merges have. */
const made = new WeakMap<Note, { readonly text: string; readonly record: Uint8Array }>();

function recordOf(note: Note): { readonly text: string; readonly record: Uint8Array } {
  let known = made.get(note);
  if (known === undefined) {
    const point = pointOf(note);
    known = { text: renderPoint(point), record: storePoint(point) };
    made.set(note, known);
  }
  return known;
}

/** Asserts that a dataset is the one that is made anew of these notes, in the order of its rows. */
function assertFresh(parts: DatasetParts, notes: readonly Note[], label: string): void {
  const { count, coords, byId, byCreatedAt, byModifiedAt, crossTables } = parts;
  assert.is(count, notes.length, label);
  const byNumber = new Map(notes.map((note) => [note.id, note]));
  const rows = Array.from(byId.ranks, (rank) => byNumber.get(byId.keys[rank]!)!);
  assert.is(new Set(rows).size, count, label);
  const lonLat = Float64Array.from(rows.flatMap(({ lon, lat }) => [lon, lat]));
  assert.equal(coords, lonLat, label);
  assert.equal([...parts.ids], [...rows.keys()], label);
  let blocks: Blocks = { starts: Int32Array.of(0), boxes: NONE, sums: NONE };
  let from = 0;
  for (const tree of assembleDataset(parts).trees) {
    assert.ok(isInKdOrder(tree.coords), label);
    assert.is(tree.ids[0], from, label);
    blocks = appendBlocks(blocks, from, cutBlocks(tree.coords));
    from += tree.ids.length;
  }
  assert.is(from, count, label);
  assert.equal(parts.blocks, blocks, label);
  const keys: OrderKeys = {
    id: Float64Array.from(rows, ({ id }) => id),
    createdAt: Float64Array.from(rows, ({ created }) => created),
    modifiedAt: Float64Array.from(rows, ({ modified }) => modified),
  };
  const orders = { byId, byCreatedAt, byModifiedAt, crossTables };
  assert.equal(orders, buildOrders(structuredClone(keys)), label);
  for (const [row, note] of rows.entries()) {
    const text = rendered(stretchOf(parts.records, row, row + 1)[0]!).toString();
    if (text !== recordOf(note).text) assert.is(text, recordOf(note).text, `${label}, ${note.id}`);
  }
  const stored = rows.map((note) => recordOf(note).record);
  assert.equal(parts.attributes, attributesOfRecords(stored), label);
  assert.equal(parts.thinning, thinningOf(keys.id), label);
}

test('a merged dataset is as one that is made anew, whatever is merged into how much', async () => {
  const random = new Random(SEED, 'point');
  const sizes = table('0 1 | 0 900 | 1 40 | 33 33 | 1100 3 | 2000 700');
  for (const [had = 0, most = 0] of sizes.map((row) => row.map(Number))) {
    const notes = scatterNotes(SEED + had + most, had + 3 * most);
    let parts = await buildDataset(readerOf(notes.slice(0, had)));
    let delta = deltaOf([]);
    let count = had;
    for (let merge = 0; merge < 3; merge++) {
      const more = notes.slice(count, count + 1 + random.int(most));
      // the delta goes on behind what was merged
      delta = continueDelta(delta, deltaLength(delta), { rows: more.length, bytes: 1_000_000 });
      appendToDelta(delta, acceptedOf(more, 1 + count));
      parts = mergeDataset(parts, delta, deltaLength(delta));
      count += more.length;
      assertFresh(parts, notes.slice(0, count), `${had} and ${count - had}, merge ${merge}`);
    }
  }
});

test('rows behind the length are not merged yet', async () => {
  const notes = scatterNotes(SEED, 120);
  const parts = await buildDataset(readerOf(notes.slice(0, 100)));
  assertFresh(mergeDataset(parts, deltaOf(notes.slice(100)), 7), notes.slice(0, 107), 'seven');
  assertFresh(mergeDataset(parts, deltaOf(notes.slice(100)), 0), notes.slice(0, 100), 'none');
  // an id that is there already is refused by name
  const why = new RegExp(`Two records have the id ${notes[7]!.id}`);
  assert.throws(() => mergeDataset(parts, deltaOf([notes[7]!]), 1), why);
});

test('the nearest are found in all kd-trees, also where the first has few that are far away', async () => {
  const notes = scatterNotes(SEED, 2_000);
  const circle = { lon: 20, lat: 50, radius: 3e7 };
  const anew = await engineOf(notes);
  for (const [first, second] of table('3 800 | 40 60 | 1000 1500').map((row) => row.map(Number))) {
    let parts = await buildDataset(readerOf(notes.slice(0, first)));
    for (const delta of [notes.slice(first, second), notes.slice(second)].map(deltaOf)) {
      parts = mergeDataset(parts, delta, deltaLength(delta));
    }
    const several = new Engine(assembleDataset(parts));
    for (const pageSize of [1, 5, 100]) {
      const query = { filters: { circle }, ordering: 'distance', page: 1, pageSize } as const;
      const [ids, expected] = [several, anew].map((engine) => {
        const { rows, length } = engine.run(query, { accessPath: 'walk' })!;
        return idsOf(engine.dataset, rows, length);
      });
      assert.equal(ids, expected, `${first}, ${second}, ${pageSize}`);
    }
  }
});

test.run();
