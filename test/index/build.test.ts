import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openNative } from '../../src/formats/native/read.js';
import { rendered } from '../../src/formats/record-layout.js';
import { BLOCK_ROWS, cutBlocks } from '../../src/index/blocks.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset, type Dataset, type DatasetParts } from '../../src/index/dataset.js';
import type { Order } from '../../src/index/order.js';
import { stretchOf } from '../../src/index/records.js';
import { renderPoint } from '../../src/model/point.js';
import { Engine } from '../../src/query/engine.js';
import { assertQuestion, assertSame } from '../support/compare.js';
import { idsOf, readerOf } from '../support/engine.js';
import { kdSorted, treeCoords } from '../support/kd-order.js';
import { blockOf, writeNative } from '../support/native.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, IS_SOAK, makeFolder, pluck, refusal, test, until } from '../support/uvu.js';

const SEED = 91;
/** So many that a second thread sorts some of them. */
const many = scatterNotes(SEED, 16_500);
const notes = many.slice(0, 6_000);

const points = new Map(many.map((note) => [note, pointOf(note)]));
const texts = new Map(many.map((note) => [note, renderPoint(points.get(note)!)]));

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
  const keysOf = ({ keys, ranks }: Order): number[] => rows.map((row) => keys[ranks[row]!]!);
  assertSame(keysOf(byCreatedAt), pluck(found, 'created'), 'times of creation');
  assertSame(keysOf(byModifiedAt), pluck(found, 'modified'), 'times of modification');
  for (const [row, note] of found.entries()) {
    const text = rendered(stretchOf(records, row, row + 1)[0]!).toString();
    const wanted = texts.get(note);
    if (text !== wanted) assert.is(text, wanted, `note ${note.id}`);
  }
}

const folder = makeFolder();

/** Builds from a native file whose blocks begin at these notes. */
async function load(name: string, ordered: readonly Note[], starts: readonly number[], how = {}) {
  const path = join(folder, name);
  const all = ordered.map((note) => points.get(note)!);
  const blocks = starts.map((from, i) => blockOf(all.slice(from, starts[i + 1])));
  writeNative(path, blocks);
  const reader = openNative(path, {})!;
  const built = await buildDataset(reader, how);
  reader.close();
  return built;
}

test('a snapshot read once keeps each row, its keys and its record together', async () => {
  for (const blockPoints of [6_000, 333]) {
    await assertRows(await buildDataset(readerOf(notes, blockPoints)), notes);
  }
  await assertRows(await buildDataset(readerOf([])), []);
});

test('a native file read in two passes makes the same dataset', async () => {
  const parts = await load('notes', notes, [0, 1, 3_456]);
  await assertRows(parts, notes);
  assert.is(parts.report.format, 'native');

  const once = await buildDataset(readerOf(notes));
  for (const order of ['byId', 'byCreatedAt', 'byModifiedAt'] as const) {
    assertSame(parts[order].rows, once[order].rows, order);
  }
});

test('a native file in any order makes the same orders and answers, in tree order as well', async () => {
  const oracle = new Oracle(many);
  const parallel = async (name: string, ordered: readonly Note[]): Promise<Dataset> => {
    const built = await load(name, ordered, [0, 5_000, 5_001, 14_000], { inParallel: true });
    await assertRows(built, ordered);
    return assembleDataset(built);
  };
  const sorted = kdSorted(many);
  const inOrder = await parallel('sorted', sorted);
  // nothing was moved: a row is its place in the file
  const rows = Uint32Array.from(sorted.keys());
  const ids = sorted.map(({ id }) => id);
  assertSame(idsOf(inOrder, rows, sorted.length), ids, 'ids');
  const [first, ...rest] = sorted;
  // a place in the file that is not that of the tree
  await parallel('nearly sorted', [...rest, first!]);
  const engine = new Engine(inOrder);
  // a step that leads to each pair of filters, and to each order
  for (let index = 0; index < COMBINATIONS; index += IS_SOAK ? 1 : 5) {
    const question = randomQuestion(SEED, index, many);
    assertQuestion({ engine, oracle }, question, `seed ${SEED}, question ${index}`);
  }
});

test('a build of a broken file leaves no thread behind', async () => {
  const path = join(folder, 'broken');
  writeNative(path, [blockOf([...points.values()])]);
  const bytes = readFileSync(path);
  // a byte of the columns, behind which the records lie
  bytes[1_000]! ^= 1;
  writeFileSync(path, bytes);
  const threads = (): number => readdirSync('/proc/self/task').length;
  const before = existsSync('/proc/self/task') ? threads() : 0;
  for (let i = 0; i < (IS_SOAK ? 3 : 2); i++) {
    const reader = openNative(path, {})!;
    const error = await buildDataset(reader, { inParallel: true }).then(() => '', String);
    assert.match(error, /broken at byte/);
    reader.close();
  }
  if (before > 0) await until('the threads have ended', () => threads() <= before, 10_000);
});

test('an id that comes twice is refused by name, even from different blocks', async () => {
  const twice = [...notes.slice(0, 500), { ...notes[0]!, lat: 1, created: 5 }];
  for (const blockPoints of [1000, 100]) {
    const message = await refusal(buildDataset(readerOf(twice, blockPoints)));
    assert.ok(message.includes(String(notes[0]!.id)), message);
  }
});

test('another thread gets the same memory, not a copy', async () => {
  const parts = await buildDataset(readerOf(notes));
  const passed = structuredClone(parts);
  await assertRows(passed, notes);
  // written by one, read by the other: nothing but this test does so
  const { coords } = assembleDataset(parts);
  const record = stretchOf(parts.records, 7, 8)[0]!;
  coords[14] = 1.25;
  parts.byCreatedAt.keys[7] = 99;
  record[0] = 0x21;
  assert.is(assembleDataset(passed).coords[14], 1.25);
  assert.is(passed.byCreatedAt.keys[7], 99);
  assert.is(stretchOf(passed.records, 7, 8)[0]![0], 0x21);
  for (const one of [parts.coords.buffer, ...numbersOf(parts).map(({ buffer }) => buffer)]) {
    assert.instance(one, SharedArrayBuffer);
  }
});

function numbersOf(value: object): ArrayBufferView[] {
  return Object.values(value).flatMap((one: unknown) => {
    if (ArrayBuffer.isView(one)) return one;
    return typeof one === 'object' && one !== null ? numbersOf(one) : [];
  });
}

const BLOCKS_SEED = 51;
const COUNTS = [
  ...Array(201).keys(),
  ...[255, 289, 577, 1000, 2047, 4096, 9001],
  ...(IS_SOAK ? [70_000] : []),
];

test('blocks follow each other, are a power of two, about as large, and their boxes are tight', () => {
  for (const count of COUNTS) {
    for (const blockRows of count <= 1000 ? [2, 3, 16, 64] : [16, 64]) {
      const label = `seed ${BLOCKS_SEED}, ${count} rows, blocks of ${blockRows}`;
      const coords = treeCoords(count, 2, BLOCKS_SEED + count);
      const { starts, boxes } = cutBlocks(coords, blockRows);
      const blocks = starts.length - 1;
      assert.is(boxes.length, 4 * blocks, label);
      assert.is(starts[0], 0, label);
      assert.is(starts[blocks], count, label);
      if (count === 0) assert.is(blocks, 0, label);
      else assert.ok(Number.isInteger(Math.log2(blocks)), `${label}: ${blocks}`);
      for (let block = 0; block < blocks; block++) {
        const rows = starts[block + 1]! - starts[block]!;
        // branches differ by a row, and a block may hold the medians of ancestors
        assert.ok(rows >= 1 && rows <= blockRows + 3, `${label}: block ${block} has ${rows}`);
        assert.ok(blocks === 1 || rows >= (blockRows - 1) / 2, `${label}: block ${block}: ${rows}`);
        const points = coords.subarray(2 * starts[block]!, 2 * starts[block + 1]!);
        const [lons, lats] = [0, 1].map((axis) => points.filter((_, i) => i % 2 === axis));
        const least = [Math.min(...lons!), Math.min(...lats!)];
        const tight = [...least, Math.max(...lons!), Math.max(...lats!)];
        assert.equal([...boxes.subarray(4 * block, 4 * block + 4)], tight, label);
      }
    }
  }
});

test('blocks are neighbours on the map: together they cover not much more than it has', () => {
  const { starts, boxes } = cutBlocks(treeCoords(70_000, 16, 2));
  const blocks = starts.length - 1;
  let area = 0;
  for (let at = 0; at < boxes.length; at += 4) {
    area += (boxes[at + 2]! - boxes[at]!) * (boxes[at + 3]! - boxes[at + 1]!);
  }
  // the median of an ancestor may lie far from the block that counts it
  assert.ok(area < 1.5 * 360 * 180, `${blocks} blocks of ${BLOCK_ROWS} rows cover ${area}`);
});

test.run();
