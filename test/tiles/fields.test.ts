import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openSnapshot } from '../../src/formats/files/open.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset } from '../../src/index/dataset.js';
import { recordBytes } from '../../src/index/records.js';
import { RECORD_KEYS } from '../../src/model/point.js';
import { createEngine } from '../../src/query/engine.js';
import { makeTile } from '../../src/tiles/tile.js';
import { readerOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { ROOT } from '../support/service.js';
import { decodeTile } from '../support/tiles.js';

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

test.run();
