import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import { buildOrder, type Order } from '../../src/index/order.js';
import { buildCrossTable, countCells } from '../../src/index/orders.js';

const random = new Random(64, 'point');

/** An order of rows by keys. */
function orderOf(count: number, keyOf: (row: number) => number): Order {
  return buildOrder(Float64Array.from({ length: count }, (_, row) => keyOf(row)));
}

/** Rows of each cell along an order whose rank of the other lies in the range, one by one. */
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
  for (const count of [1, 1_023, 1_024, 1_025, COUNT]) {
    test(`cells of ${count} rows in orders ${what} are counted to the last row`, () => {
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
          assert.equal([...counts], expected, `${from} to ${to}, turned: ${isTurned}`);
        }
      }
    });
  }
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

test.run();
