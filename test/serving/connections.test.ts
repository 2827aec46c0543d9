import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CutCounts, createCutCounts } from '../../src/http/limits.js';
import { sharedArray } from '../../src/index/shared-array.js';
import { type Connections, holdConnections } from '../../src/serving/connections.js';
import { until } from '../support/wait.js';

const LIMIT = 12;
const IDLE_MS = 250;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
let server: Server;
let open: Connections;
let counts: Int32Array;
let cut: CutCounts;
let clients: Client[] = [];

/** A connection, and how many answers came over it. */
interface Client {
  readonly socket: Socket;
  answers: number;
  isClosed: boolean;
}

async function listen(answer: RequestListener, idleMs = IDLE_MS, limit = LIMIT): Promise<void> {
  server = createServer(answer);
  counts = sharedArray(Int32Array, 2);
  cut = createCutCounts();
  open = holdConnections(server, limit, counts, 0, cut, idleMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

function join(): Client {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const client: Client = { socket, answers: 0, isClosed: false };
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    client.answers += text.split('HTTP/1.1 200 ').length - 1;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    client.isClosed = true;
  });
  clients.push(client);
  return client;
}

/** Opens connections that ask once and then say nothing. */
async function fill(): Promise<Client[]> {
  const all = Array.from({ length: LIMIT }, join);
  for (const { socket } of all) socket.write(REQUEST);
  await until('they are answered', () => all.every(({ answers }) => answers === 1));
  return all;
}

/** Tries until a new connection is served; meanwhile `also` is done again and again. */
async function getIn(also: () => void): Promise<void> {
  let last: Client | undefined;
  await until('a new client is served', () => {
    also();
    if (last?.isClosed !== false) {
      last = join();
      last.socket.write(REQUEST);
    }
    return last.answers === 1;
  });
}

test('at the limit a new client takes the place of one that says nothing, not of one that asks', async () => {
  await listen((_request, response) => response.end());
  const [active, ...idle] = await fill();
  for (let i = 0; i < LIMIT; i++) await getIn(() => active!.socket.write(REQUEST));
  await until('all others gave way', () => idle.every(({ isClosed }) => isClosed));
  assert.is(active!.isClosed, false);
  await until('the count is right', () => counts[0] === open.size && open.size <= LIMIT);
  assert.ok(cut.idle >= LIMIT - 1, `${cut.idle} gave way`);
});

test('a client that waits for its answer stays', async () => {
  const held: (() => void)[] = [];
  await listen((request, response) => {
    if (request.url === '/slow') held.push(() => response.end());
    else response.end();
  });
  const [waiting, ...idle] = await fill();
  waiting!.socket.write(REQUEST.replace('/', '/slow'));
  await until('the request is there', () => held.length === 1);
  // all others give way before
  for (let i = 0; i < 2 * LIMIT; i++) await getIn(() => {});
  assert.ok(idle.every(({ isClosed }) => isClosed));
  assert.is(waiting!.isClosed, false);
  held[0]!();
  await until('it is answered', () => waiting!.answers === 2);
});

test('many clients that wait for their answers do not hide those that say nothing', async () => {
  const held: (() => void)[] = [];
  const waiting = 100;
  await listen((_request, response) => held.push(() => response.end()), 1, waiting + LIMIT);
  const all = Array.from({ length: waiting }, join);
  for (const { socket } of all) socket.write(REQUEST);
  await until('all requests are there', () => held.length === waiting);
  const idle = Array.from({ length: LIMIT }, join);
  await until('all are connected', () => open.size === waiting + LIMIT);
  await until('those that say nothing give way', () => {
    join();
    return idle.every(({ isClosed }) => isClosed);
  });
  // one look need not reach behind all that wait
  assert.ok(cut.refused <= 2, `${cut.refused} were turned away`);
  assert.ok(all.every(({ isClosed }) => !isClosed));
});

test('clients that have only just come stay, and the new one is turned away', async () => {
  await listen((_request, response) => response.end(), 60_000);
  const all = await fill();
  const late = join();
  await until('the new one is closed', () => late.isClosed);
  assert.ok(all.every(({ isClosed }) => !isClosed));
  assert.equal(cut, { ahead: 0, idle: 0, refused: 1 });
});

/** Another thread has so many connections. */
function haveElsewhere(elsewhere: number): void {
  counts[1] = elsewhere;
}

test('connections of other threads count', async () => {
  await listen((_request, response) => response.end());
  haveElsewhere(LIMIT);
  const late = join();
  await until('it is closed', () => late.isClosed);
  haveElsewhere(LIMIT - 1);
  const next = join();
  next.socket.write(REQUEST);
  await until('there is room for one', () => next.answers === 1);
});

test.after.each(() => {
  for (const { socket } of clients) socket.destroy();
  clients = [];
  server.close();
});

test.run();
