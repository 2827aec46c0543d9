import { Random } from '../../../src/cli/generate/random.js';
import { bitOf, listMarked, markRows } from '../../../src/query/common/marks.js';
import { type Bounds, markWithin } from '../../../src/query/common/matches.js';
import { costInRuns, Runs } from '../../../src/query/common/runs.js';
import { assert, test } from '../../support/uvu.js';

test('a row lies in the runs that were added, and in no other', () => {
  const random = new Random(31, 'point');
  for (let round = 0; round < 200; round++) {
    const runs = new Runs();
    const rows = new Set<number>();
    for (let from = random.int(3); from < 400; from += random.int(20)) {
      const to = Math.min(400, from + 1 + random.int(round % 2 === 0 ? 3 : 30));
      runs.add(from, to);
      for (let row = from; row < to; row++) rows.add(row);
      from = to;
    }
    for (let row = 0; row < 410; row++) assert.is(runs.has(row), rows.has(row), `row ${row}`);
    assert.is(runs.rows, rows.size);
    // nor, once cleared, in any of those
    runs.clear();
    for (let row = 0; row < 410; row++) assert.not(runs.has(row), `row ${row}`);
  }
});

test('a row that is a run of its own costs several times what one of a long run does', () => {
  const [long, short] = [new Runs(), new Runs()];
  long.add(0, 1_000);
  for (let row = 0; row < 2_000; row += 2) short.add(row, row + 1);
  assert.is(long.rows, short.rows);
  assert.ok(costInRuns(long, 2) < 2.1);
  assert.ok(costInRuns(short, 2) > 5 * costInRuns(long, 2));
});

const ROWS = 320;
const random = new Random(8, 'point');

function marked(bits: Int32Array): number[] {
  return Array.from({ length: ROWS }, (_, row) => row).filter((row) => bitOf(bits, row) === 1);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

test('marked rows are listed between any two rows', () => {
  const bits = new Int32Array(ROWS / 32);
  const rows = range(0, ROWS).filter((row) => row > 250 || random.chance(0.4));
  markRows(bits, Int32Array.from(rows), 0, rows.length);
  for (let from = 0; from <= ROWS; from += 5) {
    for (let to = from; to <= ROWS; to++) {
      const expected = rows.filter((row) => row >= from && row < to);
      const list = new Int32Array(ROWS + 1);
      const end = listMarked(bits, list, 1, from, to);
      assert.equal([...list.subarray(1, end)], expected, `${from} to ${to}`);
    }
  }
});

test('rows within two windows are marked and counted, whatever the ends of the stretch', () => {
  const shuffled = (): Int32Array =>
    Int32Array.from(range(0, ROWS)).sort(() => random.next() - 0.5);
  for (let round = 0; round < 300; round++) {
    const [one, other] = [shuffled(), shuffled()].map((ranks): Bounds => {
      const from = random.int(ROWS);
      return { ranks, from, to: from + random.int(ROWS - from) + 1 };
    }) as [Bounds, Bounds];
    const from = random.int(ROWS);
    const to = from + random.int(ROWS - from + 1);
    const bits = new Int32Array(ROWS / 32);
    const count = markWithin(bits, one, other, from, to);
    const expected = range(from, to).filter((row) =>
      [one, other].every(
        ({ ranks, from: least, to: end }) => ranks[row]! >= least && ranks[row]! < end,
      ),
    );
    assert.equal(marked(bits), expected, `round ${round}`);
    assert.is(count, expected.length);
    const list = new Int32Array(ROWS);
    assert.is(listMarked(bits, list, 0, 0, 32 * bits.length), count);
    assert.equal([...list.subarray(0, count)], expected);
  }
});

test.run();
