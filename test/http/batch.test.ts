import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SlowLane } from '../../src/http/answer/question.js';
import { tookTooLong } from '../../src/http/request/http-error.js';
import { parseQueryString } from '../../src/http/request/query-string.js';
import { Engine } from '../../src/query/engine.js';
import type { Generation } from '../../src/reload/current.js';
import { startApp } from '../support/app.js';
import { ask, countOf, LIST, openAnswer, type Reply } from '../support/client.js';
import { startDeserted } from '../support/deserted.js';
import { generationOf } from '../support/engine.js';
import { createHostileQueries } from '../support/hostile-queries.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test, until } from '../support/uvu.js';

const PATH = `${LIST}query/`;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const LINES_TYPE = { 'Content-Type': 'application/x-ndjson' };
/** A question that the engine below counts, and that exceeds its budget while `isLong`. */
const WATCHED = { created_at_after: '1980-01-01T00:00:00Z', page_size: 5 };

const first = await generationOf(scatterNotes(17, 3_000), { digest: 'first' });
const second = await generationOf(scatterNotes(18, 3_000), { digest: 'second' });
class Watched extends Engine {
  override run(...given: Parameters<Engine['run']>): ReturnType<Engine['run']> {
    const [query, , , budget] = given;
    if (query.filters.createdAt !== undefined) {
      watched++;
      if (isLong) budget!.expect(Number.MAX_VALUE);
    }
    return super.run(...given);
  }
}

const served = { generation: watch(first) };
let isLong = false;
let watched = 0;

const app = await startApp(served);
test.before.each(() => {
  served.generation = watch(first);
  isLong = false;
  watched = 0;
});

function watch(generation: Generation): Generation {
  return { ...generation, engine: new Watched(generation.engine.dataset) };
}

function send(body: string, headers: object = JSON_TYPE): Promise<Reply> {
  return ask(app.port, PATH, { method: 'POST', body, headers: { ...headers } });
}

function linesOf({ status, text }: Reply): string[] {
  assert.is(status, 200, text);
  assert.ok(text === '' || text.endsWith('\n'));
  return text.split('\n').slice(0, -1);
}

/** The list's answer to the same parameters, as a line of a batch. */
async function single(question: Readonly<Record<string, string>>): Promise<string> {
  const { status, text, json } = await ask(app.port, `${LIST}?${new URLSearchParams(question)}`);
  if (status !== 200) return JSON.stringify({ status, error: json() });
  return text.replace(/"next":(?:null|"[^"]*"),"previous":(?:null|"[^"]*"),/, '');
}

test('each question has its answer or its error, in order', async () => {
  const questions = [
    { page_size: 1, fields: ['id', 'status'], is_processed: null, nobody: {} },
    { bbox: [24.9, 60.1, 25, 60.2], is_processed: false, page: 2, page_size: '3' },
    { bbox: [1, 2], page_size: 0 },
    { page: 999 },
    'page=1',
    { tags: ['a', 'Muu 2'], tags_all: ['],"created_at":"'], fields: 'tags' },
    { coordinates: { lat: 60 }, format: 'api' },
    { bbox: ['24.9,60.1,25,60.2'], created_by: ['none', '1,2'], fields: ['id,lat'] },
  ];
  const reply = await send(JSON.stringify(questions));
  assert.is(reply.headers['content-type'], 'application/x-ndjson');
  assert.is(reply.headers['waypost-snapshot'], '"first"');
  const lines = linesOf(reply);
  const answers = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const statuses = answers.map(({ status = 200 }) => status);
  assert.equal(statuses, [200, 200, 400, 404, 400, 200, 400, 200]);
  assert.match(lines[0]!, /^\{"count":3000,"results":\[\{"id":\d+,"status":"\w+"\}\]\}$/);
  const box = { bbox: '24.9,60.1,25,60.2', is_processed: 'false', page: '2', page_size: '3' };
  assert.is(lines[1], await single(box));
  assert.is(lines[2], await single({ bbox: '1,2', page_size: '0' }));
  assert.equal(answers[3], { status: 404, error: { detail: 'Invalid page.' } });
  assert.equal(answers[4]!['error'], {
    detail: 'Got "page=1". Expected an object whose keys are parameters of the list.',
  });
  const tags = { tags: 'a,Muu 2', tags_all: ']\\,"created_at":"', fields: 'tags' };
  assert.is(lines[5], await single(tags));
  assert.equal(answers[6]!['error'], {
    coordinates: ['Got {"lat":60}. Expected a text, a number, true, false or a list of these.'],
  });
  const lists = { bbox: '24.9,60.1,25,60.2', created_by: 'none,1,2', fields: 'id,lat' };
  assert.is(lines[7], await single(lists));
});

test('each line fails by itself, and blank lines are ignored', async () => {
  const reply = await send('{"page_size":1}\r\n\n \n{"page_\n[]\n{}', LINES_TYPE);
  const answers = linesOf(reply).map((line) => JSON.parse(line));
  const told = answers.map(({ status, count }) => status ?? count);
  assert.equal(told, [3000, 400, 400, 3000]);
  assert.match(answers[1].error.detail, /^JSON parse error - /);
  assert.equal(linesOf(await send('', LINES_TYPE)), []);
  assert.equal(linesOf(await send('[]')), []);
});

test('a body that is not a batch is refused as a whole', async () => {
  const cases: [status: number, body: string, headers?: object][] = [
    [400, ''],
    [400, '{"page":1}'],
    [400, '[{}'],
    [400, `[${'['.repeat(40)}`],
    [413, JSON.stringify(Array(1001).fill({}))],
    [413, '{}\n'.repeat(1001), LINES_TYPE],
    [413, ' '.repeat(256 * 1024 + 1)],
    [415, '[]', {}],
    [415, '[]', { 'Content-Type': 'text/plain' }],
    [415, '[]', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }],
    [412, '[]', { ...JSON_TYPE, 'If-Match': '"another"' }],
    [400, '[]', { ...JSON_TYPE, Host: 'a b' }],
    [401, '[]', { ...JSON_TYPE, Authorization: 'Token nobody' }],
    [503, '[]', { ...JSON_TYPE, 'Waypost-At-Least': '7' }],
  ];
  for (const [status, body, headers = JSON_TYPE] of cases) {
    const reply = await send(body, headers);
    assert.is(reply.status, status, `${body.slice(0, 40)}: ${reply.text}`);
    assert.is(reply.headers['content-type'], 'application/json');
  }
  const late = await send('[]', { ...JSON_TYPE, 'Waypost-At-Least': '7' });
  assert.match(late.text, /asks for post 7, and this instance has no journal/);
  const many = await send('{}\n'.repeat(1001), LINES_TYPE);
  assert.match(many.text, /Got 1001 questions\. Expected at most 1000 at a time/);
  assert.is(linesOf(await send(JSON.stringify(Array(1000).fill({ page_size: 1 })))).length, 1000);
  const wrong = await ask(app.port, PATH);
  assert.equal([wrong.status, wrong.headers.allow], [405, 'POST, OPTIONS']);
  const without = await ask(app.port, PATH.slice(0, -1), { method: 'POST' });
  assert.equal([without.status, without.headers.location], [308, PATH]);
});

test('random questions have the answers of the list', async () => {
  const next = createHostileQueries(5);
  const questions = Array.from({ length: 400 }, () => {
    const pairs = parseQueryString(next().query).map(({ name, value }) => [name, value] as const);
    const { format: _, ...question } = Object.fromEntries(pairs);
    return question as Record<string, string>;
  });
  const singles: string[] = [];
  const lines: string[] = [];
  const statuses = new Set<string>();
  for (let from = 0; from < questions.length; from += 100) {
    const some = questions.slice(from, from + 100);
    // longer ones do not fit into the head of a single request
    const short = some.filter((one) => new URLSearchParams(one).toString().length < 20_000);
    for (const line of await Promise.all(short.map(single))) singles.push(line);
    for (const line of linesOf(await send(JSON.stringify(short)))) lines.push(line);
  }
  for (const [i, line] of lines.entries()) {
    assert.is(line, singles[i]);
    statuses.add(/^\{"status":(\d+)/.exec(line)?.[1] ?? '200');
  }
  assert.ok(lines.length > 380);
  assert.equal([...statuses].sort(), ['200', '400', '404']);
});

test('all questions are answered from one state, however long they take', async () => {
  const questions = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? WATCHED : { page: i }));
  const wanted = linesOf(await send(JSON.stringify(questions)));
  for (isLong of [false, true]) {
    served.generation = watch(first);
    watched = 0;
    const sent = send(JSON.stringify(questions));
    await until('some are answered', () => watched > 3);
    served.generation = watch(second);
    const reply = await sent;
    assert.is(reply.headers['waypost-snapshot'], '"first"');
    assert.ok(linesOf(reply).join() === wanted.join(), isLong ? 'slow lane' : 'at once');
  }
});

test('other clients are answered between the questions of a batch', async () => {
  for (isLong of [true, false]) {
    watched = 0;
    let isDone = false;
    // as many as there may be: on a fast machine 400 take no longer than the ten below
    const batch = send(JSON.stringify(Array(1_000).fill({ ...WATCHED, page_size: 100 })));
    void batch.then(() => {
      isDone = true;
    });
    await until('it has begun', () => watched > 0);
    for (let i = 0; i < 10; i++) assert.is(await countOf(app), 3_000);
    assert.not.ok(isDone, 'ten were answered meanwhile');
    assert.is(linesOf(await batch).length, 1_000);
  }
});

test('lines are sent while a later question takes long', async () => {
  let refuse = (_error: Error): void => {};
  const ask = () => new Promise<never>((_, reject) => (refuse = reject));
  const slow = await startApp(served, {
    batchMs: 0,
    slowLane: { ask } as Partial<SlowLane> as SlowLane,
  });
  isLong = true;
  const body = JSON.stringify([{ page_size: 1 }, { page_size: 2 }, WATCHED, { page_size: 3 }]);
  const answer = await open(body, slow.port);
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await until('two lines are there', () => text.split('\n').length > 2);
  const wanted = await Promise.all(['1', '2', '3'].map((page_size) => single({ page_size })));
  assert.is(text, `${wanted[0]}\n${wanted[1]}\n`);
  refuse(tookTooLong());
  await once(answer, 'end');
  const [, , late, last] = text.split('\n');
  assert.is(JSON.parse(late!).status, 503);
  assert.is(last, wanted[2]);
});

test('a client that reads slowly holds little, and what it reads is right', async () => {
  const question = { ...WATCHED, page_size: 1000 };
  const [line] = linesOf(await send(JSON.stringify([question])));
  watched = 0;
  const most = systemBytes() / line!.length + 10;
  const count = Math.ceil(1.1 * most);
  const slow = await open(JSON.stringify(Array(count).fill(question)));
  let [before, now] = [-1, 0];
  await until('nothing more is made', () => {
    [before, now] = [now, watched];
    return now > 0 && now === before;
  });
  assert.ok(watched < most, `${watched} answers of ${line!.length} bytes, ${most} at most`);
  assert.ok((await text(slow)) === `${line}\n`.repeat(count));
  assert.is(app.bodies.taken, 0);
});

test('when a client leaves, its work ends and its room is free', async () => {
  for (isLong of [false, true]) {
    watched = 0;
    const leaving = await open(JSON.stringify(Array(1000).fill({ ...WATCHED, page_size: 300 })));
    assert.ok(app.bodies.taken > 0);
    leaving.destroy();
    await until('its room is free', () => app.bodies.taken === 0);
    assert.ok(watched < 1000, `${watched} of 1000 were answered`);
  }
});

test('a batch whose client left while it waited for a post takes no room', async () => {
  const { port, bodies } = await startDeserted(`POST ${PATH} HTTP/1.1`, '[{}]');
  const later = await ask(port, PATH, { method: 'POST', body: '[{}]', headers: JSON_TYPE });
  assert.is(JSON.parse(later.text).count, 11);
  await until('all room is free', () => bodies.taken === 0);
});

/** The most that the buffers of both ends hold for a client that does not read. */
function systemBytes(): number {
  if (process.platform !== 'linux') return 32 * 2 ** 20;
  const limits = ['rmem', 'wmem'].map((end) => {
    const text = readFileSync(`/proc/sys/net/ipv4/tcp_${end}`, 'utf8');
    return Number(text.trim().split(/\s+/)[2]);
  });
  return limits.reduce((sum, bytes) => sum + bytes, 0);
}

/** Sends a batch; resolves with the answer before its body is read. */
async function open(body: string, port = app.port): Promise<IncomingMessage> {
  const answer = await openAnswer(port, PATH, { method: 'POST', headers: JSON_TYPE, body });
  answer.on('error', () => {});
  return answer;
}

test.run();
