import { MAX_BLOCK_POINTS, type PointBlock } from '../../src/formats/block.js';
import { sortBlocks } from '../../src/formats/native/sort.js';
import { isKdSorted, kdSorted } from '../support/kd-order.js';
import { blockOf, blocksOf, COLUMNS, point } from '../support/native.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { textsOf } from '../support/rows.js';
import { assert, test } from '../support/uvu.js';

const SEED = 37;

const LARGEST = 2 * MAX_BLOCK_POINTS + 500;
const POINTS = scatterNotes(SEED, LARGEST).map(pointOf);

/** The records of blocks with their columns, sorted. */
function recordsOf(blocks: readonly PointBlock[]): string {
  const lines = blocks.flatMap((block) =>
    textsOf(block).map((text, i) => [...COLUMNS.map((name) => block[name][i]), text].join()),
  );
  return lines.sort().join('\n');
}

function placesOf(blocks: readonly PointBlock[]): { lon: number; lat: number }[] {
  return blocks.flatMap(({ lon, lat }) =>
    Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! })),
  );
}

test('sorting keeps all points, in order, in full blocks, which stay the same', () => {
  for (const [count, blockPoints] of [
    [18, 5],
    [5_000, 333],
    [MAX_BLOCK_POINTS + 1, 30_000],
    [LARGEST, 65_000],
  ] as const) {
    const points = POINTS.slice(0, count);
    const before = blocksOf(points, blockPoints);
    const after = [...sortBlocks(before)];
    assert.ok(isKdSorted(placesOf(after)), `${count} points`);
    assert.ok(recordsOf(after) === recordsOf(before), `${count} points: the same records`);
    assert.is(after.length, Math.ceil(count / MAX_BLOCK_POINTS));
    const divided = [...sortBlocks(blocksOf(points, 3_000))];
    assert.equal(divided, after, `${count} points, divided otherwise`);
    assert.equal([...sortBlocks(after)], after, `${count} points, sorted already`);
  }
});

/** A block as sorting makes it: its records are a Buffer. */
function sortedBlockOf(points: Parameters<typeof blockOf>[0]): PointBlock {
  const block = blockOf(points);
  return { ...block, records: Buffer.from(block.records) };
}

test('points sorted by another writer keep their order, whatever the size of its blocks', () => {
  const notes = kdSorted(scatterNotes(SEED, 4_000));
  const parts = [1, 700, 4_000].map((to, i, all) => notes.slice(all[i - 1] ?? 0, to));
  const after = [...sortBlocks(parts.map((part) => blockOf(part.map(pointOf))))];
  assert.equal(after, [sortedBlockOf(notes.map(pointOf))]);
});

test('none, one and points all in one place need no sorting', () => {
  const same = Array.from({ length: 300 }, (_, i) => point({ id: i + 1 }));
  assert.equal([...sortBlocks([])], []);
  for (const points of [same.slice(0, 1), same]) {
    assert.equal([...sortBlocks([blockOf(points)])], [sortedBlockOf(points)]);
  }
});

test.run();
