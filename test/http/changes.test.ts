import { join } from 'node:path';
import type { Posting } from '../../src/http/answer/context.js';
import { Store } from '../../src/posts/store.js';
import { startNotes } from '../support/app.js';
import {
  type Envelope,
  type Followed,
  follow,
  jsonPost,
  LIST,
  openAnswer,
  type Reply,
} from '../support/client.js';
import { makeJournal, newPost } from '../support/journals.js';
import { FIRST_NOTE } from '../support/kept-posts.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { scatterNotes } from '../support/notes.js';
import { metricsOf } from '../support/operating.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { logged, startService } from '../support/service.js';
import { dial } from '../support/sockets.js';
import {
  ascending,
  assert,
  makeFile,
  makeFolder,
  pluck,
  rounds,
  test,
  until,
} from '../support/uvu.js';

const PATH = '/changes/points';
const LINES = { headers: { Accept: 'application/x-ndjson' } };
const BEAT_MS = 60;
const ROUNDS = rounds(15);
/** Posts of 60 kB that exceed the buffers of a stream that nobody reads. */
const MANY = 120;
const folder = makeFolder();
const journal = join(folder, 'points.journal');
const flags = ['--settle', '0', '--snapshot', makeFile(FIRST_NOTE)];
let service: OwnService = await startService([...flags, '--journal', journal, '--workers', '2']);

async function post(fields: object = {}): Promise<{ sequence: number; record: string }> {
  const asked = jsonPost({ lat: 1, lon: 2, ...fields });
  const { status, text, headers } = await service.get(LIST, asked);
  assert.is(status, 201, text);
  return { sequence: Number(headers['waypost-sequence']), record: text };
}

function idsOf({ text }: Reply): number[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { id: number }).id);
}

async function leave(...streams: readonly Followed[]): Promise<void> {
  for (const { answer } of streams) answer.destroy();
  await until('streams are closed', async () => (await openStreams()).every((open) => open === 0));
}

/** The number of open streams in each thread. */
async function openStreams(): Promise<number[]> {
  const { samples } = await metricsOf(service);
  return samples.filter(({ name }) => name === 'waypost_streams').map(({ value }) => value);
}

test('a stream has the accepted points, as in the list, and tells its sequence', async () => {
  const { sequence: before } = await post();
  const all = await follow(service.port, PATH);
  const told = [
    all.status,
    all.answer.headers['content-type'],
    all.answer.headers['cache-control'],
  ];
  assert.equal(told, [200, 'text/event-stream', 'no-store']);
  const some = await follow(service.port, `${PATH}?tags=x&fields=id,tags&after=${before}`);
  const plain = await post();
  const tagged = await post({ tags: ['x'], comment: 'line\nbreak \u2028' });
  await until('both are there', () => all.events.length === 2 && some.events.length === 1);
  assert.equal(all.events, [
    { id: plain.sequence, data: plain.record },
    { id: tagged.sequence, data: tagged.record },
  ]);
  const { id } = JSON.parse(tagged.record) as { id: number };
  assert.equal(some.events, [{ id: tagged.sequence, data: `{"id":${id},"tags":["x"]}` }]);
  const again = await follow(service.port, `${PATH}?after=${before}`, plain.sequence);
  await until('it goes on', () => again.events.length === 1);
  assert.is(again.events[0]!.data, tagged.record);
  const none = await follow(service.port, `${PATH}?tags=nobody`, plain.sequence);
  await until('it says how far it is', () => none.last >= 0);
  await leave(all, some, again, none);
});

test('as NDJSON the stream has the points so far, and ends', async () => {
  const { sequence: before } = await post();
  const { sequence, record } = await post({ tags: ['x'] });
  const reply = await service.get(`${PATH}?after=${before}`, LINES);
  assert.is(reply.headers['content-type'], 'application/x-ndjson');
  assert.is(reply.headers['waypost-sequence'], String(sequence));
  assert.is(reply.text, `${record.slice(0, -1)},"sequence":${sequence}}\n`);
  const bare = await service.get(`${PATH}?after=${before}&fields=image&format=ndjson`);
  assert.is(bare.text, `{"sequence":${sequence}}\n`);
  assert.is((await service.get(`${PATH}?after=${sequence}`, LINES)).text, '');
  assert.is(idsOf(await service.get(PATH, LINES)).length, sequence);
});

/** What streams need of a service that takes posts. */
async function streaming(): Promise<Posting> {
  const journal = await makeJournal().open();
  const reader = {
    read: (...given: Parameters<typeof journal.read>) => journal.read(...given),
    state: async () => journal.state,
  };
  const streams = new Int32Array(1);
  const posting = { journal: reader, streams, maxStreams: 1, beatMs: BEAT_MS };
  return posting as Partial<Posting> as Posting;
}

test('an answer whose turn comes behind a stream keeps nobody else waiting', async () => {
  const settings = { posting: await streaming(), answerCacheBytes: 2 ** 20 };
  const app = await startNotes(scatterNotes(2, 100), settings);
  for (const [path, status] of [
    [LIST, 200],
    [`${LIST}?page=99`, 404],
  ] as const) {
    const { headers } = await app.get(path);
    const known = `If-None-Match: ${headers.etag ?? '"none"'}`;
    const line = dial(app.port);
    const lines = `Host: 127.0.0.1:${app.port}\r\n${known}\r\n\r\n`;
    const asked = [PATH, path].map((target) => `GET ${target} HTTP/1.1\r\n${lines}`);
    line.socket.write(asked.join(''));
    await until('the stream began', () => line.answer.includes('still here'));
    assert.is((await app.get(path)).status, status, path);
    line.socket.destroy();
    await until('it has ended', () => settings.posting.streams[0] === 0);
  }
});

test('a stream that lets nothing through says again and again how far it is', async () => {
  const app = await startNotes([], { posting: await streaming() });
  const began = performance.now();
  const answer = await openAnswer(app.port, `${PATH}?tags=nobody`);
  let heard = '';
  answer.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  const beat = (sequence: number): string => `: still here\nretry: 1000\nid: ${sequence}\n\n`;
  await until('it began', () => heard.endsWith(beat(0)));
  app.accept(scatterNotes(1, 2));
  await until('two more beats', () => heard.endsWith(beat(2).repeat(2)));
  const [most, beats] = [(performance.now() - began) / BEAT_MS, heard.split('\n\n').length - 1];
  assert.ok(beats <= most + 1, `${beats} beats, ${most} were due`);
  assert.match(heard, new RegExp(`^(${beat(0)})+(${beat(2)})+$`));
  answer.destroy();
});

test('a service that closes ends streams, and sends the points that there are as lines', async () => {
  const app = await startNotes([], { posting: await streaming(), closing: () => true });
  app.accept(scatterNotes(1, 300));
  const { headers, text } = await app.get(`${PATH}?after=0`, LINES);
  assert.equal([headers['waypost-sequence'], text.split('\n').length], ['300', 301]);
  assert.is((await app.get(PATH)).text, '');
});

test('bad parameters, formats and sequences are refused', async () => {
  const { sequence } = await post();
  const cases: [status: number, path: string, headers?: Record<string, string>][] = [
    [400, '?after=x&bbox=1'],
    [400, '', { 'Last-Event-ID': '-1' }],
    [404, '?format=json'],
    [406, '', { Accept: 'application/json' }],
    [410, `?after=${sequence + 1}`],
    [410, '', { 'Last-Event-ID': String(sequence + 1) }],
  ];
  for (const [status, query, headers = {}] of cases) {
    const reply = await service.get(PATH + query, { headers });
    assert.is(reply.status, status, query);
    assert.is(reply.headers['content-type'], 'application/json');
  }
  const head = await service.get(PATH, { method: 'HEAD' });
  assert.is(head.headers['content-type'], 'text/event-stream');
});

test('every filter lets through what the list shows', async () => {
  const queries = [
    ...['bbox=0,0,10,10', 'bbox=170,-20,-170,20', 'coordinates=5,5,300000', 'has_image=false'],
    ...['polygon=0,0;10,0;5,10', 'tags=a,b', 'tags_all=a,b', 'status=NEW', 'status=OPEN'],
    ...['is_processed=true', 'created_by=none', 'created_at_after=2020-01-01T00:00:00Z'],
    ...['modified_at_before=2020-01-01T00:00:00Z', 'tags=a&bbox=0,0,10,10', ''],
  ];
  const streams = await Promise.all(
    queries.map((query) => follow(service.port, `${PATH}?${query}&fields=id`)),
  );
  const first = JSON.parse((await post()).record) as { id: number };
  const others = Array.from({ length: 12 }, (_, i) =>
    post({ lat: i - 1, lon: i % 4 === 0 ? 175 : i, tags: ['a', 'b'].slice(i % 3) }),
  );
  await Promise.all(others);
  const last = await post({ lat: 5, lon: 5, tags: ['a', 'b'] });
  for (const [i, query] of queries.entries()) {
    const stream = streams[i]!;
    const reply = await service.get(`${LIST}?${query}&page_size=1000&page=last&fields=id`);
    assert.is(reply.status, 200, reply.text);
    const ids = reply.json<Envelope>().results.map(({ id }) => Number(id));
    const wanted = ascending(ids.filter((id) => id >= first.id));
    await until(`${query}: all are there`, () => stream.events.length >= wanted.length);
    const found = stream.events.map(({ data }) => (JSON.parse(data) as { id: number }).id);
    assert.equal(ascending(found), wanted, query);
    if (wanted.length > 0) assert.ok(stream.last <= last.sequence, query);
  }
  await leave(...streams);
});

test('each of many streams on two threads has each of many points once, in order', async () => {
  const streams: Followed[] = [];
  await until('both threads have some', async () => {
    streams.push(await follow(service.port, PATH));
    return streams.length >= 20 && (await openStreams()).every((open) => open > 0);
  });
  const posted = await Promise.all(Array.from({ length: 60 }, (_, i) => post({ comment: `${i}` })));
  const wanted = posted
    .map(({ sequence, record }) => ({ id: sequence, data: record }))
    .sort((a, b) => a.id - b.id);
  for (const { events } of streams) {
    await until('all points are there', () => events.length === wanted.length);
    assert.equal(events, wanted);
  }
  await leave(...streams);
});

test('a stream can be resumed after the service was killed, and ends properly at its exit', async () => {
  const before = await follow(service.port, PATH);
  const early = await Promise.all(Array.from({ length: 10 }, () => post()));
  await until('some are there', () => before.events.length >= 5);
  process.kill(Number(logged(service, 'serving')[0]!['pid']), 'SIGKILL');
  await until('it broke off', () => before.end === 'broken');
  // restarted by the supervisor
  await until('it is back', () => logged(service, 'serving').length === 2);
  const late = await post();
  const after = await follow(service.port, PATH, before.last);
  await until('the last is there', () => after.last === late.sequence);
  const wanted = ascending(pluck([...early, late], 'sequence'));
  assert.equal(pluck([...before.events, ...after.events], 'id'), wanted);
  await service.stop();
  assert.is(after.end, 'whole');
});

test('a stream cannot be resumed where the posts after it were pruned', async () => {
  const path = join(folder, 'pruned.journal');
  const store = new Store(path);
  store.append(Array.from({ length: 9 }, (_, i) => newPost(5_001 + i)));
  store.prune([4]);
  store.close();
  service = await startOwnService([
    ...[...flags, '--journal', path, '--admin-token', 'secret', '--max-streams', '2'],
    ...['--answer-timeout', '1s', '--shutdown-timeout', '0'],
  ]);
  const admin = { headers: { Authorization: 'Bearer secret' } };
  for (const [query, status] of [
    ['?after=3', 410],
    ['?after=0', 410],
    ['?after=4', 200],
  ] as const) {
    assert.is((await service.get(PATH + query, LINES)).status, status);
    assert.is((await service.get(`/admin/posts${query}`, admin)).status, status);
  }
  assert.equal(idsOf(await service.get(`${PATH}?after=7`, LINES)), [5_008, 5_009]);
  const all = [5_001, 5_002, 5_003, 5_005, 5_006, 5_007, 5_008, 5_009];
  assert.equal(idsOf(await service.get(PATH, LINES)), all);
  assert.equal(idsOf(await service.get('/admin/posts', admin)), all);
});

test('beyond the bound a stream gets 503, until another one has ended', async () => {
  const two = await Promise.all([follow(service.port, PATH), follow(service.port, PATH)]);
  const third = await service.get(PATH);
  assert.equal([third.status, third.headers['retry-after']], [503, '10']);
  two[0]!.answer.destroy();
  await until('there is room', async () => (await service.get(PATH, LINES)).status === 200);
  await leave(two[1]!);
});

test('a client that does not read holds little, is cut off, and can resume', async () => {
  const slow = await follow(service.port, PATH);
  slow.answer.pause();
  const quick = await follow(service.port, PATH);
  const comment = 'x'.repeat(60_000);
  const posted = await Promise.all(Array.from({ length: MANY }, () => post({ comment })));
  await until('the other one has all', () => quick.events.length === MANY);
  await until('the slow one is cut off', async () => {
    const unsent = (await metricsOf(service)).value('waypost_unsent_bytes');
    assert.ok(unsent < 2 ** 20, `${unsent} bytes`);
    return (await openStreams())[0] === 1;
  });
  const merges = { outcome: 'folded' };
  await until('what it missed is merged', async () => {
    return (await metricsOf(service)).value('waypost_folds_total', merges) > 0;
  });
  slow.answer.resume();
  await until('what it was sent is read', () => slow.end === 'broken');
  assert.ok(slow.events.length < MANY);
  const rest = await follow(service.port, PATH, slow.last);
  await until('it has the rest', () => slow.events.length + rest.events.length === MANY);
  const wanted = ascending(pluck(posted, 'sequence'));
  assert.equal(pluck([...slow.events, ...rest.events], 'id'), wanted);
});

test('a point that moves to another id misses no stream while others are posted', async () => {
  const snapshot = join(folder, 'points.ndjson');
  // a snapshot that uses the ids of more and more posts
  const serve = (largest: number): void => replaceFile(snapshot, markedLines(0, largest));
  serve(1);
  const files = ['--snapshot', snapshot, '--journal', `${snapshot}.db`];
  service = await startOwnService([...flags, ...files]);
  const stream = await follow(service.port, `${PATH}?after=0`);
  let isOver = false;
  const keepPosting = async (): Promise<void> => {
    while (!isOver) await post();
  };
  const moves = () => service.logs.filter(({ msg }) => /moved/.test(String(msg)));
  const moveAll = async (): Promise<void> => {
    for (let round = 1; round <= ROUNDS; round++) {
      await until('there are posts', () => stream.events.length >= 40 * round);
      const before = moves().length;
      serve(20 * round);
      await until('points have moved', () => moves().length > before);
    }
  };
  const over = moveAll().finally(() => {
    isOver = true;
  });
  await Promise.all([over, ...Array.from({ length: 4 }, keepPosting)]);
  const { sequence } = await post();
  await until('the last one is there', () => stream.last === sequence);
  const all = Array.from({ length: sequence }, (_, i) => i + 1);
  assert.equal(pluck(stream.events, 'id'), all);
  for (const { sequence: moved, to } of moves()) {
    const event = stream.events[Number(moved) - 1]!;
    assert.is((JSON.parse(event.data) as { id: number }).id, to);
  }
  await leave(stream);
});

test.run();
