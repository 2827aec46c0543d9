import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EXPORT_FORMATS } from '../../src/http/request/addresses.js';
import { renderPoint } from '../../src/model/point.js';
import { deltaOf, engineOf } from '../support/engine.js';
import { exportPieces, linesOf } from '../support/exporting.js';
import { makeFolder } from '../support/folder.js';
import { recordsOf } from '../support/generated.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { readAll } from '../support/rows.js';

const COMMENTS = [
  ...[
    '',
    ' ',
    '"',
    '""',
    'a"b',
    ',',
    ';',
    '\t',
    '\n',
    '\r\n',
    '\r',
    '\\',
    '\\"',
    '[]',
    '{}',
    '=1+1',
  ],
  ...['\u2028', '\u0001', '\u007f', '\ufeff', 'ä', '😀', 'null', '1', ' x ', '\n"\n', '"a","b"'],
];
const notes = scatterNotes(5, 3_000).map((note, i) => {
  const comment = COMMENTS[i];
  return comment === undefined ? note : { ...note, comment };
});
const places = [
  { id: 1e6, lon: -1e-9, lat: -1e-9, created: 0, modified: 0, createdBy: 2 ** 53 - 1 },
  { id: 2 ** 53 - 3, lon: 1e-8, lat: -1e-8, created: -1, modified: 1, hasImage: true },
  { id: 2 ** 32, lon: -180, lat: 90, created: 1, modified: 1, createdBy: 0 },
];
const all = [...notes, ...places];
const engine = await engineOf(all.slice(0, 2_500));
const delta = deltaOf(all.slice(2_500));
const folder = makeFolder();
const original = all.map((note) => renderPoint(pointOf(note))).sort();

for (const { name } of EXPORT_FORMATS) {
  test(`${name} loads again as it was`, async () => {
    for (const bytes of [5_000, 2 ** 20]) {
      const path = join(folder, `points.${name}`);
      writeFileSync(path, Buffer.concat(await exportPieces(engine, name, { delta, bytes })));
      const { blocks, report } = await readAll(path);
      assert.equal(report.unknownKeys, {});
      const records = blocks.flatMap(recordsOf).sort();
      const index = original.findIndex((one, i) => one !== records[i]);
      assert.is(records[index], original[index]);
      assert.is(records.length, original.length);
    }
  });

  test(`${name} of nothing is a whole file, too`, async () => {
    const pieces = await exportPieces(await engineOf([]), name);
    assert.is(pieces.length, 1);
  });
}

test('a lone surrogate is a replacement character where a format has none', async () => {
  const one = { id: 1, lon: 0, lat: 0, created: 0, modified: 0, comment: 'a\ud83db' };
  const lone = await engineOf([one]);
  for (const { name } of EXPORT_FORMATS) {
    const path = join(folder, `lone.${name}`);
    writeFileSync(path, Buffer.concat(await exportPieces(lone, name)));
    const [record] = (await readAll(path)).blocks.flatMap(recordsOf);
    const isJson = name.includes('json');
    assert.is(JSON.parse(record!).comment, isJson ? one.comment : 'a\ufffdb', name);
  }
});

test('records have the keys that are asked for', async () => {
  const query = { keys: ['id', 'lat'] as const, ordering: 'created_at' as const };
  const [first] = linesOf(Buffer.concat(await exportPieces(engine, 'ndjson', { query, delta })));
  assert.equal(Object.keys(JSON.parse(first!)), ['id', 'lat']);
  const [feature] = linesOf(
    Buffer.concat(await exportPieces(engine, 'geojsonl', { query, delta })),
  );
  assert.equal(JSON.parse(feature!).properties, { id: JSON.parse(first!).id });
});

test.run();
