import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PageBuffers } from '../../../src/http/answer/delivery.js';
import { LIST } from '../../support/client.js';
import { startOwnService } from '../../support/own-service.js';
import { SNAPSHOT } from '../../support/service.js';
import { assert, test } from '../../support/uvu.js';

const KIB = 1024;

test('memory that was given back is taken again, the last first, for pages of about the size', () => {
  const buffers = new PageBuffers();
  const [first, second] = [buffers.take(20 * KIB), buffers.take(29_000)];
  assert.is(first.length, 20 * KIB);
  assert.is(second.length, 29_000);
  assert.is.not(first.buffer, second.buffer);
  buffers.give(first);
  buffers.give(second);
  const other = buffers.take(40 * KIB);
  assert.ok(other.buffer !== first.buffer && other.buffer !== second.buffer);
  const again = buffers.take(17 * KIB);
  assert.is(again.buffer, second.buffer);
  assert.is(again.length, 17 * KIB);
  assert.is(buffers.take(32 * KIB).buffer, first.buffer);
  assert.ok(buffers.take(32 * KIB).buffer !== first.buffer);
});

test('pages without a byte and large ones are fine, and large ones are not kept', () => {
  const buffers = new PageBuffers();
  assert.is(buffers.take(0).length, 0);
  const large = buffers.take(5_000 * KIB);
  assert.is(large.length, 5_000 * KIB);
  buffers.give(large);
  assert.is.not(buffers.take(5_000 * KIB).buffer, large.buffer);
});

test('idle memory is bounded', () => {
  const buffers = new PageBuffers();
  const taken = Array.from({ length: 100 }, () => buffers.take(200 * KIB));
  for (const buffer of taken) buffers.give(buffer);
  const memories = new Set(taken.map(({ buffer }) => buffer));
  let kept = 0;
  while (memories.has(buffers.take(200 * KIB).buffer)) kept++;
  assert.ok(kept > 0 && kept * 200 * KIB <= 16 * KIB * KIB, `${kept} kept`);
});

/** Sends requests in one go and reads nothing before it is told to. */
class LazyClient {
  readonly #socket: Socket;
  readonly #paths: readonly string[];

  constructor(port: number, paths: readonly string[]) {
    this.#paths = paths;
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  }

  /** The bodies of all answers. */
  async read(): Promise<string[]> {
    const bodies: string[] = [];
    let pending = Buffer.alloc(0);
    for await (const chunk of this.#socket) {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const head = pending.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(pending.toString('latin1', 0, head));
        const end = head + 4 + Number(length?.[1]);
        if (head < 0 || pending.length < end) break;
        bodies.push(pending.toString('utf8', head + 4, end));
        pending = pending.subarray(end);
      }
      if (bodies.length === this.#paths.length) break;
    }
    return bodies;
  }

  async leave(): Promise<void> {
    this.#socket.destroy();
    await once(this.#socket, 'close');
  }
}

test('clients that read late get what they asked for, whoever else was answered meanwhile', async () => {
  // no answer is kept, so that all are written to memory that is used again
  const service = await startOwnService(['--snapshot', SNAPSHOT, '--answer-cache', '0']);
  const pathOf = (page: number, size: number): string => `${LIST}?page=${page}&page_size=${size}`;
  const { count } = JSON.parse((await service.get(LIST)).body.toString());
  const wanted = new Map<string, string>();
  for (const size of [100, 120, 1000]) {
    for (let page = 1; page <= Math.ceil(count / size); page++) {
      const path = pathOf(page, size);
      const { body } = await service.get(path, { headers: { host: 'a' } });
      wanted.set(path, body.toString());
    }
  }
  const paths = [...wanted.keys()];
  // far more than the buffers of a socket hold
  const mixed = (from: number): string[] =>
    Array.from({ length: 200 }, (_, i) => paths[(from + 7 * i) % paths.length]!);
  const lazy = [0, 1, 2, 3].map((from) => new LazyClient(service.port, mixed(from)));
  const leaving = [4, 5].map((from) => new LazyClient(service.port, mixed(from)));
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      paths.map((path) => service.get(path, { headers: { host: 'a' } })),
    );
    for (const [i, { body }] of answers.entries()) {
      assert.ok(body.toString() === wanted.get(paths[i]!), `round ${round}: ${paths[i]}`);
    }
    await leaving[round]?.leave();
  }
  for (const [from, client] of lazy.entries()) {
    const bodies = await client.read();
    for (const [i, path] of mixed(from).entries()) {
      assert.ok(bodies[i] === wanted.get(path), `late client ${from}, answer ${i}: ${path}`);
    }
  }
});

test.run();
