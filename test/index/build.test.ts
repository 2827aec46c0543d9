import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openNative } from '../../src/formats/native/read.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset, type Dataset, type DatasetParts } from '../../src/index/dataset.js';
import { recordBytes } from '../../src/index/records.js';
import { renderPoint } from '../../src/model/point.js';
import { InputError } from '../../src/model/quote.js';
import { createEngine } from '../../src/query/engine.js';
import { assertPage, assertSame } from '../support/compare.js';
import { idsOf, readerOf } from '../support/engine.js';
import { makeFolder } from '../support/folder.js';
import { kdSorted } from '../support/kd-order.js';
import { blockOf, writeNative } from '../support/native.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { until } from '../support/wait.js';

const SEED = 91;
/** As many as are sorted by a second thread. */
const many = scatterNotes(SEED, 17_000);
const notes = many.slice(0, 9_000);

/** Asserts that every row's coordinates, keys and record are those of the note with its id. */
async function assertRows(parts: DatasetParts, expected: readonly Note[]): Promise<void> {
  const dataset = assembleDataset(parts);
  const { count, coords, byCreatedAt, byModifiedAt, records } = dataset;
  assert.is(count, expected.length);
  const rows = Array.from({ length: count }, (_, row) => row);
  const byId = new Map(expected.map((note) => [note.id, note]));
  const found = idsOf(dataset, rows, count).map((id) => byId.get(id)!);
  assert.is(new Set(found).size, count);
  const lonLat = found.flatMap(({ lon, lat }) => [lon, lat]);
  assertSame(coords, lonLat, 'coordinates');
  for (const [row, note] of found.entries()) {
    const keys = [
      byCreatedAt.keys[byCreatedAt.ranks[row]!],
      byModifiedAt.keys[byModifiedAt.ranks[row]!],
    ];
    if (keys[0] !== note.created || keys[1] !== note.modified) {
      assert.equal(keys, [note.created, note.modified], `note ${note.id}`);
    }
    const text = Buffer.from(recordBytes(records, row)).toString();
    const rendered = renderPoint(pointOf(note));
    if (text !== rendered) assert.is(text, rendered, `note ${note.id}`);
  }
}

test('a snapshot read once keeps each row, its keys and its record together', async () => {
  for (const blockPoints of [9_000, 4_096, 333]) {
    await assertRows(await buildDataset(readerOf(notes, blockPoints)), notes);
  }
  await assertRows(await buildDataset(readerOf([])), []);
});

test('a native file read in two passes makes the same dataset', async () => {
  const folder = makeFolder();
  const path = join(folder, 'notes.waypost');
  const blocks = [notes.slice(0, 1), notes.slice(1, 5_678), notes.slice(5_678)];
  writeNative(
    path,
    blocks.map((block) => blockOf(block.map(pointOf))),
  );
  const reader = openNative(path, {});
  const parts = await buildDataset(reader);
  reader.close();
  await assertRows(parts, notes);
  assert.is(parts.report.format, 'native');

  const once = await buildDataset(readerOf(notes));
  for (const order of ['byId', 'byCreatedAt', 'byModifiedAt'] as const) {
    assertSame(parts[order].rows, once[order].rows, order);
  }
});

test('a native file in any order makes the same orders and answers, in tree order as well', async () => {
  const folder = makeFolder();
  const oracle = new Oracle(many);
  const load = async (name: string, ordered: readonly Note[]): Promise<Dataset> => {
    const path = join(folder, name);
    const parts = [0, 5_000, 5_001, 14_000].map((from, i, all) => ordered.slice(from, all[i + 1]));
    writeNative(
      path,
      parts.map((part) => blockOf(part.map(pointOf))),
    );
    const reader = openNative(path, {});
    const built = await buildDataset(reader, { inParallel: true });
    reader.close();
    await assertRows(built, ordered);
    return assembleDataset(built);
  };
  const sorted = kdSorted(many);
  const inOrder = await load('sorted', sorted);
  // nothing was moved: a row is its place in the file
  const rows = Uint32Array.from(sorted.keys());
  const ids = sorted.map(({ id }) => id);
  assertSame(idsOf(inOrder, rows, sorted.length), ids, 'ids');
  const [first, ...rest] = sorted;
  const nearly = await load('nearly sorted', [...rest, first!]);
  for (const dataset of [inOrder, nearly]) {
    const engine = createEngine(dataset);
    for (let index = 0; index < 2 * COMBINATIONS; index++) {
      const { filters, ordering, pageOf } = randomQuestion(SEED, index, many);
      const expected = oracle.find(filters, ordering);
      const query = { filters, ordering, ...pageOf(expected.count) };
      assertPage(engine, query, expected, `seed ${SEED}, question ${index}`);
    }
  }
});

test('a build of a broken file leaves no thread behind', async () => {
  const folder = makeFolder();
  const path = join(folder, 'broken');
  writeNative(path, [blockOf(notes.map(pointOf))]);
  const bytes = readFileSync(path);
  // in the columns: those of records begin behind them
  bytes[1_000]! ^= 1;
  writeFileSync(path, bytes);
  const threads = (): number => readdirSync('/proc/self/task').length;
  const before = existsSync('/proc/self/task') ? threads() : 0;
  for (let i = 0; i < 3; i++) {
    const reader = openNative(path, {});
    const error = await buildDataset(reader, { inParallel: true }).then(() => '', String);
    assert.match(error, /broken at byte/);
    reader.close();
  }
  if (before > 0) await until('the threads have ended', () => threads() <= before, 10_000);
});

test('orders break ties by id', async () => {
  const { byId, byCreatedAt, byModifiedAt } = await buildDataset(readerOf(notes));
  for (const { keys, rows } of [byCreatedAt, byModifiedAt]) {
    let ties = 0;
    for (let rank = 1; rank < rows.length; rank++) {
      if (keys[rank] !== keys[rank - 1]) continue;
      const [before, id] = [rows[rank - 1]!, rows[rank]!].map((row) => byId.ranks[row]!);
      assert.ok(before! < id!, `rank ${rank}`);
      ties++;
    }
    assert.ok(ties > 1000);
  }
});

test('an id that comes twice is refused by name, even from different blocks', async () => {
  const twice = [...notes.slice(0, 500), { ...notes[0]!, lat: 1, created: 5 }];
  for (const blockPoints of [1000, 100]) {
    try {
      await buildDataset(readerOf(twice, blockPoints));
      assert.unreachable('a repeated id was accepted');
    } catch (error) {
      assert.instance(error, InputError);
      assert.ok((error as Error).message.includes(String(notes[0]!.id)), (error as Error).message);
    }
  }
});

test('another thread gets the same memory, not a copy', async () => {
  const parts = await buildDataset(readerOf(notes));
  const passed = structuredClone(parts);
  await assertRows(passed, notes);
  // written by one, read by the other: nothing but this test does so
  const { coords } = assembleDataset(parts);
  const record = recordBytes(parts.records, 7);
  coords[14] = 1.25;
  parts.byCreatedAt.keys[7] = 99;
  record[0] = 0x21;
  assert.is(assembleDataset(passed).coords[14], 1.25);
  assert.is(passed.byCreatedAt.keys[7], 99);
  assert.is(recordBytes(passed.records, 7)[0], 0x21);
  for (const one of [parts.coords.buffer, ...numbersOf(parts).map(({ buffer }) => buffer)]) {
    assert.instance(one, SharedArrayBuffer);
  }
});

/** All arrays of numbers in the parts, however deep. */
function numbersOf(value: object): ArrayBufferView[] {
  return Object.values(value).flatMap((one: unknown) => {
    if (ArrayBuffer.isView(one)) return one;
    return typeof one === 'object' && one !== null ? numbersOf(one) : [];
  });
}

test.run();
