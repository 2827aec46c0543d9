import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildAttributes } from '../../src/dataset/attribute-collector.js';
import { cutBlocks } from '../../src/dataset/blocks.js';
import { buildDataset } from '../../src/dataset/build.js';
import { rowHashesOf } from '../../src/dataset/content-hash.js';
import { assembleDataset, type DatasetParts } from '../../src/dataset/dataset.js';
import { mergeDataset } from '../../src/dataset/merge.js';
import { buildOrders, type OrderKeys } from '../../src/dataset/orders.js';
import { recordBytes } from '../../src/dataset/records.js';
import { appendToTail, continueTail, tailLength } from '../../src/dataset/tail.js';
import { thinningOf } from '../../src/dataset/thinning.js';
import { Random } from '../../src/generate/random.js';
import { renderPoint } from '../../src/model/point.js';
import { isInKdOrder } from '../../src/snapshot/kd-order.js';
import { acceptedOf, readerOf, tailOf } from '../support/engine.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';

const SEED = 47;

/** Asserts that a dataset is the one that is made anew of these notes, in the order of its rows. */
function assertFresh(parts: DatasetParts, notes: readonly Note[], label: string): void {
  const { count, coords, byId, byCreatedAt, byModifiedAt, crossTables, ...made } =
    assembleDataset(parts);
  assert.is(count, notes.length, label);
  assert.is(parts.report.points, count, label);
  const byNumber = new Map(notes.map((note) => [note.id, note]));
  const rows = Array.from(byId.ranks, (rank) => byNumber.get(byId.keys[rank]!)!);
  assert.is(new Set(rows).size, count, label);
  const lonLat = Float64Array.from(rows.flatMap(({ lon, lat }) => [lon, lat]));
  assert.equal(coords, lonLat, label);
  assert.ok(isInKdOrder(coords), label);
  assert.equal(
    made.radiusIndex.ids,
    made.radiusIndex.ids.map((_, row) => row),
    label,
  );
  const keys: OrderKeys = {
    id: Float64Array.from(rows, ({ id }) => id),
    createdAt: Float64Array.from(rows, ({ created }) => created),
    modifiedAt: Float64Array.from(rows, ({ modified }) => modified),
  };
  const orders = { byId, byCreatedAt, byModifiedAt, crossTables };
  assert.equal(orders, buildOrders(keys), label);
  for (const [row, note] of rows.entries()) {
    const text = Buffer.from(recordBytes(parts.records, row)).toString();
    assert.is(text, renderPoint(pointOf(note)), `${label}, note ${note.id}`);
  }
  assert.equal(parts.attributes, buildAttributes(parts.records, count), label);
  assert.equal(parts.blocks, cutBlocks(coords), label);
  assert.equal(parts.thinning, thinningOf(keys.id), label);
  assert.equal(parts.rowHashes, rowHashesOf(keys.id, keys.createdAt), label);
}

test('a merged dataset is as one that is made anew, whatever is merged into how much', async () => {
  const random = new Random(SEED, 'point');
  for (const [had, most] of [
    [0, 1],
    [0, 900],
    [1, 40],
    [33, 33],
    [2_000, 3],
    [2_000, 700],
  ] as const) {
    const notes = scatterNotes(SEED + had + most, had + 3 * most);
    let parts = await buildDataset(readerOf(notes.slice(0, had)));
    let tail = tailOf([]);
    let count = had;
    for (let merge = 0; merge < 3; merge++) {
      const more = notes.slice(count, count + 1 + random.int(most));
      // the tail goes on behind what was merged
      tail = continueTail(tail, tailLength(tail), { rows: more.length, bytes: 1_000_000 });
      appendToTail(tail, acceptedOf(more, 1 + count));
      parts = mergeDataset(parts, tail, tailLength(tail));
      count += more.length;
      assertFresh(parts, notes.slice(0, count), `${had} and ${count - had}, merge ${merge}`);
    }
  }
});

test('rows behind the length are not merged yet', async () => {
  const notes = scatterNotes(SEED, 120);
  const parts = await buildDataset(readerOf(notes.slice(0, 100)));
  assertFresh(mergeDataset(parts, tailOf(notes.slice(100)), 7), notes.slice(0, 107), 'seven');
  assertFresh(mergeDataset(parts, tailOf(notes.slice(100)), 0), notes.slice(0, 100), 'none');
});

test('an id that is there already is refused by name', async () => {
  const notes = scatterNotes(SEED, 50);
  const parts = await buildDataset(readerOf(notes));
  assert.throws(
    () => mergeDataset(parts, tailOf([notes[7]!]), 1),
    new RegExp(`Two records have the id ${notes[7]!.id}`),
  );
});

test.run();
