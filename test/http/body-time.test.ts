import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startApp } from '../support/app.js';
import { bodyOf, exchange } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { metricsOf } from '../support/operating.js';
import { startOwnService } from '../support/own-service.js';
import { dial } from '../support/sockets.js';
import { assert, makeFolder, test, until } from '../support/uvu.js';
import { gate } from '../support/wait.js';

const REQUEST_MS = 800;
const UPLOAD_MS = 3_000;
const [patient, service] = await Promise.all([
  startOwnService(['--answer-cache', '0', '--media', makeFolder()]),
  startOwnService([
    ...['--request-timeout', `${REQUEST_MS}ms`, '--upload-timeout', `${UPLOAD_MS}ms`],
  ]),
]);

/** Sends a head without its body; returns the answer, the milliseconds, and its place of all. */
async function stall(
  head: string,
  ended: string[],
): Promise<[last: string, took: number, place: number]> {
  const began = performance.now();
  const answer = await exchange(service.port, `${head}\r\nHost: x\r\n\r\n`);
  const last = answer.slice(answer.lastIndexOf('HTTP/1.1'));
  return [last, performance.now() - began, ended.push(head)];
}

/** Sends a whole body before it reads; returns the first piece of the answer. */
async function sendThenRead(bytes: number, type = 'application/json'): Promise<string> {
  const socket = connect(patient.port, '127.0.0.1').pause();
  const head = `POST /rest/map_data_points/ HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}`;
  socket.write(`${head}\r\nContent-Length: ${bytes}\r\n\r\n`);
  const piece = Buffer.alloc(64 * 1024, ' ');
  let isBroken = false;
  socket.on('error', () => {
    isBroken = true;
  });
  for (let sent = 0; sent < bytes && !isBroken; sent += piece.length) {
    await new Promise((resolve) => socket.write(piece, resolve));
  }
  if (isBroken) return 'broken';
  const answered = once(socket, 'data');
  socket.resume();
  const [answer] = (await answered) as [Buffer];
  socket.destroy();
  return answer.toString();
}

test('a client that reads only after sending a body that is too large finds the answer', async () => {
  assert.match(await sendThenRead(12 * 1024 * 1024), /^HTTP\/1\.1 413 .*too large/s);
  assert.is(await sendThenRead(64 * 1024 * 1024), 'broken', 'not of any length');
  // an image may have 20 MiB
  const form = 'multipart/form-data; boundary=x';
  assert.match(await sendThenRead(32 * 1024 * 1024, form), /^HTTP\/1\.1 413 .*image is too large/s);
  // as nginx and urllib ask for it
  const closing = 'text/plain\r\nConnection: close';
  assert.match(await sendThenRead(12 * 1024 * 1024, closing), /^HTTP\/1\.1 415 /);
});

test('a client that wants its connection closed cannot send its refused body for ever', async () => {
  const line = dial(service.port);
  const head = 'POST /rest/map_data_points/ HTTP/1.0\r\nContent-Type: text/plain';
  line.socket.write(`${head}\r\nContent-Length: 1000000\r\n\r\n`);
  const dripping = setInterval(() => line.socket.write('x'), 20);
  await until('it is closed', () => line.isClosed);
  clearInterval(dripping);
  assert.match(line.answer, /^HTTP\/1\.1 415 .*"detail"/s);
});

test('bodies have --request-timeout, and forms that may hold an image --upload-timeout', async () => {
  const post = 'POST /rest/map_data_points/ HTTP/1.1\r\nContent-Length: 10\r\nContent-Type:';
  const ended: string[] = [];
  const [plain, chunked, form] = await Promise.all([
    stall(`${post} application/json`, ended),
    stall('GET /rest/ HTTP/1.1\r\nTransfer-Encoding: chunked', ended),
    stall(`${post} multipart/form-data; boundary=X`, ended),
  ]);
  for (const [last, took] of [plain, chunked, form]) {
    assert.match(last, /^HTTP\/1\.1 408 /);
    assert.is(bodyOf(last), '{"detail":"The request took too long to arrive."}');
    assert.ok(took >= REQUEST_MS, `${took} ms`);
  }
  assert.ok(form[1] >= UPLOAD_MS, `${form[1]} ms`);
  // compares the order, not times: this process may be late itself
  for (const [, took, place] of [plain, chunked]) assert.ok(place < 3, `${place}, ${took} ms`);
});

const MIB = 1024 * 1024;
const LARGE_PAGE = 'GET /rest/map_data_points/?page_size=1000 HTTP/1.1\r\nHost: a\r\n\r\n';

async function open(): Promise<Socket> {
  const { socket } = dial(patient.port);
  await once(socket, 'connect');
  return socket;
}

async function answered(): Promise<number> {
  const { value } = await metricsOf(patient);
  return value('waypost_http_request_duration_seconds_count', { route: 'points' });
}

test('clients that do not read do not fill the memory', async () => {
  const memory = async (): Promise<number> =>
    (await metricsOf(patient)).value('process_resident_memory_bytes');
  const before = await memory();
  const clients = await Promise.all(Array.from({ length: 40 }, open));
  for (const client of clients) {
    client.pause();
    client.write(LARGE_PAGE.repeat(951));
  }
  let last = -1;
  await until('no more is made for them', async () => {
    const now = await answered();
    const isStill = now === last;
    last = now;
    return isStill && now > 0;
  });
  const { value } = await metricsOf(patient);
  const unsent = value('waypost_unsent_bytes');
  // at most two answers of 280 kB for each of 40 clients, some of which were cut off
  assert.ok(unsent > 0 && unsent < 40 * 0.7 * MIB, `${unsent} bytes not taken`);
  const grown = ((await memory()) - before) / MIB;
  assert.ok(grown < 250, `${grown} MB more`);
});

test('a connection that waits for its answer is kept, and an idle one is closed', async () => {
  const [loaded, asked] = [gate(), gate()];
  const reload = (): Promise<void> => {
    asked.open();
    return loaded.opened;
  };
  const current = { generation: await generationOf([]), posts: { accepted: false } };
  const given = { audience: 'all', adminToken: 'secret', service: { reload } } as const;
  const { port, server, get } = await startApp(current, given);
  server.setTimeout(50);
  const headers = { Authorization: 'Bearer secret' };
  const reply = get('/admin/reload?wait', { method: 'POST', headers });
  await asked.opened;
  // these connect later than the reload, but time out first
  const silent = dial(port);
  const half = dial(port);
  half.socket.write('POST /admin/reload?wait HTTP/1.1\r\nHost: x\r\n');
  await until('the others are cut off', () => silent.isClosed && half.isClosed);
  loaded.open();
  assert.is((await reply).status, 200);
});

test.run();
