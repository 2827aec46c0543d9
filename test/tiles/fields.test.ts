import { join } from 'node:path';
import { openSnapshot } from '../../src/formats/files/open.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset } from '../../src/index/dataset.js';
import { hashId, recordBytes } from '../../src/index/records.js';
import { RECORD_KEYS, type RecordKey, renderPoint } from '../../src/model/point.js';
import { createEngine } from '../../src/query/engine.js';
import { MOST_RECORD_BYTES } from '../../src/tiles/points.js';
import { makeTile } from '../../src/tiles/tile.js';
import { acceptedMatches, deltaOf, Meter, readerOf } from '../support/engine.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { ROOT } from '../support/service.js';
import { decodeTile, type Feature, type Layers } from '../support/tiles.js';
import { assert, test } from '../support/uvu.js';

test('points have the fields of their records, texts with escapes included', async () => {
  const reader = await openSnapshot(join(ROOT, 'data/sample.waypost'), {});
  const dataset = assembleDataset(await buildDataset(reader));
  reader.close();
  const address = { z: 0, x: 0, y: 0 };
  const query = { address, filters: {}, grid: 16, limit: 10_000, fields: RECORD_KEYS };
  const { points = [] } = decodeTile(makeTile(createEngine(dataset), query));
  assert.is(points.length, dataset.count);
  let escaped = 0;
  // without clusters points come in the order of their rows
  for (const [row, { properties }] of points.entries()) {
    const text = Buffer.from(recordBytes(dataset.records, row)).toString();
    const { tags, created_at, modified_at, ...record } = JSON.parse(text) as Record<string, string>;
    const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
    const expected: Record<string, unknown> = {
      ...record,
      created_at: seconds(created_at!),
      modified_at: seconds(modified_at!),
    };
    if (tags !== undefined) expected['tags'] = JSON.stringify(tags);
    assert.equal(properties, expected, `row ${row}`);
    if (/[\n"\\]/.test(record['comment']!)) escaped++;
  }
  assert.ok(escaped > 50, `${escaped} comments with escapes`);
});

test('users keep their numbers, however large', async () => {
  const users = [0, 2 ** 52 - 1, 2 ** 52 + 1, 2 ** 53 - 2, 2 ** 53 - 1];
  const notes = scatterNotes(1, users.length).map((note, i) => ({
    ...note,
    lat: 1,
    lon: i,
    createdBy: users[i]!,
  }));
  const dataset = assembleDataset(await buildDataset(readerOf(notes)));
  const address = { z: 0, x: 0, y: 0 };
  const fields = ['created_by'] as const;
  const query = { address, filters: {}, grid: 16, limit: users.length, fields };
  const { points = [] } = decodeTile(makeTile(createEngine(dataset), query));
  const found = points.map(({ properties }) => Number(properties['created_by']));
  assert.equal(
    found.sort((a, b) => a - b),
    users,
  );
});

const FROZEN = 260;
/** Some 8 MiB in all, each note alone in its cell. */
const notes: readonly Note[] = Array.from({ length: 300 }, (_, i) => ({
  id: i * 7 + 1,
  lon: -179 + (i % 30) * 12,
  lat: -60 + Math.floor(i / 30) * 12,
  created: 1.6e15,
  modified: 1.6e15,
  comment: 'x"'.repeat(8_000 + 20 * i),
}));
const dataset = assembleDataset(await buildDataset(readerOf(notes.slice(0, FROZEN))));
const engine = createEngine(dataset);
const delta = deltaOf(notes.slice(FROZEN));

function tileOf(z: number, limit: number | undefined, fields?: readonly RecordKey[]): Layers {
  const query = { address: { z, x: 0, y: 0 }, filters: {}, grid: 128, limit, fields };
  const accepted = acceptedMatches(delta, notes.length - FROZEN, query.filters);
  return decodeTile(makeTile(engine, query, accepted));
}

/** The least hashes of ids first, as long as their records fit. */
const fitting: readonly number[] = (() => {
  let left = MOST_RECORD_BYTES;
  const ids: number[] = [];
  for (const note of notes.toSorted((a, b) => hashId(a.id) - hashId(b.id))) {
    left -= Buffer.byteLength(renderPoint(pointOf(note)));
    if (left < 0) break;
    ids.push(note.id);
  }
  return ids.sort((a, b) => a - b);
})();

function ids(points: readonly Feature[]): number[] {
  return points.map(({ id }) => id!).sort((a, b) => a - b);
}

test('a tile without clusters has the points whose records fit, by the hashes of their ids', () => {
  assert.ok(fitting.length > 100 && fitting.length < 200, `${fitting.length} fit`);
  const { points = [], meta = [] } = tileOf(0, 10_000, ['comment']);
  assert.equal(ids(points), fitting);
  const left = notes.length - fitting.length;
  const expected = { point_count: notes.length, shown: fitting.length, left_out: left };
  assert.equal(meta[0]!.properties, expected);
  for (const { id, properties } of points) {
    assert.is(properties['comment'], notes[(id! - 1) / 7]!.comment);
  }
  // fewer than fit are wanted
  assert.is(tileOf(0, 20, ['comment'])['points']!.length, 20);
});

test('nothing is left out where no record is read', () => {
  for (const fields of [undefined, ['modified_at', 'status'] as const]) {
    assert.is(tileOf(0, 10_000, fields)['points']!.length, notes.length);
    assert.is(tileOf(0, undefined, fields)['meta'], undefined);
  }
});

test('a tile with clusters has every point, and the fields of those that fit', () => {
  const { points = [], meta = [] } = tileOf(0, undefined, ['comment', 'modified_at']);
  assert.is(points.length, notes.length);
  const withComment = points.filter(({ properties }) => 'comment' in properties);
  assert.equal(ids(withComment), fitting);
  assert.ok(points.every(({ properties }) => properties['modified_at'] === 1.6e9));
  assert.equal(meta[0]!.properties, { without_fields: notes.length - fitting.length });
});

test('long records are charged for by their bytes', () => {
  const query = { address: { z: 0, x: 0, y: 0 }, filters: {}, grid: 16, limit: 999 };
  const meter = new Meter(500_000);
  makeTile(engine, { ...query, fields: ['comment'] }, undefined, undefined, meter);
  // 4 MiB at 2 ns a byte
  assert.ok(meter.renewals >= 10, `${meter.renewals} times half a millisecond`);
});

test.run();
