import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { processTree } from '../../bench/support/proc.js';
import { type Asking, bodyOf, statusOf } from '../support/client.js';
import { metricsOf } from '../support/operating.js';
import { SNAPSHOT, startService, startUnheard } from '../support/service.js';
import { answersOf, dial, hangUp, type Line } from '../support/sockets.js';
import { ascending, assert, test, until } from '../support/uvu.js';

const LIST = '/rest/map_data_points/?page_size=1';

/** Starts a service whose log goes to `stdout`, which nobody reads. */
function start(stdout: 'pipe' | number, ...flags: string[]): ReturnType<typeof startUnheard> {
  return startUnheard(['--snapshot', SNAPSHOT, ...flags], stdout);
}

async function dropped(service: Asking): Promise<number> {
  return (await metricsOf(service)).value('waypost_log_lines_dropped_total');
}

const hasFull = existsSync('/dev/full');

(hasFull ? test : test.skip)('a log on a full disk loses lines, and nothing else', async () => {
  const full = openSync('/dev/full', 'w');
  const service = await start(full, '--workers', '2', '--access-log', '100');
  closeSync(full);
  const before = await dropped(service);
  assert.ok(before >= 1, 'that it serves');
  for (let i = 0; i < 5; i++) assert.is((await service.get(LIST)).status, 200);
  assert.is(await dropped(service), before + 5);
  // the supervisor's own lines are lost, too
  const startOf = async (): Promise<number> =>
    (await metricsOf(service)).value('process_start_time_seconds');
  const began = await startOf();
  const [, serving] = processTree(service.child.pid!);
  process.kill(serving!, 'SIGKILL');
  await until('another serves', async () => (await startOf().catch(() => 0)) > began);
  service.child.kill('SIGTERM');
  assert.equal(await once(service.child, 'exit'), [0, null]);
});

test('a log whose reader pauses delays no request, and goes on when it reads', async () => {
  const service = await start('pipe', '--workers', '2', '--access-log', '100');
  const long = `${LIST}&a=${'x'.repeat(15_000)}`;
  for (let i = 0; i < 150; i++) assert.is((await service.get(long)).status, 200);
  const lost = await dropped(service);
  assert.ok(lost > 0 && lost < 150, `${lost} of 150 dropped`);
  const requests: unknown[] = [];
  createInterface({ input: service.child.stdout! }).on('line', (line) => {
    const { msg } = JSON.parse(line) as { msg: string };
    if (msg === 'request') requests.push(msg);
  });
  await until('what was kept is read', () => requests.length === 150 - lost);
  await service.get(LIST);
  await until('new lines follow', () => requests.length === 151 - lost);
  assert.is(await dropped(service), lost);
});

test('a process that ends writes its last lines, but waits for no reader', async () => {
  const { child } = await start('pipe');
  const lines: string[] = [];
  child.kill('SIGTERM');
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
  assert.equal(await once(child, 'close'), [0, null]);
  assert.match(lines.at(-1)!, /"msg":"closed"/);
  const deaf = await start('pipe', '--access-log', '100');
  const long = `${LIST}&a=${'x'.repeat(15_000)}`;
  for (let i = 0; i < 20; i++) await deaf.get(long);
  deaf.child.kill('SIGTERM');
  assert.equal(await once(deaf.child, 'exit'), [0, null]);
});

test('a log without a reader does not end the service', async () => {
  const service = await start('pipe', '--access-log', '100');
  service.child.stdout!.destroy();
  await until('lines are dropped', async () => {
    assert.is((await service.get(LIST)).status, 200);
    return (await dropped(service)) > 0;
  });
});

const TIMEOUT_MS = 2_000;
const LARGE_LIST = '/rest/map_data_points/?page_size=100';
const LARGEST = 'GET /rest/map_data_points/?page_size=1000 HTTP/1.1\r\nHost: a\r\n\r\n';
const service = await startService(['--request-timeout', `${TIMEOUT_MS}ms`]);
const open = (): Line => dial(service.port);

/** The median time of an ordinary client's answers, in milliseconds. */
async function median(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 21; i++) {
    const began = performance.now();
    const { status } = await service.get(`${LARGE_LIST}&page=${i + 1}`);
    assert.is(status, 200);
    times.push(performance.now() - began);
  }
  return ascending(times)[10]!;
}

function isError(answer: string, status: number): void {
  assert.is(statusOf(answer), status, answer.slice(0, 200));
  assert.type((JSON.parse(bodyOf(answer)) as { detail: unknown }).detail, 'string');
  assert.match(answer, /\r\nContent-Type: application\/json\r\n/i);
}

test('200 clients that send a byte a second get 408, and delay nobody', async () => {
  const clients = Array.from({ length: 200 }, open);
  const head = `GET ${LARGE_LIST} HTTP/1.1\r\nHost: a\r\nX-Slow: ${'x'.repeat(100)}\r\n\r\n`;
  let sent = 0;
  const drip = (): void => {
    for (const { socket, isClosed } of clients) if (!isClosed) socket.write(head[sent]!);
    sent++;
  };
  drip();
  const timer = setInterval(drip, 1_000);
  try {
    assert.ok((await median()) < TIMEOUT_MS);
    await until('all are hung up on', () => clients.every(({ isClosed }) => isClosed));
    for (const { answer } of clients) isError(answer, 408);
    assert.ok((await median()) < TIMEOUT_MS);
  } finally {
    clearInterval(timer);
  }
});

test('thousands of idle connections cost the others nothing', async () => {
  // each connection takes descriptors in both processes; 500 are left for other files
  const { soft } = openFileLimit();
  const wanted = Math.min(10_000, soft - 500);
  const clients: Line[] = [];
  for (let opened = 0; opened < wanted; ) {
    const batch = Array.from({ length: Math.min(500, wanted - opened) }, open);
    // one request each: connections that never send one are closed early
    for (const { socket } of batch) socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('they are answered', () => batch.every(({ answer }) => answer !== ''));
    clients.push(...batch);
    opened += batch.length;
  }
  const left = 10_000 - wanted;
  if (left > 0) console.log(`skipped: ${left} connections: the open-file limit is ${soft}`);
  assert.ok((await median()) < TIMEOUT_MS);
  assert.is(clients.filter(({ isClosed }) => isClosed).length, 0, 'they may stay');
  for (const { socket } of clients) socket.destroy();
  assert.ok((await median()) < TIMEOUT_MS);
});

function openFileLimit(): { soft: number } {
  const report = process.report.getReport() as unknown as {
    userLimits?: Record<string, { soft: string | number }>;
  };
  const soft = report.userLimits?.['open_files']?.soft;
  return { soft: soft === undefined || soft === 'unlimited' ? 10_500 : Number(soft) };
}

test('the longest polygon fits into a request', async () => {
  const places = Array.from({ length: 1_000 }, (_, i) => {
    const angle = (i * Math.PI) / 500;
    const place = [-150 + 29 * Math.cos(angle), -40 + 29 * Math.sin(angle)];
    return place.map((degrees) => degrees.toFixed(6)).join(',');
  });
  for (const polygon of [places.join(';'), encodeURIComponent(places.join(';'))]) {
    const { status, text } = await service.get(`${LARGE_LIST}&polygon=${polygon}`);
    assert.is(status, 200, text.slice(0, 300));
  }
});

test('clients that do not read their answers delay nobody', async () => {
  const clients = Array.from({ length: 50 }, open);
  for (const { socket } of clients) {
    socket.pause();
    socket.write(LARGEST.repeat(40));
  }
  assert.ok((await median()) < TIMEOUT_MS);
  // a client that reads again gets all answers, in order
  const [patient] = clients;
  patient!.socket.resume();
  await until('it has read all', () => answersOf(patient!) === 40);
  for (const { socket } of clients) socket.destroy();
  assert.ok((await median()) < TIMEOUT_MS);
});

test('clients that hang up in the middle leave nothing behind', async () => {
  for (let i = 0; i < 300; i++) {
    const { socket } = open();
    socket.write(i % 2 === 0 ? LARGEST : 'GET /re');
    socket.once('connect', () => setImmediate(() => socket.resetAndDestroy()));
  }
  await until('their connections are closed', async () => {
    return (await metricsOf(service)).value('process_open_fds') < 100;
  });
});

test.after.each(hangUp);

test.after(async () => {
  const errors = service.logs.filter(({ level }) => (level as number) >= 50);
  await service.stop();
  if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
});

test.run();
