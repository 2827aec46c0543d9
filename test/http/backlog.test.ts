import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { Backlog } from '../../src/http/backlog.js';
import { dial, listen } from '../support/sockets.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const MIB = 1024 * 1024;
/** More than the system takes of an answer that nobody reads. */
const LARGE = 24 * MIB;
const TIMEOUT_MS = 1_000;
const STILL_MS = 1_000;

/** Answers each request with as many bytes as its path says; returns how to connect. */
async function start(backlog: Backlog): Promise<() => Socket> {
  const server = createServer((request, response) => {
    response.end(Buffer.alloc(Number(request.url!.slice(1))));
    backlog.note(response);
  });
  const port = await listen(server);
  return () => dial(port).socket;
}

function request(bytes: number): string {
  return `GET /${bytes} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

test('a client that stands still is cut off, one that reads slowly is not', async () => {
  const backlog = new Backlog({ maxUnsent: 8 * LARGE, answerTimeout: TIMEOUT_MS });
  const connectTo = await start(backlog);
  const [still, slow] = [connectTo().pause(), connectTo()];
  let received = 0;
  slow.on('data', (chunk: string) => {
    received += chunk.length;
    slow.pause();
    setTimeout(() => slow.resume(), chunk.length / (LARGE / 2_000));
  });
  const began = performance.now();
  for (const socket of [still, slow]) socket.write(request(LARGE));
  await until('one is cut off', () => backlog.stalled === 1);
  const took = performance.now() - began;
  assert.ok(took >= TIMEOUT_MS, `${took} ms`);
  await until('the other has all of it', () => received > LARGE);
  assert.ok(performance.now() - began > 1.5 * TIMEOUT_MS, 'it took its time');
  assert.equal([backlog.stalled, backlog.crowded, backlog.bytes], [1, 0, 0]);
});

test('a thread that stood still itself cuts nobody off for it', async () => {
  const backlog = new Backlog({ maxUnsent: 8 * LARGE, answerTimeout: STILL_MS / 2 });
  const client = (await start(backlog))();
  let received = 0;
  client.on('data', (chunk: string) => {
    received += chunk.length;
  });
  client.write(request(LARGE));
  await once(client, 'data');
  client.pause();
  assert.ok(backlog.bytes > 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS);
  client.resume();
  await until('it has all of it', () => received > LARGE);
  assert.is(backlog.stalled, 0);
});

test('beyond the bound those are cut off who took nothing for longest', async () => {
  const backlog = new Backlog({ maxUnsent: 4 * LARGE, answerTimeout: 60_000 });
  const connectTo = await start(backlog);
  const closed: number[] = [];
  for (let i = 0; i < 12; i++) {
    const socket = connectTo();
    socket.pause();
    socket.on('close', () => closed.push(i));
    socket.write(request(LARGE));
    const { length } = closed;
    // what a connection that was cut off held is given back with it
    await until('its answer is made', () => backlog.bytes > 0 || closed.length > length);
    assert.ok(backlog.bytes <= 4 * LARGE, `${backlog.bytes}`);
  }
  await until('most are cut off', () => backlog.crowded >= 8);
  assert.ok(backlog.bytes > 0 && backlog.bytes <= 4 * LARGE, `${backlog.bytes}`);
  assert.is(backlog.stalled, 0);
});

test('answers that are taken at once leave nothing behind', async () => {
  const backlog = new Backlog({ maxUnsent: MIB, answerTimeout: 60_000 });
  const socket = (await start(backlog))();
  let received = 0;
  socket.on('data', (chunk: string) => {
    received += chunk.length;
  });
  for (let i = 1; i <= 20; i++) {
    socket.write(request(MIB));
    await until('it is read', () => received > i * MIB);
  }
  assert.equal([backlog.bytes, backlog.stalled, backlog.crowded], [0, 0, 0]);
});

test.run();
