import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Load, startLoad } from '../support/load.js';
import { countOf, markedLines, markedNative } from '../support/marked.js';
import { makeFolder } from '../support/reloading.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/wait.js';
import { WRITERS } from '../support/writers.js';

const ROUNDS = 6;
const ADMIN = { Authorization: 'Bearer secret' };
let service: Service | undefined;
let load: Load | undefined;

/** The points that /health/ready says are served. */
async function points(): Promise<number> {
  const reply = await service!.get('/health/ready');
  return reply.json<{ points: number }>().points;
}

/** A snapshot, native or not in turn. */
function snapshot(mark: number): Buffer {
  return mark % 3 === 0 ? markedNative(mark) : markedLines(mark);
}

test('under load, snapshots are swapped in every way and nobody notices', async () => {
  const path = join(makeFolder(), 'points');
  let mark = 1;
  writeFileSync(path, snapshot(mark));
  const flags = ['--snapshot', path, '--settle', '60ms', '--admin-token', 'secret'];
  service = await startService(flags, { NODE_ENV: 'production' });
  load = await startLoad({ port: service.port, connections: 6, fresh: false, marked: true });

  const swaps: Record<string, number> = {};
  const swapped = async (way: string): Promise<void> => {
    await until(`${way} to ${mark}`, async () => (await points()) === countOf(mark));
    swaps[way] = (swaps[way] ?? 0) + 1;
  };
  for (let round = 0; round < ROUNDS; round++) {
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
    const reply = await service.get('/admin/reload', { method: 'POST', headers: ADMIN });
    assert.is(reply.status, 200);
    assert.is(reply.json<{ points: number }>().points, countOf(mark), 'it answers when it is done');
    await swapped('POST');
  }
  assert.is(Object.keys(swaps).length, 9);
  const total = Object.values(swaps).reduce((sum, count) => sum + count);
  assert.ok(total >= 50, `${total} swaps`);

  // faster than they can be loaded: the last one wins
  for (let burst = 0; burst < 3; burst++) {
    for (const [way, write] of Object.entries(WRITERS)) {
      if (way !== 'touch only') await write(path, snapshot(++mark), mark);
    }
    await swapped('burst');
  }

  await until('answers from the last one', () => (load!.result.marks[mark] ?? 0) >= 100);
  const { answered, failed, failures, marks, refused, dropped } = await load.end();
  assert.equal([failures, failed, refused, dropped], [[], 0, 0, 0]);
  assert.ok(Object.keys(marks).length > 50, `${Object.keys(marks).length} snapshots were seen`);
  assert.ok((marks[mark] ?? 0) >= 100, `answers from the last one: ${marks[mark]}`);
  assert.ok(answered > 5_000, `${answered} answers`);

  const ready = (await service.get('/health/ready')).json<Record<string, unknown>>();
  assert.is(ready['stale'], false);
  const errors = service.logs.filter((entry) => (entry['level'] as number) > 40);
  // a writer that pauses longer than it was given, on a slow machine, is no fault
  assert.ok(errors.length <= 2, JSON.stringify(errors));
  await service.stop();
  assert.is(await service.ended, 0);
});

test.after(async () => {
  if (service !== undefined) await service.stop();
});

test.run();
