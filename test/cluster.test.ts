import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startLoad } from './support/load.js';
import { countOf, markedLines, replaceFile } from './support/marked.js';
import { metricsOf, readyOf } from './support/operating.js';
import { makeFolder } from './support/reloading.js';
import { runCommand, type Service, startService } from './support/service.js';
import { until } from './support/wait.js';

const WORKERS = 3;
const CONNECTIONS = 9;
const path = join(makeFolder(), 'points');
let mark = 1;
writeFileSync(path, markedLines(mark));
let service: Service;

test.before(async () => {
  const flags = ['--snapshot', path, '--workers', String(WORKERS), '--settle', '30ms'];
  service = await startService([...flags, '--admin-token', 'secret'], { NODE_ENV: 'production' });
});

async function pids(): Promise<number[]> {
  return (await readyOf(service)).processes.map(({ pid }) => pid);
}

async function allServe(points: number): Promise<void> {
  await until(`all serve ${points} points`, async () => {
    const ready = await readyOf(service).catch(() => undefined);
    const processes = ready?.processes ?? [];
    return processes.length === WORKERS && processes.every((one) => one.points === points);
  });
}

test('it speaks for all processes', async () => {
  const found = await pids();
  assert.is(new Set(found).size, WORKERS);
  assert.not.ok(found.includes(service.pid));
  const begun = service.logs.find(({ msg }) => msg === 'serving')!;
  assert.equal([begun['workers'], begun['points']], [WORKERS, countOf(mark)]);

  const all = await metricsOf(service);
  const before = all.value('waypost_http_request_duration_seconds_count', { route: 'points' });
  for (let i = 0; i < 30; i++) await service.get('/rest/map_data_points/?page_size=1');
  const after = await metricsOf(service);
  const name = 'waypost_http_request_duration_seconds_count';
  assert.is(after.value(name, { route: 'points' }), before + 30, 'whichever process was asked');
  assert.is(after.value('waypost_points'), countOf(mark));
  assert.is(after.value('waypost_reloads_total', { outcome: 'loaded' }), WORKERS);
});

test('all switch to a new snapshot, by event and by hand', async () => {
  replaceFile(path, markedLines(++mark));
  await allServe(countOf(mark));
  replaceFile(path, markedLines(++mark));
  const headers = { Authorization: 'Bearer secret' };
  const reply = await service.get('/admin/reload', { method: 'POST', headers });
  assert.is(reply.status, 200);
  const { processes } = reply.json<{ processes: { points: number }[] }>();
  assert.equal(
    processes.map(({ points }) => points),
    [countOf(mark), countOf(mark), countOf(mark)],
  );
  replaceFile(path, markedLines(++mark));
  process.kill(service.pid, 'SIGHUP');
  await allServe(countOf(mark));
});

test('a bad file is stale in all, and in what is said of them', async () => {
  replaceFile(path, 'garbage\n');
  await until('it is stale', async () => (await readyOf(service)).stale);
  assert.is((await metricsOf(service)).value('waypost_stale'), 1);
  replaceFile(path, markedLines(++mark));
  await allServe(countOf(mark));
  await until('it is fresh', async () => !(await readyOf(service)).stale);
  assert.is((await metricsOf(service)).value('waypost_stale'), 0);
});

test('a process killed under load costs no more than the requests it held', async () => {
  const { port } = service;
  const load = await startLoad({ port, connections: CONNECTIONS, fresh: false, marked: true });
  // connections that are being handed over at that very moment are no exception
  const fresh = await startLoad({ port, connections: CONNECTIONS, fresh: true, marked: true });
  await until('load', () => load.result.answered > 500 && fresh.result.answered > 200);
  const before = await pids();
  const victim = before[0]!;
  process.kill(victim, 'SIGKILL');
  const answered = load.result.answered;
  await until('the others go on', () => load.result.answered > answered + 500);
  await until('it is replaced', async () => {
    const now = await pids().catch((): number[] => []);
    return now.length === WORKERS && !now.includes(victim);
  });
  const after = await pids();
  assert.is(after.filter((pid) => before.includes(pid)).length, WORKERS - 1);
  for (const one of [load, fresh]) {
    const { failures, failed, refused, dropped } = await one.end();
    assert.ok(failed + dropped <= CONNECTIONS, failures.join('\n'));
    for (const failure of failures)
      assert.match(failure, /ECONNRESET|socket hang up|EPIPE|aborted/);
    assert.is(refused, 0);
  }
});

test('connections beyond the limit are closed, and the primary does not spin', async () => {
  const limited = await startService(
    ['--snapshot', path, '--workers', '2', '--max-connections', '4'],
    { NODE_ENV: 'production' },
  );
  try {
    let closed = 0;
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(limited.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => closed++);
      return socket;
    });
    await until('they are closed', () => closed >= 12);
    if (process.platform === 'linux') {
      const ticks = (): number => {
        const fields = readFileSync(`/proc/${limited.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
        return Number(fields[11]) + Number(fields[12]);
      };
      const before = ticks();
      const began = performance.now();
      await until('a while', () => performance.now() - began > 600);
      assert.ok(ticks() - before < 20, `${ticks() - before} of 60 ticks`);
    }
    for (const socket of sockets) socket.destroy();
    await until('there is room again', () =>
      limited.get('/health/live').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  } finally {
    await limited.stop();
  }
});

test('processes whose primary was killed end by themselves', async () => {
  const orphaned = await startService(['--snapshot', path, '--workers', '2']);
  const { processes } = await readyOf(orphaned);
  process.kill(orphaned.pid, 'SIGKILL');
  await orphaned.ended;
  const isThere = (pid: number): boolean => {
    try {
      return process.kill(pid, 0) && !isZombie(pid);
    } catch {
      return false;
    }
  };
  await until('they are gone', () => !processes.some(({ pid }) => isThere(pid)));
});

/** Dead, but nobody has asked for its exit code: where the first process of a container is none. */
function isZombie(pid: number): boolean {
  if (!readdirSync('/').includes('proc')) return false;
  return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

test('without a good snapshot to begin with it exits with 1 and one message', async () => {
  const bad = join(makeFolder(), 'bad');
  writeFileSync(bad, 'garbage\n');
  for (const workers of ['1', '2']) {
    const flags = ['--snapshot', bad, '--port', '0', '--workers', workers];
    const { code, stdout, stderr } = await runCommand(['serve', ...flags]);
    assert.is(code, 1);
    assert.match(stderr, bad);
    assert.is(stderr.trim().split('\n').length, 1, stderr);
    assert.is(stdout, '');
  }
});

test.after(async () => {
  await service.stop();
});

test.run();
