import { permutation, Random } from '../../src/cli/generate/random.js';
import { MAX_RECORD_BYTES } from '../../src/formats/block.js';
import { MOST_SHORT, rendered, storePoint } from '../../src/formats/record-layout.js';
import { copyPage, fetchPage } from '../../src/index/record-page.js';
import {
  allocateRecords,
  CHUNK_BITS,
  CHUNK_ROWS,
  putRecords,
  type Records,
  SPARE_BYTES,
  stretchOf,
} from '../../src/index/records.js';
import { type Point, renderPoint } from '../../src/model/point.js';
import { point } from '../support/native.js';
import { assert, rounds, test } from '../support/uvu.js';

const SEED = 61;

const COUNT = 2 * CHUNK_ROWS + 500;
/** So small that the first two chunks do not fit one memory. */
const MOST_BYTES = 100_000;

const points = Array.from({ length: COUNT }, (_, row) => {
  const times = row % 3 === 0 ? { modified_at: '2023-06-01T09:00:00Z' } : {};
  const texts = row % 5 === 0 ? { image: `/${'i'.repeat(row % 70)}`, status: 'OPENED' } : {};
  const tags = row % 7 === 0 ? { tags: ['a', 'é'.repeat(row % 30 || 1)] } : {};
  const user = row % 2 === 0 ? { created_by: row % 4 === 0 ? 2 ** 53 - 1 : row } : {};
  const own = { id: row === 8 ? 2 ** 53 - 1 : row + 1, comment: '"'.repeat(row % 83) };
  const place = { lat: (row % 181) - 90, lon: -(row % 181), is_processed: row % 11 === 0 };
  return point({ ...own, ...place, ...times, ...texts, ...tags, ...user });
});
const texts = points.map(renderPoint);
const records = recordsOf(points);

/** Records put in their rows' places from a snapshot of another order, in uneven blocks. */
function recordsOf(given: readonly Point[]): Records {
  const all = given.map(storePoint);
  const sizes = all.map(({ length }) => length);
  const made = allocateRecords(Uint32Array.from(sizes), undefined, 0, MOST_BYTES);
  const rowOf = permutation(SEED, all.length);
  const rows = Uint32Array.from(all, (_, index) => rowOf(index));
  for (let next = 0, points = 1; next < rows.length; points = 3 * points + 1) {
    const block = Array.from(rows.subarray(next, next + points), (row) => all[row]!);
    const source = Buffer.concat([Buffer.of(1, 2), ...block, Buffer.of(3)]).subarray(2, -1);
    putRecords(made, rows.subarray(next, next + block.length), source);
    next += block.length;
  }
  return made;
}

/** Returns what is copied to place `at` of a target with `more` bytes; asserts they are untouched. */
function copy(
  own: Records,
  rows: ArrayLike<number>,
  count = rows.length,
  at = 0,
  more = 0,
): string {
  const page = fetchPage({ records: own, count: own.ends.length }, undefined, rows, count);
  const target = Buffer.alloc(at + page.size + more, 0x21);
  const end = copyPage(page, target, at);
  assert.is(end, at + page.size);
  assert.ok(target.subarray(0, at).every((byte) => byte === 0x21));
  assert.ok(target.subarray(end).every((byte) => byte === 0x21));
  return target.toString('utf8', at, end);
}

function assertHas(made: Records, expected: readonly string[]): void {
  for (const [row, text] of expected.entries()) {
    const found = rendered(stretchOf(made, row, row + 1)[0]!).toString();
    if (found !== text) assert.is(found, text, `row ${row}`);
  }
}

test('a record is where it was put', () => {
  assertHas(records, texts);
  // to a target that ends with the record, and all at once
  for (const [row, text] of texts.entries()) assert.is(copy(records, [row]), text, `row ${row}`);
  assert.ok(copy(records, [...texts.keys()], COUNT, 0, 10) === texts.join());
});

test('runs, single rows and repeated rows in any order are copied one after the other', () => {
  const random = new Random(SEED, 'point');
  for (let round = 0; round < rounds(2_500); round++) {
    random.restart(round + 1);
    const rows: number[] = [];
    while (rows.length < 40) {
      const near = random.pick([0, CHUNK_ROWS, 2 * CHUNK_ROWS, COUNT, random.int(COUNT)]);
      const first = Math.max(0, Math.min(COUNT - 1, near + random.int(9) - 5));
      const step = random.pick([1, 1, 1, -1, 0, 2]);
      for (let i = 0; i < random.int(12); i++) {
        rows.push(Math.max(0, Math.min(COUNT - 1, first + i * step)));
      }
    }
    const count = random.int(rows.length + 1);
    const copied = copy(records, Uint32Array.from(rows), count, random.int(5), 10);
    const wanted = rows.slice(0, count).map((row) => texts[row]);
    assert.is(copied, wanted.join(), `seed ${SEED}, round ${round}: ${count} of ${rows}`);
  }
});

test('a stretch of rows is filled piece by piece, as a file has them', () => {
  const stored = points.map(storePoint);
  const sizes = stored.map(({ length }) => length);
  const made = allocateRecords(Uint32Array.from(sizes), undefined, 0, MOST_BYTES);
  const borders = [0, 1, 500, CHUNK_ROWS, CHUNK_ROWS + 3, COUNT - 1, COUNT];
  for (const [i, to] of borders.entries()) {
    const from = borders[i - 1] ?? 0;
    const pieces = stretchOf(made, from, to);
    const whole = Buffer.concat(stored.slice(from, to));
    const [first, last] = [from, to - 1].map((row) => made.memoryOf[row >> CHUNK_BITS]!);
    assert.is(pieces.length, from === to ? 0 : last! - first! + 1);
    let at = 0;
    for (const piece of pieces) {
      piece.set(whole.subarray(at, at + piece.length));
      at += piece.length;
    }
    assert.is(at, whole.length);
  }
  assertHas(made, texts);
});

test('records are bytes, not characters, and none are none', () => {
  const some = ['Ääkkönen', '🗺', ''].map((comment, i) => point({ id: i + 1, comment }));
  assert.is(copy(recordsOf(some), [2, 1, 0]), some.toReversed().map(renderPoint).join());
  const none = allocateRecords(new Uint32Array(0));
  assert.equal([none.memories.length, none.ends.length], [0, 0]);
  assert.is(copy(none, []), '');
});

test('records of any size are copied, whatever bytes they have', () => {
  const least = Buffer.byteLength(renderPoint(point({ id: 1 })));
  const most = MAX_RECORD_BYTES - least;
  const sizes = [1, 7, 8, 9, 31, 32, 33, 300, 16_383, 16_384, 65_536, 70_000, most];
  // DEL and the longest characters: of all UTF-8 they come closest to the bytes of a NaN, which
  // copies as floats would change
  const letters = ['\x7f', '\u{10ffff}', '\u{3ffff}\x7f', 'ÿ', 'a\x7f\x7f\u{10ffff}'];
  const large = sizes.map((size, i) => {
    const letter = letters[i % letters.length]!;
    const comment = letter.repeat(Math.max(1, Math.floor(size / Buffer.byteLength(letter))));
    return point({ id: 1, comment });
  });
  const long = 'x'.repeat(MOST_SHORT);
  const tags = Array.from({ length: 244 }, (_, i) => `${i}`.padEnd(64, 'x'));
  large.push(point({ id: 1, status: long, comment: long, image: long, tags }));
  const largeTexts = large.map(renderPoint);
  // between the large ones, which are in a chunk each, lie small ones
  const small = point({ id: 2 });
  const made = recordsOf([...large, ...Array<Point>(CHUNK_ROWS).fill(small), ...large]);
  const rowOf = (i: number): number => (i < large.length ? i : i + CHUNK_ROWS);
  const random = new Random(SEED, 'point');
  for (let round = 0; round < 300; round++) {
    random.restart(round + 1);
    const picked = Array.from({ length: random.int(12) }, () => random.int(2 * large.length));
    const wanted = picked.map((i) => largeTexts[i % large.length]!);
    const isSame = copy(made, picked.map(rowOf)) === wanted.join();
    assert.ok(isSame, `seed ${SEED}, round ${round}: ${picked}`);
  }
});

test('a memory has as many chunks as fit it, and one at least', () => {
  const bytesOf = ({ memories }: Records): number[] =>
    memories.map((memory) => memory.length - SPARE_BYTES);
  for (const count of [1, CHUNK_ROWS, CHUNK_ROWS + 1, 5 * CHUNK_ROWS + 1]) {
    const lengths = new Uint32Array(count).fill(2);
    assert.equal(bytesOf(allocateRecords(lengths)), [2 * count]);
    const most = Math.min(count, 2 * CHUNK_ROWS);
    const [first] = bytesOf(allocateRecords(lengths, undefined, 0, 4 * CHUNK_ROWS + 1));
    assert.is(first, 2 * most);
    const alone = bytesOf(allocateRecords(lengths, undefined, 0, 1));
    assert.is(alone.length, Math.ceil(count / CHUNK_ROWS));
  }
  // more than 1 GiB, which the system hands out without filling it
  const largest = allocateRecords(new Uint32Array(5_000).fill(MAX_RECORD_BYTES));
  assert.equal(bytesOf(largest), [CHUNK_ROWS * MAX_RECORD_BYTES, 904 * MAX_RECORD_BYTES]);
});

test('records of the rows before stay where they are', () => {
  const more = ['more', 'and more'].map((comment, i) => point({ id: COUNT + i + 1, comment }));
  const own = [...points.slice(2 * CHUNK_ROWS), ...more].map(storePoint);
  const lengths = Uint32Array.from(own, ({ length }) => length);
  const next = allocateRecords(lengths, records, 2 * CHUNK_ROWS);
  for (const [i, record] of own.entries())
    stretchOf(next, 2 * CHUNK_ROWS + i, 2 * CHUNK_ROWS + i + 1)[0]!.set(record);
  assertHas(next, [...texts, ...more.map(renderPoint)]);
  assert.is(next.memories[0], records.memories[0]);
  // what no row has any more is let go
  assert.is(allocateRecords(lengths, next, CHUNK_ROWS).memories.length, 2);
  assert.is(allocateRecords(lengths, next, 0).memories.length, 1);
});

test.run();
