import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { connect, Server, type Socket } from 'node:net';
import {
  canSetHead,
  descriptorOf,
  queuedBytes,
  responseOf,
  setHead,
  stopParsing,
} from '../src/http/answer/node-internals.js';
import { SharedRoom } from '../src/model/turns.js';
import { listen } from './support/sockets.js';
import { assert, test, until } from './support/uvu.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Runs with both ends of a connection; `onRequest` handles its requests. */
async function withConnection(
  onRequest: (response: ServerResponse) => void,
  use: (client: Socket, socket: Socket) => Promise<void>,
): Promise<void> {
  const server = createServer((_, response) => onRequest(response));
  const port = await listen(server);
  const connected = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  const [socket] = await connected;
  await use(client, socket);
  client.destroy();
}

test('a connection has its current response only while it is being answered', async () => {
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

test('bytes that the system has not accepted are queued', () =>
  withConnection(
    (response) => response.end(Buffer.alloc(64 * 1024 * 1024)),
    async (client, socket) => {
      client.pause().write(REQUEST);
      await until('the system takes no more', () => queuedBytes(socket) > 1024 * 1024);
      client.resume();
      await until('all has been taken', () => queuedBytes(socket) === 0);
    },
  ));

test('a raw head is sent unchanged', () =>
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
  const server = new Server();
  await listen(server);
  const descriptor = descriptorOf(server);
  assert.ok(fstatSync(descriptor).isSocket());
  server.close();
  await once(server, 'close');
  assert.throws(() => fstatSync(descriptor), /EBADF/);
});

/** A room whose guests are told by name when they must leave. */
function open(size: number) {
  const room = new SharedRoom(size);
  const gone: string[] = [];
  const enter = (name: string) => room.enter(name[0]!, () => gone.push(name));
  return { room, gone, enter };
}

test('a single client may use all of a room, and no more', () => {
  const { room, gone, enter } = open(10);
  const first = enter('a1');
  first.grow(6);
  const second = enter('a2');
  second.grow(4);
  assert.equal(gone, []);
  first.grow(1);
  assert.equal([gone, room.taken], [['a1'], 4]);
  // a guest that was told to leave holds nothing any more
  first.grow(5);
  first.leave();
  assert.is(room.taken, 4);
  second.leave();
  assert.is(room.taken, 0);
});

test('in a full room the client with the most bytes makes room, its oldest guest first', () => {
  const { room, gone, enter } = open(10);
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name).grow(2);
  const other = enter('b1');
  other.grow(2);
  assert.equal(gone, []);
  other.grow(2);
  assert.equal([gone, room.taken], [['a1'], 10]);
  other.grow(1);
  assert.equal([gone, room.taken], [['a1', 'a2'], 9]);
  // now the client itself holds the most
  other.grow(2);
  assert.equal([gone, room.taken], [['a1', 'a2', 'b1'], 4]);
});

test.run();
