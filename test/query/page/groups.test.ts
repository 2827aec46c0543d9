import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Budget } from '../../../src/budget.js';
import { cutBlocks } from '../../../src/dataset/blocks.js';
import { Random } from '../../../src/generate/random.js';
import { markRows } from '../../../src/query/common/marks.js';
import { distancesAt, leaveOutDistances } from '../../../src/query/page/distances.js';
import { leaveOutGroups } from '../../../src/query/page/groups.js';
import { Centre } from '../../../src/query/region/centre.js';
import { treeCoords } from '../../support/tree-coords.js';

const SEED = 81;
const budget = new Budget();

function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].sort((a, b) => a - b);
}

/** Places `from` to `to - 1` of a list of so many, of which both ends come up often. */
function placesOf(random: Random, count: number): { from: number; to: number } {
  const from = random.pick([0, random.int(count), count - 1]);
  return { from, to: Math.min(count, from + 1 + random.int(100)) };
}

test('the distances at the places asked for are kept, whatever their spread', () => {
  const random = new Random(SEED, 'point');
  let kept = 0;
  let total = 0;
  for (let round = 0; round < 500; round++) {
    random.restart(round + 1);
    const count = 1 + random.int(random.pick([3, 100, 5_000]));
    const spread = random.pick([
      () => random.between(0, 1),
      () => random.between(0.2, 0.2 + 1e-12),
      () => random.between(0, 1) ** 9,
      () => random.pick([0, 0.25, 1]),
      () => 0.5,
      () => 0,
    ]);
    const distances = Float64Array.from({ length: count }, spread);
    const rows = Int32Array.from({ length: count }, (_, i) => 7 * i);
    const { from, to } = placesOf(random, count);
    const { measured, places } = leaveOutDistances(budget, { rows, distances }, { from, to });
    const label = `seed ${SEED}, round ${round}: ${from} to ${to} of ${count}`;
    assert.is(places.to - places.from, to - from, label);
    const wanted = ascending(distances).slice(from, to);
    assert.equal(ascending(measured.distances).slice(places.from, places.to), wanted, label);
    measured.rows.forEach((row, i) => {
      assert.is(measured.distances[i], distances[row / 7], label);
    });
    // all that share a distance stay together: ids decide between them
    for (const edge of [wanted[0]!, wanted.at(-1)!]) {
      const sharing = (list: Float64Array): number => list.filter((one) => one === edge).length;
      assert.is(sharing(measured.distances), sharing(distances), label);
    }
    const edges = distancesAt(budget, distances, from, to - 1);
    assert.equal(edges, [wanted[0], wanted.at(-1)], label);
    kept += measured.rows.length;
    total += count;
  }
  assert.ok(kept < total / 2, `${kept} of ${total} are kept`);
});

test('the rows at the places asked for are kept, of blocks anywhere on the map', () => {
  const coords = treeCoords(9_001, 16, SEED);
  const blocks = cutBlocks(coords);
  const random = new Random(SEED, 'point');
  let kept = 0;
  let total = 0;
  for (let round = 0; round < 200; round++) {
    random.restart(round + 1);
    const share = random.pick([1, 0.5, 0.01]);
    const rows = Int32Array.from(Array(9_001).keys()).filter(() => random.chance(share));
    const centre = new Centre(random.between(-180, 180), random.between(-90, 90));
    const { from, to } = placesOf(random, rows.length);
    const bits = new Int32Array(Math.ceil(9_001 / 32));
    markRows(bits, rows, 0, rows.length);
    const list = new Int32Array(9_001);
    const near = leaveOutGroups(budget, blocks, centre, bits, list, { from, to });
    const label = `seed ${SEED}, round ${round}: ${from} to ${to} of ${rows.length}`;
    const sorted = (list: Int32Array): number[] =>
      ascending(Array.from(list, (row) => centre.to(coords, row)));
    const wanted = sorted(rows).slice(from, to);
    assert.equal(sorted(near.rows).slice(near.places.from, near.places.to), wanted, label);
    kept += near.rows.length;
    total += rows.length;
  }
  assert.ok(kept < total / 2, `${kept} of ${total} are kept`);
});

test.run();
