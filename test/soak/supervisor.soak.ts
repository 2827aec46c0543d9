import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readlinkSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { processTree } from '../../bench/support/proc.js';
import { descriptorOf } from '../../src/http/answer/node-internals.js';
import { ask, LIST } from '../support/client.js';
import { faultEnvironment, killThread, occupyThread } from '../support/faults.js';
import { closeLater } from '../support/folder.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import {
  isRunning,
  LATE_THREAD,
  logged,
  MAIN,
  type Service,
  startService,
} from '../support/service.js';
import { assert, makeFile, makeFolder, test, until } from '../support/uvu.js';

const hasProc = existsSync('/proc/self/fd');
const path = makeFile(markedLines(1));

test('a process that dies repeatedly is restarted each time, until a signal', async () => {
  const fragile = makeFile(markedLines(1));
  const service = await startService(['--snapshot', fragile, '--workers', '2']);
  const named = (name: string) => logged(service, name);
  replaceFile(fragile, 'garbage\n');
  process.kill(named('serving')[0]!['pid'] as number, 'SIGKILL');
  await until('it died three times', () => named('process died').length >= 3);
  const ends = named('process died').map(({ code, signal }) => signal ?? code);
  assert.equal(ends.slice(0, 3), ['SIGKILL', 1, 1]);
  replaceFile(fragile, markedLines(2));
  await until('it serves', () => named('serving').length === 2);
  assert.is(named('serving')[1]!['points'], countOf(2));
  process.kill(service.pid, 'SIGTERM');
  assert.is(await service.ended, 0);
});

/** Starts a service of two threads, without waiting for it; stopped after the file. */
function launch(node: string, port: number) {
  const args = [MAIN, 'serve', '--snapshot', path, '--port', String(port), '--workers', '2'];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  closeLater(async () => {
    child.kill('SIGTERM');
    assert.equal(await ended, [0, null]);
  });
  const logs: Readonly<Record<string, unknown>>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => logs.push(JSON.parse(line)));
  return { child, named: (name: string) => logged({ logs }, name) };
}

test('a process that cannot be started for a while is tried again', async () => {
  // a copy of Node, which can be removed
  const node = join(makeFolder(), 'node');
  copyFileSync(process.execPath, node);
  const { child, named } = launch(node, 0);
  await until('it serves', () => named('serving').length === 1);
  renameSync(node, `${node}.away`);
  process.kill(named('serving')[0]!['pid'] as number, 'SIGKILL');
  await until('it cannot be started', () => {
    assert.is(child.exitCode, null, 'the supervisor ended');
    return named('process not started').length === 2;
  });
  renameSync(`${node}.away`, node);
  await until('it serves again', () => named('serving').length === 2);
});

(hasProc ? test : test.skip)('a signal before it serves ends both processes', async () => {
  const large = makeFile(markedLines(1, 200_000));
  const args = [MAIN, 'serve', '--snapshot', large, '--port', '0', '--workers', '2'];
  for (const moment of ['it starts', 'it loads'] as const) {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(child, 'exit');
    let below: number | undefined;
    await until(moment, () => {
      below ??= processTree(child.pid!)[1];
      return below && (moment === 'it starts' || openFiles(below).includes(large));
    });
    child.kill('SIGTERM');
    assert.equal(await ended, [0, null], moment);
    await until('the other is gone', () => !isRunning(below!));
  }
});

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
}

test('a process whose supervisor was killed ends by itself', async () => {
  const orphaned = await startService(['--snapshot', path, '--workers', '2']);
  const pid = logged(orphaned, 'serving')[0]!['pid'] as number;
  assert.is.not(pid, orphaned.pid);
  process.kill(orphaned.pid, 'SIGKILL');
  await orphaned.ended;
  await until('it is gone', () => !isRunning(pid));
});

const releases: (() => void)[] = [];

/** Starts a service of two threads that obeys the orders in a folder. */
function begin(folder: string): Promise<Service> {
  return startService(['--workers', '2'], faultEnvironment(folder));
}

/** Keeps a thread busy until the returned function is called, or the file ends. */
async function occupy(...asked: Parameters<typeof occupyThread>): Promise<() => void> {
  const release = await occupyThread(...asked);
  releases.push(release);
  return release;
}

test('a thread that dies ends its process, which is replaced', async () => {
  const folder = makeFolder();
  const service = await begin(folder);
  killThread(folder, 'thread-1');
  await until('another serves', () => logged(service, 'serving').length === 2);
  const [died] = logged(service, 'a thread died');
  assert.match(JSON.stringify(died?.['err']), /a fault that a test asked for/);
  const [victim] = logged(service, 'serving');
  const [replaced] = logged(service, 'process died');
  assert.equal([replaced?.['child'], replaced?.['code']], [victim!['pid'], 1]);
  assert.is.not(replaced?.['pid'], victim!['pid']);
  assert.is((await service.get('/health/ready')).status, 200);
});

test('a busy thread is waited for, and counted', async () => {
  const folder = makeFolder();
  const occupied = occupy(folder, 'thread-1');
  const socket = createServer().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const child = fork(LATE_THREAD, ['4'], {
    env: { ...process.env, ...faultEnvironment(folder) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', descriptorOf(socket)],
  });
  socket.close();
  const told: unknown[] = [];
  child.on('message', (message) => told.push(message));
  const ended = once(child, 'exit');
  await until('the thread is behind', () => told.includes('behind: 1'));
  (await occupied)();
  assert.equal(await ended, [0, null]);
  assert.equal(told, ['behind: 1', 'behind: 0']);
});

test('while the main thread hangs, the others report what they know', async () => {
  const folder = makeFolder();
  const service = await begin(folder);
  await until('both threads serve', async () => {
    const { text } = await service.get('/metrics');
    return /^waypost_connections\{thread="1"\}/m.test(text);
  });
  const release = await occupy(folder, 'main');
  // connections of the main thread get no answer
  let text = '';
  await until('the other answers', async () => {
    const asked = ask(service.port, '/metrics', { patienceMs: 4_000 });
    ({ text } = await asked.catch(() => ({ text: '' })));
    return text !== '' && !/^waypost_points /m.test(text);
  });
  assert.match(text, /^waypost_connections\{thread="1"\} [1-9]/m);
  release();
  await until('all is told again', async () =>
    /^waypost_points 3000$/m.test((await service.get('/metrics')).text),
  );
});

test('the replacement of a supervisor that was killed waits for the port', async () => {
  const folder = makeFolder();
  const first = await begin(folder);
  // a busy thread does not notice that its parent is gone
  const release = await occupy(folder, 'main');
  const second = launch(process.execPath, first.port);
  await until('it waits', () => second.named('waiting for the port').length === 1);
  process.kill(first.pid, 'SIGKILL');
  await until('the orphaned process still answers', async () => {
    const asked = ask(first.port, `${LIST}?page_size=1`, { patienceMs: 1_000 });
    const reply = await asked.catch(() => undefined);
    if (reply !== undefined) assert.is(reply.status, 200);
    return reply;
  });
  assert.equal(second.named('serving'), []);
  release();
  await until('it serves', () => second.named('serving').length === 1);
  const [waited] = second.named('waiting for the port');
  assert.equal([waited?.['port'], waited?.['seconds']], [first.port, 15]);
  assert.is((await ask(first.port, '/health/ready')).status, 200);
});

test.after(() => {
  for (const release of releases) release();
});

test.run();
