import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import {
  canSetHead,
  descriptorOf,
  queuedBytes,
  responseOf,
  setHead,
  stopParsing,
} from '../src/http/answer/node-internals.js';
import { assert, test } from './support/uvu.js';
import { until } from './support/wait.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Both ends of a connection; `onRequest` takes its requests. */
async function withConnection(
  onRequest: (response: ServerResponse) => void,
  use: (client: Socket, socket: Socket) => Promise<void>,
): Promise<void> {
  const server = createServer((_, response) => onRequest(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = await connected;
  await use(client, socket);
  client.destroy();
  server.close();
}

test('a connection has the response whose turn it is, and none before and afterwards', async () => {
  const responses: ServerResponse[] = [];
  await withConnection(
    (response) => responses.push(response),
    async (client, socket) => {
      assert.is(responseOf(socket), undefined);
      client.write(REQUEST.repeat(2));
      await until('both requests are there', () => responses.length === 2);
      for (const response of responses) {
        assert.ok(responseOf(socket) === response);
        response.end();
        await once(response, 'finish');
      }
      assert.is(responseOf(socket), undefined);
    },
  );
});

test('a parser that is stopped takes no more requests of a packet', async () => {
  let asked = 0;
  await withConnection(
    ({ socket }) => {
      asked++;
      stopParsing(socket!);
      socket!.destroy();
    },
    async (client) => {
      client.resume().write(REQUEST.repeat(100));
      await once(client, 'close');
    },
  );
  assert.is(asked, 1);
});

test('bytes that the system has not taken are queued', () =>
  withConnection(
    (response) => response.end(Buffer.alloc(64 * 1024 * 1024)),
    async (client, socket) => {
      client.pause().write(REQUEST);
      await until('the system takes no more', () => queuedBytes(socket) > 1024 * 1024);
      client.resume();
      await until('all has been taken', () => queuedBytes(socket) === 0);
    },
  ));

test('a head is sent as it is set', () =>
  withConnection(
    (response) => {
      assert.ok(canSetHead());
      setHead(response, 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX: y\r\n\r\n');
      assert.ok(response.headersSent);
      response.end('ab');
    },
    async (client) => {
      client.write(REQUEST);
      const [bytes] = await once(client, 'data');
      assert.is(String(bytes), 'HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX: y\r\n\r\nab');
    },
  ));

test('a listening socket has a descriptor', async () => {
  const server = new Server().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const descriptor = descriptorOf(server);
  assert.ok(fstatSync(descriptor).isSocket());
  server.close();
  await once(server, 'close');
  assert.throws(() => fstatSync(descriptor), /EBADF/);
});

test.run();
