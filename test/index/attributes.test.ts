import { Random } from '../../src/cli/generate/random.js';
import { storePoint } from '../../src/formats/record-layout.js';
import { buildOrder, type Order } from '../../src/index/order.js';
import { buildCrossTable, countCells } from '../../src/index/orders.js';
import * as postings from '../../src/index/postings.js';
import * as support from '../support/notes.js';
import { assert, pluck, test } from '../support/uvu.js';

const { bytesOf, frequentTexts, numberOf, rowsWith } = postings;
const { attributesOfRecords, pointOf, STATUSES, scatterNotes, TAGS } = support;
type Note = support.Note;

/** The rows of a value, whichever form they have. */
function listed(postings: postings.Postings, value: number, count: number): number[] {
  if (value < 0) return [];
  const { rows, bits } = rowsWith(postings, value);
  if (bits === undefined) return [...rows];
  const all = Array.from({ length: count }, (_, row) => row);
  return all.filter((row) => (bits[row >>> 5]! >>> (row & 31)) & 1);
}

const notes = scatterNotes(99, 3_000);
const attributes = attributesOfRecords(notes.map((note) => storePoint(pointOf(note))));

test('each value has the rows whose records say so, frequent ones by bits and rare ones by lists', () => {
  const { status, tags, createdBy, isProcessed, hasImage } = attributes;
  const check = (found: postings.Postings, value: number, has: (note: Note) => unknown): void => {
    const rows = [...notes.keys()].filter((row) => has(notes[row]!));
    assert.equal(listed(found, value, notes.length), rows, `${has} ${value}`);
  };
  const forms = new Set<string>();
  for (const text of ['new', ...STATUSES, ...TAGS]) {
    check(status.postings, numberOf(status.texts, bytesOf(text)), (note) => note.status === text);
    const tag = numberOf(tags.texts, bytesOf(text));
    check(tags.postings, tag, (note) => note.tags?.includes(text));
    if (tag >= 0) forms.add(rowsWith(tags.postings, tag).bits === undefined ? 'list' : 'bits');
  }
  assert.is(forms.size, 2);
  for (const user of new Set(pluck(notes, 'createdBy'))) {
    const value = numberOf(createdBy.texts, bytesOf(String(user ?? '')));
    check(createdBy.postings, value, (note) => note.createdBy === user);
  }
  for (const [value, is] of [false, true].entries()) {
    check(isProcessed.postings, value, (note) => note.isProcessed === is);
    check(hasImage.postings, value, (note) => note.hasImage === is);
  }
});

test('texts and users stand in ascending order, each once', () => {
  const { status, tags, createdBy } = attributes;
  for (const { bytes, ends } of [status.texts, tags.texts, createdBy.texts]) {
    const texts = [...ends].map((end, i) =>
      Buffer.from(bytes.subarray(i === 0 ? 0 : ends[i - 1], end)).toString('latin1'),
    );
    assert.equal(texts, [...new Set(texts)].sort());
  }
});

test('attributes of no points', () => {
  const { status, createdBy } = attributesOfRecords([]);
  assert.is(status.texts.ends.length, 0);
  assert.is(numberOf(status.texts, bytesOf('NEW')), -1);
  assert.equal([...createdBy.postings.counts], [0]);
});

const random = new Random(64, 'point');

function orderOf(count: number, keyOf: (row: number) => number): Order {
  return buildOrder(Float64Array.from({ length: count }, (_, row) => keyOf(row)));
}

/** How many rows of each cell along an order have a rank within the range in the other order. */
function countEach(along: Order, other: Order, from: number, to: number, shift: number): number[] {
  const counts: number[] = new Array(Math.ceil(along.rows.length / 2 ** shift)).fill(0);
  for (const [rank, row] of along.rows.entries()) {
    const place = other.ranks[row]!;
    if (place >= from && place < to) counts[rank >>> shift]!++;
  }
  return counts;
}

const COUNT = 5_000;
const PAIRS: Record<string, [(row: number) => number, (row: number) => number]> = {
  'that know nothing of each other': [() => random.int(1e9), () => random.int(1e9)],
  'that are the same': [(row) => row * 7, (row) => row * 7],
  'that run against each other': [(row) => row, (row) => -row],
  'of which one is all ties': [() => 5, () => random.int(1e9)],
};

for (const [what, [one, two]] of Object.entries(PAIRS)) {
  test(`cells of rows in orders ${what} are counted to the last row`, () => {
    for (const count of [1, 1_023, 1_024, 1_025, COUNT]) {
      const [first, second] = [orderOf(count, one), orderOf(count, two)];
      const table = buildCrossTable(first, second);
      const ends = [0, 1, 511, 512, 513, 1_024, 1_535, 1_536, 2_047, 2_048, count - 1, count];
      for (let i = 0; i < 40; i++) ends.push(random.int(count + 1));
      for (const [i, from] of ends.entries()) {
        const to = ends[(i * 7 + 3) % ends.length]!;
        if (from > to || to > count) continue;
        for (const isTurned of [false, true]) {
          const [along, other] = isTurned ? [second, first] : [first, second];
          const counts = new Int32Array(table.cells);
          countCells({ table, isTurned }, along, other, { from, to }, counts);
          const expected = countEach(along, other, from, to, table.shift);
          assert.equal([...counts], expected, `${count}: ${from} to ${to}, turned: ${isTurned}`);
        }
      }
    }
  });
}

test('no table has more than 512 cells in a direction, nor cells of fewer than 1,024 ranks', () => {
  const shiftOf = (count: number): number => {
    const order = orderOf(count, (row) => row);
    const { shift, cells } = buildCrossTable(order, order);
    assert.ok(cells <= 512, `${count} rows: ${cells} cells`);
    return shift;
  };
  assert.is(shiftOf(0), 10);
  assert.is(shiftOf(300_000), 10);
  assert.is(shiftOf(1_000_000), 11);
});

function attributeOf(rows: readonly string[]): postings.TextAttribute {
  const names = [...new Set(rows)];
  const keys = names.map((text) => Buffer.from(bytesOf(text)).toString('latin1'));
  const { texts, places } = postings.sortTexts(keys);
  const values = Uint32Array.from(rows, (text) => places[names.indexOf(text)]!);
  const { length } = rows;
  const built = postings.buildPostings(length, names.length, { rows: undefined, values, length });
  return { texts, postings: built };
}

function attributesOf(status: readonly string[], tags: readonly string[]): postings.Attributes {
  return { status: attributeOf(status), tags: attributeOf(tags) } as unknown as postings.Attributes;
}

test('the most frequent texts are found', () => {
  const random = new Random(7, 'point');
  const any = (): string => `tag ${Math.floor(90 * random.next() * random.next())}`;
  const all = [...Array.from({ length: 800 }, any), ...Array.from({ length: 40 }, () => 'ä"\\')];
  const attributes = attributesOf(['OPEN', 'NEW', 'NEW'], all);
  const expected = frequentTexts(attributes);
  const counts = new Map(all.map((one) => [one, all.filter((other) => other === one).length]));
  const least = Math.min(...expected.tags.map((one) => counts.get(one)!));
  assert.equal(expected.status, ['NEW', 'OPEN']);
  assert.is(expected.tags.length, 50);
  assert.ok([...counts].every(([one, count]) => count <= least || expected.tags.includes(one)));
  assert.ok(expected.tags.includes('ä"\\'));
  assert.equal(frequentTexts(attributes), expected);
  // what is empty or long is not offered
  const { status, tags } = frequentTexts(attributesOf(['', 'NEW'], ['x'.repeat(65), '<b>']));
  assert.equal([status, tags], [['NEW'], ['<b>']]);
});

test.run();
