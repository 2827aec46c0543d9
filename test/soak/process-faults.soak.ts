import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { faultEnvironment, killThread, occupyThread } from '../support/faults.js';
import { makeFolder } from '../support/folder.js';
import { type Service, startService } from '../support/service.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const services: Service[] = [];
const releases: (() => void)[] = [];

/** A service of two threads that obeys the orders in the folder. */
async function begin(folder: string, ...flags: string[]): Promise<Service> {
  const given = ['--workers', '2', ...flags];
  const service = await startService(given, faultEnvironment(folder));
  services.push(service);
  return service;
}

/** Keeps a thread busy until the test says so, or ends. */
async function occupy(...asked: Parameters<typeof occupyThread>): Promise<() => void> {
  const release = await occupyThread(...asked);
  releases.push(release);
  return release;
}

function linesOf({ logs }: Service, name: string): Readonly<Record<string, unknown>>[] {
  return logs.filter(({ msg }) => msg === name);
}

test('a thread that dies takes its process along, which is replaced', async () => {
  const folder = makeFolder();
  const service = await begin(folder);
  killThread(folder, 'thread-1');
  await until('another serves', () => linesOf(service, 'serving').length === 2);
  const [died] = linesOf(service, 'a thread died');
  assert.match(JSON.stringify(died?.['err']), /a fault that a test asked for/);
  const [victim] = linesOf(service, 'serving');
  const [replaced] = linesOf(service, 'process died');
  assert.equal([replaced?.['child'], replaced?.['code']], [victim!['pid'], 1]);
  assert.is.not(replaced?.['pid'], victim!['pid']);
  assert.is((await service.get('/health/ready')).status, 200);
});

test('a thread that is busy is waited for, and counted', async () => {
  const folder = makeFolder();
  const occupied = occupy(folder, 'thread-1');
  const script = join(import.meta.dirname, '../support/late-thread.js');
  const child = fork(script, { env: { ...process.env, ...faultEnvironment(folder) } });
  const told: unknown[] = [];
  child.on('message', (message) => told.push(message));
  const ended = once(child, 'exit');
  await until('the thread is behind', () => told.includes('behind: 1'));
  (await occupied)();
  assert.equal(await ended, [0, null]);
  assert.equal(told, ['behind: 1', 'behind: 0']);
});

test('while the main thread is stuck, the others tell what they know', async () => {
  const folder = makeFolder();
  const service = await begin(folder);
  await until('both threads serve', async () => {
    const { text } = await service.get('/metrics');
    return /^waypost_connections\{thread="1"\}/m.test(text);
  });
  const release = await occupy(folder, 'main');
  // connections that the main thread had taken get no answer
  let text = '';
  await until('the other answers', async () => {
    const limit = AbortSignal.timeout(4_000);
    const asked = fetch(`http://127.0.0.1:${service.port}/metrics`, { signal: limit });
    text = await asked.then((reply) => reply.text()).catch(() => '');
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
  // so that it does not notice that it is an orphan
  const release = await occupy(folder, 'main');
  const second = startService(['--workers', '2', '--port', String(first.port)], {});
  process.kill(first.pid, 'SIGKILL');
  let isServing = false;
  void second.then((service) => {
    services.push(service);
    isServing = true;
  });
  assert.is(await fetchStatus(first.port), 200, 'the orphaned process still answers');
  assert.is(isServing, false);
  release();
  const service = await second;
  assert.is(service.port, first.port);
  const [waited] = linesOf(service, 'waiting for the port');
  assert.equal([waited?.['port'], waited?.['seconds']], [first.port, 15]);
  assert.is((await service.get('/health/ready')).status, 200);
});

async function fetchStatus(port: number): Promise<number> {
  const target = `http://127.0.0.1:${port}/rest/map_data_points/?page_size=1`;
  let status = 0;
  await until('it answers', async () => {
    const asked = fetch(target, { signal: AbortSignal.timeout(1_000) });
    status = await asked.then((reply) => reply.status).catch(() => 0);
    return status !== 0;
  });
  return status;
}

test.after(async () => {
  for (const release of releases) release();
  await Promise.all(services.map((service) => service.stop()));
});

test.run();
