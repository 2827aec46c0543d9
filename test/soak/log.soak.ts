import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ask } from '../support/client.js';
import { metricsOf } from '../support/operating.js';
import { MAIN, type Service, SNAPSHOT } from '../support/service.js';
import { freePort } from '../support/sockets.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const LIST = '/rest/map_data_points/?page_size=1';
const children: ChildProcess[] = [];

/** A service whose log goes to `stdout` and is not read. */
async function start(
  stdout: 'pipe' | number,
  ...flags: string[]
): Promise<{ child: ChildProcess; service: Pick<Service, 'get'> }> {
  const port = await freePort();
  const where = ['--host', '127.0.0.1', '--port', String(port)];
  const given = ['serve', '--snapshot', SNAPSHOT, ...where, ...flags];
  const child = spawn(process.execPath, [MAIN, ...given], {
    env: { ...process.env, WAYPOST_WORKERS: '1' },
    stdio: ['ignore', stdout, 'inherit'],
  });
  children.push(child);
  const service: Pick<Service, 'get'> = { get: (path, asked) => ask(port, path, asked) };
  await until('it serves', () => service.get('/health/live').catch(() => undefined));
  return { child, service };
}

async function dropped(service: Pick<Service, 'get'>): Promise<number> {
  return (await metricsOf(service)).value('waypost_log_lines_dropped_total');
}

const hasFull = existsSync('/dev/full');

(hasFull ? test : test.skip)('a log on a full disk loses lines, and nothing else', async () => {
  const full = openSync('/dev/full', 'w');
  const flags = ['--workers', '2', '--access-log', '100'];
  const { child, service } = await start(full, ...flags);
  closeSync(full);
  const before = await dropped(service);
  assert.ok(before >= 1, 'that it serves');
  for (let i = 0; i < 5; i++) assert.is((await service.get(LIST)).status, 200);
  assert.is(await dropped(service), before + 5);
  // the supervisor has something to say, too
  const { text } = await service.get('/metrics');
  const began = Number(/^process_start_time_seconds (\S+)/m.exec(text)![1]);
  process.kill(await servingProcess(child), 'SIGKILL');
  await until('another serves', async () => {
    const now = (await service.get('/metrics').catch(() => undefined))?.text ?? '';
    return Number(/^process_start_time_seconds (\S+)/m.exec(now)?.[1]) > began;
  });
  child.kill('SIGTERM');
  assert.equal(await once(child, 'exit'), [0, null]);
});

/** The one process below. */
async function servingProcess({ pid }: ChildProcess): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
}

test('a log whose reader stands still keeps nobody waiting, and goes on when it reads', async () => {
  const { child, service } = await start('pipe', '--workers', '2', '--access-log', '100');
  const long = `${LIST}&a=${'x'.repeat(15_000)}`;
  for (let i = 0; i < 150; i++) assert.is((await service.get(long)).status, 200);
  const lost = await dropped(service);
  assert.ok(lost > 0 && lost < 150, `${lost} of 150 dropped`);
  const requests: unknown[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const { msg } = JSON.parse(line) as { msg: string };
    if (msg === 'request') requests.push(msg);
  });
  await until('what was kept is read', () => requests.length === 150 - lost);
  await service.get(LIST);
  await until('new lines follow', () => requests.length === 151 - lost);
  assert.is(await dropped(service), lost);
});

test('a process that ends says its last words, and waits for no reader', async () => {
  const { child } = await start('pipe');
  const lines: string[] = [];
  child.kill('SIGTERM');
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
  assert.equal(await once(child, 'close'), [0, null]);
  assert.match(lines.at(-1)!, /"msg":"closed"/);
  const deaf = await start('pipe', '--access-log', '100');
  const long = `${LIST}&a=${'x'.repeat(15_000)}`;
  for (let i = 0; i < 20; i++) await deaf.service.get(long);
  deaf.child.kill('SIGTERM');
  assert.equal(await once(deaf.child, 'exit'), [0, null]);
});

test('a log whose reader is gone is no reason to end', async () => {
  const { child, service } = await start('pipe', '--access-log', '100');
  child.stdout!.destroy();
  await until('lines are dropped', async () => {
    assert.is((await service.get(LIST)).status, 200);
    return (await dropped(service)) > 0;
  });
});

test.after(() => {
  for (const child of children) child.kill('SIGKILL');
});

test.run();
