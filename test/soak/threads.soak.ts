import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { memoryOf } from '../../bench/support/proc.js';
import { type Asked, ask, type Envelope, type Reply } from '../support/client.js';
import { startLoad } from '../support/load.js';
import { countOf, markedLines, markedNative, replaceFile } from '../support/marked.js';
import { putTogether, takeApart } from '../support/native.js';
import { metricsOf } from '../support/operating.js';
import { LATE_THREAD, logged, startService } from '../support/service.js';
import { dial, type Line } from '../support/sockets.js';
import { assert, makeFile, pluck, test, until } from '../support/uvu.js';

const WORKERS = 3;
const SOCKET_THAT_IS_NONE = '9999';
const RELOAD = { method: 'POST', headers: { Authorization: 'Bearer secret' } };
let mark = 1;
const path = makeFile(markedLines(mark));
/** Open connections, at least one to each thread. */
let lines: Agent[] = [];

const flags = ['--snapshot', path, '--workers', String(WORKERS), '--settle', '30ms'];
flags.push('--admin-token', 'secret');
const service = await startService(flags, { NODE_ENV: 'production' });

/** Asks over all open connections at once. */
function askAll(target: string, asked: Asked = {}): Promise<Reply[]> {
  return Promise.all(lines.map((agent) => ask(service.port, target, { ...asked, agent })));
}

/** Opens connections until every thread has one. */
async function reachAll(): Promise<void> {
  for (const agent of lines) agent.destroy();
  lines = [];
  await until('every thread has a connection', async () => {
    const more = Array.from({ length: 10 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    lines.push(...more);
    assert.ok(lines.length < 500);
    await askAll('/health/live');
    const { samples } = await metricsOf(service);
    const open = samples.filter((one) => one.name === 'waypost_connections');
    return open.length === WORKERS && open.every(({ value }) => value > 0);
  });
}

async function countsOfAll(): Promise<Set<number>> {
  const replies = await askAll('/rest/map_data_points/?page_size=1');
  return new Set(replies.map((reply) => reply.json<Envelope>().count));
}

async function allServe(points: number): Promise<void> {
  await until(`all serve ${points} points`, async () => {
    const counts = await countsOfAll();
    return counts.size === 1 && counts.has(points);
  });
}

test('all threads answer, and each reports for all', async () => {
  await reachAll();
  await allServe(countOf(mark));
  const [begun] = logged(service, 'serving');
  assert.equal([begun!['workers'], begun!['points']], [WORKERS, countOf(mark)]);
  const name = 'waypost_http_request_duration_seconds_count';
  const before = (await metricsOf(service)).value(name, { route: 'points' });
  await askAll('/rest/map_data_points/?page_size=2');
  const texts = await askAll('/metrics');
  for (const { text } of texts) {
    assert.match(text, new RegExp(`^${name}{route="points"} ${before + lines.length}$`, 'm'));
    assert.match(text, new RegExp(`^waypost_points ${countOf(mark)}$`, 'm'));
    assert.match(text, /^waypost_reloads_total{outcome="loaded"} 1$/m);
  }
  const { value } = await metricsOf(service);
  const open = ['0', '1', '2'].map((thread) => value('waypost_connections', { thread }));
  assert.ok(open.reduce((sum, one) => sum + one) >= lines.length, `${open}`);
});

test('all threads switch to a new snapshot, by event, by signal and by request', async () => {
  replaceFile(path, markedLines(++mark));
  await allServe(countOf(mark));
  replaceFile(path, markedLines(++mark));
  process.kill(service.pid, 'SIGHUP');
  await allServe(countOf(mark));
  replaceFile(path, markedLines(++mark));
  const replies = await askAll('/admin/reload?wait', RELOAD);
  for (const { status, json } of replies) {
    assert.equal([status, json<{ points: number }>().points], [200, countOf(mark)]);
  }
  assert.equal([...(await countsOfAll())], [countOf(mark)], 'all had switched before it answered');
});

test('after a bad file every thread reports stale data', async () => {
  const stale = async (): Promise<boolean[]> =>
    (await askAll('/health/ready')).map((reply) => reply.json<{ stale: boolean }>().stale);
  replaceFile(path, 'garbage\n');
  await until('all are stale', async () => (await stale()).every((one) => one));
  assert.is((await metricsOf(service)).value('waypost_stale'), 1);
  replaceFile(path, markedLines(++mark));
  await until('none is stale', async () => !(await stale()).some((one) => one));
  assert.is((await metricsOf(service)).value('waypost_stale'), 0);
  assert.equal([...(await countsOfAll())], [countOf(mark)]);
});

const hasProc = existsSync('/proc/self/status');
(hasProc ? test : test.skip)('all threads give back the memory of old snapshots', async () => {
  // read from /proc: requests would allocate, and so start garbage collections
  const megabytes = (): number => memoryOf(service.pid)!.rss / 2 ** 20;
  const points = 100_000;
  // native files load in a tenth of the time; these two differ only in their headers
  const one = markedNative(++mark, points);
  const pieces = takeApart(one);
  Object.assign(pieces[0]!, { origin: 'another' });
  Object.assign(pieces.at(-1)!, { crc: undefined });
  const large = [one, putTogether(pieces)];
  let reloads = 0;
  const reload = async (): Promise<void> => {
    replaceFile(path, large[reloads++ % 2]!);
    const reply = await service.get('/admin/reload?accept&wait', RELOAD);
    assert.is(reply.json<{ points: number }>().points, points);
  };
  await reload();
  const before = megabytes();
  for (let i = 0; i < 6; i++) await reload();
  // each snapshot takes some 33 MB
  await until(`from ${before} MB on it hardly grows`, () => megabytes() < before + 100);
  replaceFile(path, markedLines(++mark));
  assert.is((await service.get('/admin/reload?accept&wait', RELOAD)).status, 200);
  await allServe(countOf(mark));
});

test('a process killed under load is replaced at once, on the same port', async () => {
  const { port } = service;
  const load = await startLoad({ port, connections: 9, fresh: true, marked: true });
  await until('load', () => load.result.answered > 100);
  const serving = (): unknown[] => pluck(logged(service, 'serving'), 'pid');
  const [victim] = serving();
  process.kill(victim as number, 'SIGKILL');
  await until('another serves', () => {
    // a signal must not end the process that is being started
    process.kill(service.pid, 'SIGHUP');
    return serving().length === 2;
  });
  const { answered } = load.result;
  await until('it answers', () => load.result.answered > answered + 100);
  assert.is.not(serving()[1], victim);
  const died = logged(service, 'process died');
  assert.equal([died.length, died[0]?.['child'], died[0]?.['signal']], [1, victim, 'SIGKILL']);
  const { failures } = await load.end();
  for (const failure of failures) {
    assert.match(failure, /ECONNRESET|ECONNREFUSED|socket hang up|EPIPE|aborted/);
  }
  await reachAll();
  await allServe(countOf(mark));
});

test('a thread that cannot serve is reported', async () => {
  const child = fork(LATE_THREAD, [SOCKET_THAT_IS_NONE]);
  const told: unknown[] = [];
  child.on('message', (message) => told.push(message));
  await once(child, 'exit');
  assert.match(String(told), /died: .*(?:EBADF|EINVAL)/);
});

test('connections beyond the limit are closed, whichever threads have the others', async () => {
  const flags = ['--workers', '2', '--max-connections', '8'];
  const limited = await startService(['--snapshot', path, ...flags]);
  const lines = Array.from({ length: 20 }, () => dial(limited.port));
  const open = (): Line[] => lines.filter(({ isClosed }) => !isClosed);
  await until('they are closed', () => open().length <= 8);
  assert.ok(open().length >= 7, `${open().length} of 8, one of which two threads may have refused`);
  for (const { socket } of open()) socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
  await until('the others are answered', () => open().every(({ answer }) => answer !== ''));
  assert.ok(open().length >= 7);
  for (const { answer } of open()) assert.match(answer, /^HTTP\/1.1 200 /);
  for (const { socket } of lines) socket.destroy();
  await until('there is room again', async () => {
    return (await limited.get('/health/live').catch(() => undefined))?.status === 200;
  });
});

test.after(() => {
  for (const agent of lines) agent.destroy();
});

test.run();
