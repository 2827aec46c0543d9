import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedArray } from '../../src/index/shared-array.js';
import { drain } from '../../src/serving/connections.js';
import { startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS } from '../support/service.js';
import type { ClientStart } from '../support/starved-client.js';

const NOTICE_MS = 50;
/** Longer than any of these tests takes. */
const TIMEOUT_MS = 20_000;
/** More than the buffers of a connection take. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

/** A server on a port of its own, with its open connections, that is drained. */
interface Drained {
  readonly server: Server;
  readonly port: number;
  drain(): Promise<void>;
}

async function start(answer: RequestListener): Promise<Drained> {
  const connections = new Set<Socket>();
  let isClosing = false;
  const server = createServer((request, response) => {
    if (isClosing) response.setHeader('Connection', 'close');
    answer(request, response);
  });
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    drain() {
      isClosing = true;
      return drain(server, [], connections, TIMEOUT_MS, NOTICE_MS);
    },
  };
}

test('a request that came while this thread stood still is answered, however late it is read', async () => {
  const { port, drain: end } = await start((_request, response) => response.end('here'));
  const sent = sharedArray(Int32Array, 1);
  const workerData: ClientStart = { port, sent };
  const client = new Worker(new URL('../support/starved-client.js', import.meta.url), {
    workerData,
  });
  await once(client, 'message');
  const ended = end();
  client.postMessage('send');
  // from here on nothing is read until the notice is over
  Atomics.wait(sent, 0, 0, TIMEOUT_MS);
  Atomics.wait(sent, 0, 1, 2 * NOTICE_MS);
  const [answer] = await once(client, 'message');
  assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\nConnection: close\r\n[\s\S]*here$/);
  await ended;
});

test('an answer that was begun is sent to its end, however slowly it is taken', async () => {
  const { port, drain: end } = await start((_request, response) => response.end(LARGE));
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(client, 'readable');
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  const ended = end();
  // closed with all that are idle
  await once(idle, 'close');
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(client, 'close');
  assert.ok(bytes > LARGE.length, `${bytes} bytes`);
  await ended;
});

test('a service that leaves is not ready for a while, and answers', async () => {
  const flags = ['--snapshot', FIXTURE_POINTS, '--drain-delay', '1s'];
  const { get, port, stop } = await startOwnService(flags);
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
