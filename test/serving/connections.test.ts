import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { CutCounts } from '../../src/http/limits.js';
import { sharedArray } from '../../src/model/memory.js';
import { type Connections, drain, holdConnections } from '../../src/serving/connections.js';
import { startOwnService } from '../support/own-service.js';
import { answersOf, dial, hangUp, type Line, listen } from '../support/sockets.js';
import type { ClientStart } from '../support/starved-client.js';
import { assert, failure, test, until } from '../support/uvu.js';

const LIMIT = 12;
const IDLE_MS = 250;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
let port: number;
let open: Connections;
let counts: Int32Array;
let cut: CutCounts;

async function serve(answer: RequestListener, idleMs = IDLE_MS, limit = LIMIT): Promise<void> {
  const server = createServer(answer);
  counts = sharedArray(Int32Array, 2);
  cut = new CutCounts();
  open = holdConnections(server, limit, counts, 0, cut, idleMs);
  port = await listen(server);
}

const join = (): Line => dial(port);

/** Opens connections that send one request and stay idle. */
async function fill(): Promise<Line[]> {
  const all = Array.from({ length: LIMIT }, join);
  for (const { socket } of all) socket.write(REQUEST);
  await until('they are answered', () => all.every((one) => answersOf(one) === 1));
  return all;
}

/** Tries until a new connection is served, calling `also` before each try. */
async function getIn(also: () => void): Promise<void> {
  let last: Line | undefined;
  await until('a new client is served', () => {
    also();
    if (last?.isClosed !== false) {
      last = join();
      last.socket.write(REQUEST);
    }
    return answersOf(last) === 1;
  });
}

test('at the limit a new client takes the place of an idle one, not of an active one', async () => {
  await serve((_request, response) => response.end());
  const [active, ...idle] = await fill();
  for (let i = 0; i < LIMIT; i++) await getIn(() => active!.socket.write(REQUEST));
  await until('all others gave way', () => idle.every(({ isClosed }) => isClosed));
  assert.is(active!.isClosed, false);
  await until('the count is right', () => counts[0] === open.size && open.size <= LIMIT);
  assert.ok(cut.idle >= LIMIT - 1, `${cut.idle} gave way`);
});

test('a client that waits for its answer stays', async () => {
  const held: (() => void)[] = [];
  await serve((request, response) => {
    if (request.url === '/slow') held.push(() => response.end());
    else response.end();
  });
  const [waiting, ...idle] = await fill();
  waiting!.socket.write(REQUEST.replace('/', '/slow'));
  await until('the request is there', () => held.length === 1);
  // all idle connections are closed first
  for (let i = 0; i < 2 * LIMIT; i++) await getIn(() => {});
  assert.ok(idle.every(({ isClosed }) => isClosed));
  assert.is(waiting!.isClosed, false);
  held[0]!();
  await until('it is answered', () => answersOf(waiting!) === 2);
});

test('clients that wait for their answers stay, and do not hide the idle ones', async () => {
  const held: (() => void)[] = [];
  const waiting = 100;
  await serve((_request, response) => held.push(() => response.end()), 1, waiting + LIMIT);
  const all = Array.from({ length: waiting }, join);
  for (const { socket } of all) socket.write(REQUEST);
  await until('all requests are there', () => held.length === waiting);
  const idle = Array.from({ length: LIMIT }, join);
  await until('all are connected', () => open.size === waiting + LIMIT);
  await until('those that say nothing give way', () => {
    join();
    return idle.every(({ isClosed }) => isClosed);
  });
  // a look need not pass all waiting connections at once
  assert.ok(cut.refused <= 2, `${cut.refused} were turned away`);
  assert.ok(all.every(({ isClosed }) => !isClosed));
  for (const answer of held) answer();
  await until('they are answered', () => all.every((one) => answersOf(one) === 1));
});

test('clients that have only just connected stay, and a new one is turned away', async () => {
  await serve((_request, response) => response.end(), 60_000);
  const all = await fill();
  const late = join();
  await until('the new one is closed', () => late.isClosed);
  assert.ok(all.every(({ isClosed }) => !isClosed));
  assert.equal({ ...cut }, { ahead: 0, idle: 0, refused: 1 });
});

test('connections of other threads count towards the limit', async () => {
  await serve((_request, response) => response.end());
  counts[1] = LIMIT;
  const late = join();
  await until('it is closed', () => late.isClosed);
  counts[1] = LIMIT - 1;
  const next = join();
  next.socket.write(REQUEST);
  await until('there is room for one', () => answersOf(next) === 1);
});

test.after.each(hangUp);

const NOTICE_MS = 50;
const TIMEOUT_MS = 20_000;
/** More than a connection's buffers hold. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

/** A server to be drained. */
async function start(answer: RequestListener) {
  let isClosing = false;
  const server = createServer((request, response) => {
    if (isClosing) response.setHeader('Connection', 'close');
    answer(request, response);
  });
  const connections = holdConnections(
    server,
    LIMIT,
    sharedArray(Int32Array, 1),
    0,
    new CutCounts(),
  );
  return {
    port: await listen(server),
    drain(timeoutMs = TIMEOUT_MS): Promise<void> {
      isClosing = true;
      return drain(server, connections, timeoutMs, NOTICE_MS);
    },
  };
}

test('a request that arrived while the thread was blocked is answered after the drain began', async () => {
  const { port, drain: end } = await start((_request, response) => response.end('here'));
  const sent = sharedArray(Int32Array, 1);
  const workerData: ClientStart = { port, sent };
  const client = new Worker(new URL('../support/starved-client.js', import.meta.url), {
    workerData,
  });
  await once(client, 'message');
  const ended = end();
  client.postMessage('send');
  // this thread reads nothing until the notice is over
  Atomics.wait(sent, 0, 0, TIMEOUT_MS);
  Atomics.wait(sent, 0, 1, 2 * NOTICE_MS);
  const [answer] = await once(client, 'message');
  assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n[\s\S]*here$/);
  await ended;
});

test('an answer that was begun is sent to its end, however slowly the client reads', async () => {
  const { port, drain: end } = await start((_request, response) => response.end(LARGE));
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(client, 'readable');
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  const ended = end();
  // draining closes idle connections
  await once(idle, 'close');
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(client, 'close');
  assert.ok(bytes > LARGE.length, `${bytes} bytes`);
  await ended;
});

test('an answer under way when the drain ends is told from a whole one over HTTP/1.0, too', async () => {
  const { port, drain: end } = await start((_request, response) => response.write('begun'));
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.0\r\n\r\n');
  await once(client, 'readable');
  await end(2 * NOTICE_MS);
  assert.is((await failure(text(client))).code, 'ECONNRESET');
});

test('a service that shuts down is not ready, but answers for a while', async () => {
  const { get, port, stop } = await startOwnService(['--drain-delay', '1s']);
  assert.is((await get('/health/ready')).status, 200);
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  const { status, text } = await get('/health/ready');
  assert.is(status, 503);
  assert.match(text, /"status":"leaving"/);
  assert.is((await get('/rest/map_data_points/?page_size=1')).status, 200);
  assert.not.ok(isStopped);
  await stopping;
  const [refused] = await once(connect(port, '127.0.0.1'), 'error');
  assert.is(refused.code, 'ECONNREFUSED');
});

test.run();
