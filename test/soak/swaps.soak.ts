import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.js';
import { startLoad } from '../support/load.js';
import { countOf, markedLines, markedNative } from '../support/marked.js';
import { readyOf } from '../support/operating.js';
import { startService } from '../support/service.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';
import { WRITERS } from '../support/writers.js';

const ADMIN = { Authorization: 'Bearer secret' };

/** A snapshot, native or not in turn. */
function snapshot(mark: number): Buffer {
  return mark % 3 === 0 ? markedNative(mark) : markedLines(mark);
}

/**
 * Asserts that a service under load changes to each new snapshot, in whatever way it is put in
 * place, and that no client notices. Each round puts one snapshot in place in every way. Then come
 * `bursts` of snapshots, faster than they can be loaded. Clients wait `pauseMs` between two
 * requests.
 */
async function swapUnderLoad(rounds: number, bursts: number, pauseMs = 0): Promise<void> {
  const path = join(makeFolder(), 'points');
  let mark = 1;
  writeFileSync(path, snapshot(mark));
  // many times as long as any writer pauses
  const flags = ['--snapshot', path, '--settle', '300ms', '--admin-token', 'secret'];
  const service = await startService(flags, { NODE_ENV: 'production' });
  const load = await startLoad({
    port: service.port,
    connections: 6,
    fresh: false,
    marked: true,
    pauseMs,
  });

  const swaps: Record<string, number> = {};
  const swapped = async (way: string): Promise<void> => {
    await until(`${way} to ${mark}`, async () => (await readyOf(service)).points === countOf(mark));
    swaps[way] = (swaps[way] ?? 0) + 1;
  };
  for (let round = 0; round < rounds; round++) {
    for (const [way, write] of Object.entries(WRITERS)) {
      const isTouch = way === 'touch only';
      if (!isTouch) mark++;
      await write(path, isTouch ? new Uint8Array() : snapshot(mark), mark);
      await swapped(way);
    }
    WRITERS['rename']!(path, snapshot(++mark), mark);
    process.kill(service.pid, 'SIGHUP');
    await swapped('SIGHUP');

    WRITERS['rename']!(path, snapshot(++mark), mark);
    const reply = await service.get('/admin/reload?wait', { method: 'POST', headers: ADMIN });
    assert.is(reply.status, 200);
    const { points } = reply.json<{ points: number }>();
    assert.is(points, countOf(mark), 'it answers when it is done');
    await swapped('POST');
  }
  assert.is(Object.keys(swaps).length, 9);
  // the last one wins
  for (let burst = 0; burst < bursts; burst++) {
    for (const [way, write] of Object.entries(WRITERS)) {
      if (way !== 'touch only') await write(path, snapshot(++mark), mark);
    }
    await swapped('burst');
  }
  const total = Object.values(swaps).reduce((sum, count) => sum + count);
  assert.is(total, 9 * rounds + bursts);

  await until('answers from the last one', () => (load.result.marks[mark] ?? 0) >= 100);
  const { answered, failed, failures, marks, refused, dropped } = await load.end();
  assert.equal([failures, failed, refused, dropped], [[], 0, 0, 0]);
  // what was touched only is the snapshot before
  const different = total - rounds;
  const seen = Object.keys(marks).length;
  assert.ok(seen > different - 3, `${seen} of ${different} snapshots were seen`);
  assert.ok((marks[mark] ?? 0) >= 100, `answers from the last one: ${marks[mark]}`);
  assert.ok(answered > 90 * total, `${answered} answers`);

  assert.is((await readyOf(service)).stale, false);
  const errors = service.logs.filter((entry) => (entry['level'] as number) > 40);
  // a writer that pauses longer than it was given, on a slow machine, is no fault
  assert.ok(errors.length <= 2, JSON.stringify(errors));
  await service.stop();
  assert.is(await service.ended, 0);
}

test('under load, 57 snapshots are swapped in every way and nobody notices', () =>
  swapUnderLoad(6, 3));

test.run();
