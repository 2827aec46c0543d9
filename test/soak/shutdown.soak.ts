import { once } from 'node:events';
import { Agent } from 'node:http';
import { ask, type Reply } from '../support/client.js';
import { startLoad } from '../support/load.js';
import { countOf, markedLines, markedNative, replaceFile, WRITERS } from '../support/marked.js';
import { readyOf } from '../support/operating.js';
import { type Service, startService } from '../support/service.js';
import { dial } from '../support/sockets.js';
import { assert, failure, makeFile, test, until } from '../support/uvu.js';

/** Sends a signal and waits for the exit; returns the exit code and the milliseconds it took. */
async function end(
  service: Service,
  signal: NodeJS.Signals,
): Promise<[code: number | null, took: number]> {
  const began = performance.now();
  process.kill(service.pid, signal);
  const code = await service.ended;
  return [code, performance.now() - began];
}

/** Connections that are kept, and connections that are opened for one request each. */
const KEPT = 6;
const FRESH = 3;

/** Ends a service under load, and asserts that no request was lost. */
async function endUnderLoad(signal: NodeJS.Signals, path: string, workers: string): Promise<void> {
  const service = await startService(['--snapshot', path, '--workers', workers]);
  const { port } = service;
  const kept = await startLoad({ port, connections: KEPT, fresh: false, marked: true });
  const fresh = await startLoad({ port, connections: FRESH, fresh: true, marked: true });
  await until('load', () => kept.result.answered > 100 && fresh.result.answered > 50);

  const [code, took] = await end(service, signal);
  assert.is(code, 0);
  // less than --request-timeout
  assert.ok(took < 9_000, `${took} ms`);
  assert.is((await failure(ask(port, '/', { agent: new Agent() }))).code, 'ECONNREFUSED');
  await until('they notice', () => kept.result.refused > 0 && fresh.result.refused > 0);
  for (const [load, connections] of [
    [kept, KEPT],
    [fresh, FRESH],
  ] as const) {
    const { failures, failed, dropped } = await load.end();
    assert.equal([failures, failed], [[], 0]);
    // dropped from the system's queue, at most once each: the service had not accepted them
    assert.ok(dropped <= connections, `${dropped} of ${connections} dropped`);
  }
  const lines = service.logs.map(({ msg }) => msg);
  assert.equal([lines.includes('closing'), lines.at(-1)], [true, 'closed']);
}

const ROUNDS = 3;
const path = makeFile(markedLines(1));

function begin(...flags: string[]): Promise<Service> {
  return startService(['--snapshot', path, ...flags]);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  for (const workers of ['1', '2']) {
    test(`${ROUNDS} times ${signal} under load, ${workers} workers: all that was accepted is answered`, async () => {
      for (let round = 0; round < ROUNDS; round++) await endUnderLoad(signal, path, workers);
    });
  }
}

test('silent connections, idle ones, and those with hundreds of requests do not delay the exit', async () => {
  for (const workers of ['1', '2']) {
    const service = await begin('--workers', workers);
    const [silent, eager, idle] = [1, 2, 3].map(() => dial(service.port));
    await once(silent!.socket, 'connect');
    // most of these requests wait, and the exit does not wait for them
    eager!.socket.write('GET /rest/map_data_points/ HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(900));
    idle!.socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('both are answered', () => eager!.answer !== '' && idle!.answer !== '');
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0);
    assert.ok(took < 9_000, `${took} ms with ${workers} workers`);
  }
});

test('clients that never read, or never end their request, delay the exit only for the timeout', async () => {
  for (const workers of ['1', '2']) {
    const service = await begin('--workers', workers, '--shutdown-timeout', '1s');
    const [deaf, slow] = [dial(service.port).socket, dial(service.port).socket];
    deaf.pause();
    // more than the system's buffers hold
    const request = 'GET /rest/map_data_points/?page_size=1000 HTTP/1.1\r\nHost: a\r\n\r\n';
    deaf.write(request.repeat(200));
    slow.write('GET / HTTP/1.1\r\nHo');
    await Promise.all([deaf, slow].map((socket) => once(socket, 'connect')));
    // both requests have arrived once this later one is answered
    assert.is((await service.get('/health/live')).status, 200);
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0);
    assert.ok(took > 900 && took < 9_000, `${took} ms with ${workers} workers`);
  }
});

test('a signal before all threads listen leaves no door open', async () => {
  const service = await begin('--workers', '2', '--warm-up', '3s', '--shutdown-timeout', '5s');
  const slow = dial(service.port);
  slow.socket.write('GET / HTTP/1.1\r\nHo');
  await once(slow.socket, 'connect');
  process.kill(service.pid, 'SIGTERM');
  await until('nobody is let in', async () => {
    const asked = ask(service.port, '/', { agent: new Agent() });
    return (await asked.then(String, ({ code }) => code)) === 'ECONNREFUSED';
  });
  // the service waits for this one: what it let in would have waited with it
  assert.not(slow.isClosed);
  slow.socket.destroy();
  assert.is(await service.ended, 0);
});

/** Asks for a reload, which is answered when it is done. */
function reload(service: Service): Promise<Reply> {
  const headers = { Authorization: 'Bearer secret' };
  return service.get('/admin/reload?wait', { method: 'POST', headers });
}

test('a second signal changes nothing', async () => {
  const service = await begin();
  process.kill(service.pid, 'SIGTERM');
  process.kill(service.pid, 'SIGINT');
  const [code] = await end(service, 'SIGTERM');
  assert.is(code, 0);
});

test('a signal also ends a service that waits for a new file or builds it', async () => {
  for (const settle of ['60s', '0']) {
    const service = await begin('--settle', settle, '--admin-token', 'secret');
    replaceFile(path, markedLines(settle === '0' ? 20_000 : 2));
    const asked = reload(service).catch(() => undefined);
    assert.is((await service.get('/health/live')).status, 200);
    const [code, took] = await end(service, 'SIGTERM');
    assert.is(code, 0, `settle ${settle}`);
    assert.ok(took < 9_000, `${took} ms`);
    await asked;
    replaceFile(path, markedLines(1));
  }
});

/** A marked snapshot; every third is native. */
function snapshot(mark: number): Buffer {
  return mark % 3 === 0 ? markedNative(mark) : markedLines(mark);
}

/**
 * A round puts a snapshot in place in every way; in three rounds every way has had every kind.
 * A burst does so faster than snapshots can be loaded.
 */
const [SWAP_ROUNDS, BURSTS] = [3, 3];

test('under load, 30 snapshots are swapped in every way and nobody notices', async () => {
  let mark = 1;
  const path = makeFile(snapshot(mark));
  // --settle is many times as long as any writer pauses
  const flags = ['--snapshot', path, '--settle', '300ms', '--admin-token', 'secret'];
  const service = await startService(flags, { NODE_ENV: 'production' });
  const load = await startLoad({ port: service.port, connections: 6, fresh: false, marked: true });

  const swaps: Record<string, number> = {};
  const swapped = async (way: string): Promise<void> => {
    await until(`${way} to ${mark}`, async () => (await readyOf(service)).points === countOf(mark));
    swaps[way] = (swaps[way] ?? 0) + 1;
  };
  for (let round = 0; round < SWAP_ROUNDS; round++) {
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
    const { status, json } = await reload(service);
    const { points } = json<{ points: number }>();
    assert.equal([status, points], [200, countOf(mark)], 'it answers when it is done');
    await swapped('POST');
  }
  assert.is(Object.keys(swaps).length, 9);
  // the last snapshot of a burst is served in the end
  for (let burst = 0; burst < BURSTS; burst++) {
    for (const [way, write] of Object.entries(WRITERS)) {
      if (way !== 'touch only') await write(path, snapshot(++mark), mark);
    }
    await swapped('burst');
  }
  const total = Object.values(swaps).reduce((sum, count) => sum + count);
  assert.is(total, 9 * SWAP_ROUNDS + BURSTS);

  await until('answers from the last one', () => (load.result.marks[mark] ?? 0) >= 100);
  const { answered, failed, failures, marks, refused, dropped } = await load.end();
  assert.equal([failures, failed, refused, dropped], [[], 0, 0, 0]);
  // the writer that only touches the file adds no new snapshot
  const different = total - SWAP_ROUNDS;
  const seen = Object.keys(marks).length;
  assert.ok(seen > different - 3, `${seen} of ${different} snapshots were seen`);
  assert.ok((marks[mark] ?? 0) >= 100, `answers from the last one: ${marks[mark]}`);
  assert.ok(answered > 90 * total, `${answered} answers`);

  assert.is((await readyOf(service)).stale, false);
  const errors = service.logs.filter((entry) => (entry['level'] as number) > 40);
  // on a slow machine writers may pause for longer than --settle
  assert.ok(errors.length <= 2, JSON.stringify(errors));
  await service.stop();
  assert.is(await service.ended, 0);
});

test.run();
