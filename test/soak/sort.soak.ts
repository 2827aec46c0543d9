import { MAX_BLOCK_POINTS, type PointBlock } from '../../src/formats/block.js';
import { sortBlocks } from '../../src/formats/native/sort.js';
import { renderPoint } from '../../src/model/point.js';
import { isKdSorted, kdSorted } from '../support/kd-order.js';
import { blockOf, COLUMNS, point } from '../support/native.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { textsOf } from '../support/rows.js';
import { assert, test } from '../support/uvu.js';

const SEED = 37;

const LARGEST = 2 * MAX_BLOCK_POINTS + 500;
const POINTS = scatterNotes(SEED, LARGEST).map(pointOf);

function blocks(count: number, blockPoints: number): PointBlock[] {
  const points = POINTS.slice(0, count);
  const made: PointBlock[] = [];
  for (let from = 0; from < count; from += blockPoints) {
    made.push(blockOf(points.slice(from, from + blockPoints)));
  }
  return made;
}

function places(read: readonly PointBlock[]): { lon: number; lat: number }[] {
  return read.flatMap(({ lon, lat }) =>
    Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! })),
  );
}

/** Asserts that both hold the same records with the same columns, in any order. */
function assertSameRecords(
  before: readonly PointBlock[],
  after: readonly PointBlock[],
  label: string,
): void {
  const [old, now] = [before, after].map((read) => {
    const lines = read.flatMap((block) =>
      textsOf(block).map((text, i) => [...COLUMNS.map((name) => block[name][i]), text].join()),
    );
    return lines.sort();
  });
  const at = now!.findIndex((line, i) => line !== old![i]);
  assert.equal([old!.length, now![at]], [now!.length, old![at]], label);
}

test('sorting keeps all points, in order, in full blocks', () => {
  for (const [count, blockPoints] of [
    [18, 5],
    [5_000, 333],
    [MAX_BLOCK_POINTS + 1, 30_000],
    [LARGEST, 65_000],
  ] as const) {
    const before = blocks(count, blockPoints);
    const after = [...sortBlocks(before)];
    assert.ok(isKdSorted(places(after)), `${count} points`);
    assertSameRecords(before, after, `${count} points`);
    assert.is(after.length, Math.ceil(count / MAX_BLOCK_POINTS));
  }
});

test('the same points make the same blocks, however they were divided; sorted ones stay as they are', () => {
  const before = blocks(20_000, 3_000);
  const sorted = [...sortBlocks(before)];
  assert.equal([...sortBlocks(before)], sorted);
  assert.equal([...sortBlocks(sorted)], sorted);
});

test('points sorted by another writer keep their order, whatever the size of its blocks', () => {
  const notes = kdSorted(scatterNotes(SEED, 4_000));
  const parts = [1, 700, 4_000].map((to, i, all) => notes.slice(all[i - 1] ?? 0, to));
  const after = [...sortBlocks(parts.map((part) => blockOf(part.map(pointOf))))];
  assert.equal(after, [blockOf(notes.map(pointOf))]);
});

test('none, one and points all in one place need no sorting', () => {
  const same = Array.from({ length: 300 }, (_, i) => point({ id: i + 1 }));
  assert.equal([...sortBlocks([])], []);
  for (const points of [same.slice(0, 1), same]) {
    const block = blockOf(points);
    assert.equal([...sortBlocks([block])], [block]);
  }
});

test("a block ends before its records exceed the format's limit", () => {
  const long = Array.from({ length: 300 }, (_, i) =>
    point({ id: i + 1, lon: (i * 77) % 180, lat: i % 90, comment: 'x'.repeat(262_142 - 250) }),
  );
  const before = [blockOf(long)];
  const after = [...sortBlocks(before)];
  assert.is(after.length, 3);
  assert.ok(isKdSorted(places(after)));
  assertSameRecords(before, after, 'long records');
  const record = Buffer.byteLength(renderPoint(long[0]!));
  assert.ok(after[0]!.count >= Math.floor(2 ** 25 / (record + 2)), `${after[0]!.count}`);
});

test.run();
