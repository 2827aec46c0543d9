import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Backlog } from '../../src/http/backlog.js';
import { createGate, type Handler } from '../../src/http/gate.js';
import { CutCounts } from '../../src/http/limits.js';
import { answersOf, dial, type Line, listen, wasReset } from '../support/sockets.js';
import { assert, test, until } from '../support/uvu.js';

/** A request whose handling has begun. */
interface Begun {
  readonly path: string;
  readonly response: ServerResponse;
}

/** A server behind a gate; the test answers every request. */
async function startGated(handle?: Handler, mostWaiting?: number) {
  const begun: Begun[] = [];
  const cut = new CutCounts();
  const note = (request: IncomingMessage, response: ServerResponse): void => {
    begun.push({ path: request.url!, response });
  };
  const server = createServer(createGate(handle ?? note, cut, mostWaiting));
  const port = await listen(server);
  return {
    server,
    begun,
    cut,
    async connect(): Promise<Line> {
      const line = dial(port);
      await once(line.socket, 'connect');
      return line;
    },
  };
}

function request(name: string | number): string {
  return `GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

function requests(name: string, count: number): string {
  return Array.from({ length: count }, (_, i) => request(`${name}${i}`)).join('');
}

const pathsOf = ({ begun }: { readonly begun: readonly Begun[] }): string[] =>
  begun.map(({ path }) => path);

test('what was begun for a connection is closed with it, and no other begins', async () => {
  for (const end of ['reset', 'closed'] as const) {
    const gated = await startGated();
    const line = await gated.connect();
    line.socket.write(requests('a', 3));
    await until('one is begun', () => gated.begun.length === 1);
    const { response } = gated.begun[0]!;
    const closed = once(response, 'close');
    if (end === 'reset') line.socket.resetAndDestroy();
    else line.socket.destroy();
    // nothing is read from a connection with a line: only a write tells that the client has gone
    await until('a write fails', () => response.destroyed || !response.write('more'));
    await closed;
    assert.ok(response.destroyed, end);
    for (let i = 0; i < 10; i++) await turn();
    assert.is(gated.begun.length, 1, 'the others never begin');
  }
});

test('of the requests in one packet one is handled at a time, the next when it is answered', async () => {
  const gated = await startGated();
  const line = await gated.connect();
  line.socket.write(requests('a', 5));
  for (const index of [0, 1, 2, 3, 4]) {
    await until('one is begun', () => gated.begun.length > index);
    for (let i = 0; i < 10; i++) await turn();
    assert.is(gated.begun.length, index + 1);
    gated.begun[index]!.response.end(`number ${index}`);
  }
  await until('all are answered', () => answersOf(line) === 5);
  assert.equal(pathsOf(gated), ['/a0', '/a1', '/a2', '/a3', '/a4']);
  line.socket.write(requests('b', 1));
  await until('the connection goes on', () => gated.begun.length === 6);
});

test('behind the last answer of a connection nothing is begun', async () => {
  const gated = await startGated();
  const line = await gated.connect();
  line.socket.write(requests('a', 3));
  await until('one is begun', () => gated.begun.length === 1);
  gated.begun[0]!.response.setHeader('Connection', 'close').end('last');
  await once(line.socket, 'close');
  assert.is(answersOf(line), 1);
  assert.is(gated.begun.length, 1);
});

test('another connection is answered between the requests of one packet', async () => {
  const order: string[] = [];
  let sendOther = (): void => {};
  const gated = await startGated((request, response) => {
    order.push(request.url!);
    // both sockets are of this process: the other request arrives while this one is handled
    if (request.url === '/a0') sendOther();
    response.end('x');
  });
  const [many, other] = [await gated.connect(), await gated.connect()];
  sendOther = () => void other.socket.write(requests('other', 1));
  many.socket.write(requests('a', 500));
  await until('all are answered', () => order.length === 501);
  assert.ok(order.indexOf('/other0') < 50, `as number ${order.indexOf('/other0')}`);
});

test('while too many requests wait, a client that sends many more is cut off, and nobody else', async () => {
  const gated = await startGated(undefined, 100);
  const [first, many, few] = await Promise.all([0, 1, 2].map(() => gated.connect()));
  first!.socket.write(requests('a', 110));
  await until('one is begun', () => gated.begun.length === 1);
  const cut = once(many!.socket, 'close');
  let parsed = 0;
  gated.server.on('request', () => parsed++);
  many!.socket.write(requests('b', 900));
  await cut;
  assert.ok(parsed < 30, `${parsed} of 900 were parsed`);
  assert.equal({ ...gated.cut }, { ahead: 1, idle: 0, refused: 0 });
  few!.socket.write(requests('c', 10));
  await until('others are worked on', () => pathsOf(gated).includes('/c0'));
  // the client that was cut off has made room
  const next = await gated.connect();
  next.socket.write(requests('d', 10));
  await until('all are answered', () => {
    for (const { response } of gated.begun) response.end('x');
    return `${[first!, few!, next].map(answersOf)}` === '110,10,10';
  });
  const again = await gated.connect();
  again.socket.write(requests('e', 110));
  await until('the next may send many', () => {
    for (const { response } of gated.begun) response.end('x');
    return answersOf(again) === 110;
  });
});

test('nothing is begun for a connection that was closed', async () => {
  const gated = await startGated();
  const { socket } = await gated.connect();
  let serverSide: Socket | undefined;
  gated.server.on('request', (request: IncomingMessage) => {
    serverSide = request.socket;
  });
  socket.write(requests('a', 600));
  await until('one is begun', () => gated.begun.length === 1);
  socket.resetAndDestroy();
  gated.begun[0]!.response.end('x'.repeat(100_000));
  const { stackTraceLimit } = Error;
  await until('the close is seen', () => serverSide?.destroyed);
  const { length } = gated.begun;
  for (const { response } of gated.begun) response.end();
  for (let i = 0; i < 10; i++) await turn();
  assert.is(gated.begun.length, length);
  assert.ok(length <= 2, `${length} of 600`);
  assert.is(Error.stackTraceLimit, stackTraceLimit);
});

test('requests that arrive while others wait are read later, and all are answered', async () => {
  const gated = await startGated((_, response) => void setImmediate(() => response.end('x')));
  const line = await gated.connect();
  let most = 0;
  gated.server.on('request', (request: IncomingMessage) => {
    most = Math.max(most, request.socket.bytesRead);
  });
  const many = requests('a'.repeat(200), 1_500);
  line.socket.write(many);
  await until('some are answered', () => line.answer.length > 1_000);
  assert.ok(most < many.length / 2, `${most} of ${many.length} read`);
  await until('all are answered', () => answersOf(line) === 1_500);
});

test('a request that waits gets the rest of its body', async () => {
  const bodies: string[] = [];
  const gated = await startGated(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.end('x');
  });
  const { socket } = await gated.connect();
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
  socket.write(`${requests('a', 3)}${post}12345`);
  await until('those before it are answered', () => bodies.length === 3);
  socket.write(`67890${requests('b', 2)}`);
  await until('all are answered', () => bodies.length === 6);
  assert.equal(bodies, ['', '', '', '1234567890', '', '']);
});

test('a client that closes its side at once gets all its answers', async () => {
  const gated = await startGated((_, response) => void setImmediate(() => response.end('x')));
  const line = await gated.connect();
  line.socket.end(requests('a', 20));
  await once(line.socket, 'end');
  assert.is(answersOf(line), 20);
});

const MIB = 1024 * 1024;
/** More than the system buffers of an answer that nobody reads. */
const LARGE = 24 * MIB;
const TIMEOUT_MS = 1_000;
const STILL_MS = 1_000;

/** Answers each request with as many bytes as its path says; returns a function that connects. */
async function startLarge(backlog: Backlog): Promise<() => Line> {
  const server = createServer((request, response) => {
    response.end(Buffer.alloc(Number(request.url!.slice(1))));
    backlog.note(response);
  });
  const port = await listen(server);
  return () => dial(port);
}

test('a client that stops reading is cut off, one that reads slowly is not', async () => {
  const backlog = new Backlog({ maxUnsent: 8 * LARGE, answerTimeout: TIMEOUT_MS });
  const connectTo = await startLarge(backlog);
  const [still, slow] = [connectTo(), connectTo()];
  still.socket.pause();
  slow.socket.on('data', (chunk: string) => {
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), chunk.length / (LARGE / 2_000));
  });
  const began = performance.now();
  for (const { socket } of [still, slow]) socket.write(request(LARGE));
  await until('one is cut off', () => backlog.stalled === 1);
  const took = performance.now() - began;
  assert.ok(took >= TIMEOUT_MS, `${took} ms`);
  await until('the other has all of it', () => slow.answer.length > LARGE);
  assert.ok(performance.now() - began > 1.5 * TIMEOUT_MS, 'it took its time');
  assert.equal([backlog.stalled, backlog.crowded, backlog.bytes], [1, 0, 0]);
  assert.ok(await wasReset(still.socket));
});

test('a client is not cut off that reads less in that time than frees a third of the buffers', async () => {
  const answerTimeout = 1.5 * TIMEOUT_MS;
  const backlog = new Backlog({ maxUnsent: 8 * LARGE, answerTimeout });
  const { socket } = (await startLarge(backlog))();
  socket.removeAllListeners('data').on('readable', () => {});
  socket.write(request(LARGE));
  const began = performance.now();
  let bytes = 0;
  const reading = setInterval(() => {
    bytes += socket.read(12 * 1024)?.length ?? 0;
  }, 50);
  await until('it has read for a while', () => bytes > MIB || socket.destroyed);
  clearInterval(reading);
  assert.equal([socket.destroyed, backlog.stalled], [false, 0]);
  assert.ok(performance.now() - began > 1.9 * answerTimeout, 'it took its time');
  await until('it is cut off once it stops', () => backlog.stalled === 1);
});

test('a thread that was blocked itself cuts nobody off for that', async () => {
  const backlog = new Backlog({ maxUnsent: 8 * LARGE, answerTimeout: STILL_MS / 2 });
  const client = (await startLarge(backlog))();
  client.socket.write(request(LARGE));
  await once(client.socket, 'data');
  client.socket.pause();
  assert.ok(backlog.bytes > 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS);
  client.socket.resume();
  await until('it has all of it', () => client.answer.length > LARGE);
  assert.is(backlog.stalled, 0);
});

test('beyond the bound the clients are cut off that have not read for longest', async () => {
  const backlog = new Backlog({ maxUnsent: 4 * LARGE, answerTimeout: 60_000 });
  const connectTo = await startLarge(backlog);
  const closed: number[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < 12; i++) {
    const { socket } = connectTo();
    sockets.push(socket.pause().on('close', () => closed.push(i)));
    socket.write(request(LARGE));
    const { length } = closed;
    // a cut connection's bytes are released with it
    await until('its answer is made', () => backlog.bytes > 0 || closed.length > length);
    assert.ok(backlog.bytes <= 4 * LARGE, `${backlog.bytes}`);
  }
  await until('most are cut off', () => backlog.crowded >= 8);
  assert.ok(backlog.bytes > 0 && backlog.bytes <= 4 * LARGE, `${backlog.bytes}`);
  assert.is(backlog.stalled, 0);
  assert.ok(await wasReset(sockets[0]!));
});

test('answers that are read at once leave nothing behind', async () => {
  const backlog = new Backlog({ maxUnsent: MIB, answerTimeout: 60_000 });
  const client = (await startLarge(backlog))();
  for (let i = 1; i <= 20; i++) {
    client.socket.write(request(MIB));
    await until('it is read', () => client.answer.length > i * MIB);
  }
  assert.equal([backlog.bytes, backlog.stalled, backlog.crowded], [0, 0, 0]);
});

test.run();
