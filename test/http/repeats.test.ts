import type { SlowLane } from '../../src/http/answer/question.js';
import { HttpError } from '../../src/http/request/http-error.js';
import { type OwnApp, startApp } from '../support/app.js';
import { type Asked, LIST, type Reply } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { dial } from '../support/sockets.js';
import { assert, test, until } from '../support/uvu.js';
import { gate } from '../support/wait.js';

const current = { generation: await generationOf(scatterNotes(31, 1_000), { digest: 'same' }) };
const service = await startApp(current, { answerCacheBytes: 2 ** 24 });
const forgetful = await startApp(current);
const tight = await startApp(current, { answerCacheBytes: 2 ** 16 });

const PATHS = [
  LIST,
  `${LIST}?`,
  `${LIST}?page=2`,
  `${LIST}?bbox=24.9,60.1,25,60.2&ordering=-created_at`,
  `${LIST}?coordinates=60.166,24.951,9000&page=2&page_size=7`,
  `${LIST}?coordinates=60.166,24.951,9000&page_size=7&page=2`,
  `${LIST}?created_at_after=2023-01-01T00:00:00Z&created_at_before=2022-01-01T00:00:00Z`,
];
const host = 'same.example';

function comparable({ status, headers, body }: Reply): object {
  const { date: _, 'x-request-id': __, ...others } = headers;
  return { status, headers: others, body: body.toString('latin1') };
}

async function same(from: OwnApp, path: string, asked: Asked = {}): Promise<Reply> {
  const first = await from.get(path, asked);
  for (let i = 0; i < 3; i++) {
    assert.equal(comparable(await from.get(path, asked)), comparable(first), path);
  }
  return first;
}

test('the same request gets the same answer, cached or not, errors included', async () => {
  for (const path of [...PATHS, `${LIST}?page=99`, `${LIST}?bbox=x`, `${LIST}?format=xml`]) {
    const kept = comparable(await same(service, path, { headers: { host } }));
    for (const other of [forgetful, tight]) {
      const fresh = await same(other, path, { headers: { host } });
      assert.equal(comparable(fresh), kept, path);
    }
  }
  assert.ok(service.stats.cacheHits > 0 && forgetful.stats.cacheHits === 0);
});

test('a cached answer is only for its host, representation and parameters', async () => {
  const bodies = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    for (const path of PATHS) {
      for (const [name, other] of [
        ['one.example', 'two.example'],
        ['two.example', 'one.example'],
      ]) {
        for (const accept of ['application/json', 'text/html']) {
          const { status, headers, text } = await service.get(path, {
            headers: { host: name, accept },
          });
          assert.is(status, 200);
          assert.ok(headers['content-type']!.startsWith(accept));
          assert.not.ok(text.includes(other!));
          const key = `${path} ${name} ${accept}`;
          assert.is(text, bodies.get(key) ?? text, key);
          bodies.set(key, text);
        }
      }
    }
  }
});

test('of equal requests that arrive in one turn one is worked on', async () => {
  const path = `${LIST}?page=4&page_size=9`;
  const page = (await service.get(path, { headers: { host } })).body.toString('latin1');
  const lines = Array.from({ length: 8 }, () => dial(service.port));
  const ask = (target: string): void => {
    for (const { socket } of lines) socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  };
  const answers = (part: string): number[] =>
    lines.map(({ answer }) => answer.split(part).length - 1);
  // all connections are open by then
  ask('/nowhere');
  await until('all were told', () => answers(' 404 ').every((one) => one === 1));
  const before = { ...service.stats };
  ask(path);
  await until('all have the answer', () => answers(page).every((one) => one === 1));
  assert.is(service.stats.cacheMisses - before.cacheMisses, 1);
  assert.is(service.stats.cacheHits - before.cacheHits, 7);
});

test('who waits for the answer of a client that leaves has it made at once', async () => {
  const answers = gate();
  let asked = 0;
  const slowLane = {
    async ask() {
      asked++;
      await answers.opened;
      throw new HttpError(503, { detail: 'busy' });
    },
  } as Partial<SlowLane> as SlowLane;
  const app = await startApp(current, { answerCacheBytes: 2 ** 24, slowLane });
  const [first, leader, follower] = [0, 1, 2].map(() => dial(app.port));
  for (const [i, { socket }] of [first!, leader!, follower!].entries()) {
    socket.write(`GET ${LIST}?format=api&page_size=1000 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    // the third waits for what the second has asked
    if (i < 2) await until('it asks the slow lane', () => asked === i + 1);
    else await app.get('/nowhere');
  }
  assert.is(asked, 2);
  leader!.socket.destroy();
  await until('the third asks, too', () => asked === 3);
  answers.open();
  await until('it is told', () => follower!.answer.includes('busy'));
});

test('a cached answer can be revalidated, and has no body for HEAD', async () => {
  for (const path of PATHS) {
    const { headers, body } = await same(service, path);
    const asked = { headers: { 'If-None-Match': headers.etag! } };
    assert.is((await service.get(path, asked)).status, 304);
    const head = await same(service, path, { method: 'HEAD' });
    assert.equal([head.headers['content-length'], head.body.length], [String(body.length), 0]);
    assert.is((await service.get(path)).body.length, body.length);
  }
});

const ADDRESSES = [
  ...[LIST, `${LIST}?page=3&page_size=7`, `${LIST}7/`, '/rest/notifications/', '/rest/'],
];
const OTHERS = [
  ...['/ogc/', '/ogc/conformance', '/ogc/collections', '/ogc/collections/points'],
  ...['/tiles/0/0/0.mvt', `${LIST}?format=geojson`, `${LIST}7/?format=geojson`],
];

async function tagOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  return (await service.get(path, { headers })).headers.etag!;
}

// head.test.ts covers lists of tags
test("If-None-Match of the answer's tag gets 304 and no body, any other the answer", async () => {
  for (const path of [...ADDRESSES, ...OTHERS]) {
    const full = await service.get(path);
    const etag = full.headers.etag!;
    for (const list of [`"a,b" ,W/"y",\t${etag}, "z"`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const asked = { method, headers: { 'If-None-Match': list } };
        const { status, headers, body } = await service.get(path, asked);
        assert.equal([status, body.length], [304, 0], `${path} ${list}`);
        for (const name of ['content-type', 'content-length']) assert.not(name in headers);
        for (const name of ['etag', 'last-modified', 'vary', 'cache-control', 'allow'] as const) {
          assert.is(headers[name], full.headers[name], name);
        }
      }
    }
    for (const list of ['"x"', etag.slice(1, -1), '']) {
      const reply = await service.get(path, { headers: { 'If-None-Match': list } });
      assert.equal([reply.status, reply.text], [200, full.text], `${path} ${list}`);
    }
  }
});

test('errors stay errors, whatever If-None-Match says', async () => {
  const bad = [`${LIST}?bbox=1`, `${LIST}0/`, '/rest/nope/', `${LIST}?format=xml`];
  const nowhere = [`${LIST}?page=999999`, '/rest/notifications/?page=2', `${LIST}999999/`];
  const etag = await tagOf(LIST);
  for (const path of [...bad, ...nowhere]) {
    for (const list of ['*', etag]) {
      for (const accept of ['application/json', 'text/html']) {
        const headers = { 'If-None-Match': list, accept };
        const { status } = await service.get(path, { headers });
        assert.is(status, /bbox/.test(path) ? 400 : 404, `${path} ${list}`);
      }
    }
  }
});

test('tags differ by address, parameters, host and representation', async () => {
  const paths = [...ADDRESSES, `${LIST}?page=2`, `${LIST}?page=3`, `${LIST}?`, `${LIST}10/`];
  const tags: string[] = [];
  for (const path of paths) {
    for (const accept of ['application/json', 'text/html']) {
      for (const host of ['one.example', 'two.example'])
        tags.push(await tagOf(path, { host, accept }));
    }
  }
  assert.is(new Set(tags).size, tags.length);
});

test.run();
