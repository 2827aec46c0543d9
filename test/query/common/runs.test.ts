import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { costInRuns, Runs } from '../../../src/query/common/runs.js';

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
  }
});

test('no row lies in no runs, not even where some were before', () => {
  const runs = new Runs();
  assert.not(runs.has(0));
  runs.add(0, 10);
  assert.ok(runs.has(9));
  runs.clear();
  assert.not(runs.has(0));
  assert.not(runs.has(9));
});

test('a row that is a run of its own costs several times what one of a long run does', () => {
  const [long, short] = [new Runs(), new Runs()];
  long.add(0, 1_000);
  for (let row = 0; row < 2_000; row += 2) short.add(row, row + 1);
  assert.is(long.rows, short.rows);
  assert.ok(costInRuns(long, 2) < 2.1);
  assert.ok(costInRuns(short, 2) > 5 * costInRuns(long, 2));
});

test.run();
