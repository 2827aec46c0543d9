import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServiceMetrics } from '../../src/http/metrics.js';
import { PostStats } from '../../src/posts/posts.js';
import { Cell } from '../../src/reload/current.js';
import { ReloadStats } from '../../src/reload/stats.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { metricsOf, type Ready, readyOf } from '../support/operating.js';
import { startOwnService } from '../support/own-service.js';
import { ROOT } from '../support/service.js';
import { assert, makeFile, test, until } from '../support/uvu.js';

const LIST = '/rest/map_data_points/?page_size=1';
/** Longer than the second after which a process reports its delay. */
const STOP_MS = 1_100;

test('names of files are told only with the admin token', async () => {
  const path = makeFile(markedLines(1));
  const service = await startOwnService([
    ...['--snapshot', path, '--settle', '0', '--admin-token', 'secret'],
  ]);
  const admin = { Authorization: 'Bearer secret' };
  replaceFile(path, markedLines(2, 30_000));
  let building: Ready['building'];
  await until('it is being built', async () => {
    building = (await readyOf(service)).building;
    return building !== undefined;
  });
  assert.equal([building!.path, Object.keys(building!).length], [undefined, 3]);
  assert.ok(Math.abs(Date.now() - Date.parse(building!.since)) < 60_000);
  const asked = await service.get('/admin/reload', { method: 'POST', headers: admin });
  const told = asked.json<Ready>();
  assert.equal([asked.status, asked.headers.location], [202, '/health/ready']);
  assert.equal([told.building!.path, told.building!.since], [path, building!.since]);
  assert.ok((await metricsOf(service)).value('waypost_building_seconds') >= 0);
  replaceFile(path, 'garbage\n');
  await until('it is refused', async () => (await readyOf(service)).stale);
  const stranger = await readyOf(service);
  assert.equal([stranger.reason, typeof stranger.since], [undefined, 'string']);
  assert.not.match(JSON.stringify(stranger), path);
  const refused = await readyOf(service, admin);
  assert.match(refused.reason!, path);
  // docs/operations.md shows an answer with every field
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const shown = JSON.parse(/^\{"status":"ready".*?\}\}$/ms.exec(page)![0]) as Ready;
  assert.equal(Object.keys(shown), [...Object.keys(refused), 'building']);
  assert.equal(Object.keys(shown.building!), Object.keys(told.building!));
  for (const address of ['/health/live', '/health/ready', '/metrics']) {
    const wrong = { headers: { Authorization: 'Bearer wrong' } };
    assert.is((await service.get(address, wrong)).status, 401, address);
    assert.is((await service.get(address, { headers: admin })).status, 200, address);
    assert.is((await service.get(address)).status, 200, address);
  }
});

test('frequent requests for metrics share a collection', async () => {
  let collected = 0;
  const metrics = createServiceMetrics(
    new Cell(),
    new ReloadStats(),
    { behind: 0 },
    new PostStats(),
    { open: 0, oldGenerations: 0, outcomes: {} },
  );
  metrics.add(async () => {
    collected++;
    return [];
  });
  metrics.registry.clear();
  const began = performance.now();
  await Promise.all(Array.from({ length: 50 }, metrics.text));
  await metrics.text();
  assert.is(collected, 2);
  assert.ok(performance.now() - began >= 99);
});

test('an overloaded process turns requests away, but not those for its health', async () => {
  const service = await startOwnService(['--max-loop-delay', '100ms']);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  let turned = await service.get(LIST);
  await until('requests are turned away', async () => {
    // the delay is measured over a second: the first stop ends one measurement, and the second stop
    // is all of the next
    Atomics.wait(nothing, 0, 0, STOP_MS);
    turned = await service.get(LIST);
    return turned.status === 503;
  });
  assert.is(turned.headers['retry-after'], '1');
  assert.match(turned.json<{ detail: string }>().detail, /overloaded/);
  for (const path of ['/health/live', '/health/ready', '/metrics']) {
    assert.is((await service.get(path)).status, 200, path);
  }
  await until('it serves again', async () => (await service.get(LIST)).status === 200);
});

test.run();
