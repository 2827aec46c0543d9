import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { end, endUnderLoad, opened } from '../support/ending.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { makeFolder } from '../support/reloading.js';
import { type Service, startService } from '../support/service.js';

const path = join(makeFolder(), 'points');
writeFileSync(path, markedLines(1));
const running: Service[] = [];

async function begin(...flags: string[]): Promise<Service> {
  const service = await startService(['--snapshot', path, ...flags]);
  running.push(service);
  return service;
}

// test/soak has the other two
for (const [signal, workers] of [
  ['SIGTERM', '2'],
  ['SIGINT', '1'],
] as const) {
  test(`${signal} under load, ${workers} workers: all that was accepted is answered`, () =>
    endUnderLoad(signal, path, workers));
}

test('connections that are silent, idle, or ahead by hundreds of requests do not hold it up', async () => {
  for (const workers of ['1', '2']) {
    const service = await begin('--workers', workers);
    const silent = await opened(service.port);
    const eager = await opened(service.port);
    eager.on('error', () => {});
    // most of them wait, and none is waited for
    eager.write('GET /rest/map_data_points/ HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(900));
    await new Promise((resolve) => eager.once('data', resolve));
    const idle = await opened(service.port);
    idle.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0);
    assert.ok(took < 9_000, `${took} ms with ${workers} workers`);
    for (const socket of [silent, eager, idle]) socket.destroy();
  }
});

test('a client that never reads, and one that never ends its request, are waited for only so long', async () => {
  for (const workers of ['1', '2']) {
    const service = await begin('--workers', workers, '--shutdown-timeout', '1s');
    const deaf = await opened(service.port);
    deaf.on('error', () => {});
    deaf.pause();
    // more than the system's buffers take
    const request = 'GET /rest/map_data_points/?page_size=1000 HTTP/1.1\r\nHost: a\r\n\r\n';
    deaf.write(request.repeat(200));
    const slow = await opened(service.port);
    slow.on('error', () => {});
    slow.write('GET / HTTP/1.1\r\nHo');
    // both have arrived once a later one is answered
    assert.is((await service.get('/health/live')).status, 200);
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0);
    assert.ok(took > 900 && took < 9_000, `${took} ms with ${workers} workers`);
    for (const socket of [deaf, slow]) socket.destroy();
  }
});

test('a second signal changes nothing', async () => {
  const service = await begin();
  process.kill(service.pid, 'SIGTERM');
  process.kill(service.pid, 'SIGINT');
  assert.equal([(await end(service, 'SIGTERM'))[0]], [0]);
});

test('a signal while a new file is waited for or built ends it just as well', async () => {
  for (const settle of ['60s', '0']) {
    const service = await begin('--settle', settle, '--admin-token', 'secret');
    replaceFile(path, markedLines(settle === '0' ? 20_000 : 2));
    const asked = service
      .get('/admin/reload?wait', { method: 'POST', headers: { Authorization: 'Bearer secret' } })
      .catch(() => undefined);
    assert.is((await service.get('/health/live')).status, 200);
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0, `settle ${settle}`);
    assert.ok(took < 9_000, `${took} ms`);
    await asked;
    replaceFile(path, markedLines(1));
  }
});

test.after(async () => {
  await Promise.all(running.map((service) => service.stop()));
});

test.run();
