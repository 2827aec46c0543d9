import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createAtLeast } from '../../src/http/answer/at-least.js';
import { allowsState } from '../../src/http/answer/validators.js';
import type { HttpError } from '../../src/http/request/http-error.js';
import { appendToDelta, createDelta } from '../../src/index/delta.js';
import type { Current, Generation } from '../../src/reload/current.js';
import { type Envelope, LIST, post, type Reply } from '../support/client.js';
import { acceptedOf } from '../support/engine.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { scatterNotes } from '../support/notes.js';
import { startOwnService } from '../support/own-service.js';
import { assert, failure, makeFolder, test, until } from '../support/uvu.js';

const snapshot = join(makeFolder(), 'points.ndjson');

replaceFile(snapshot, markedLines(0, 320));
const service = await startOwnService(['--snapshot', snapshot, '--settle', '10ms']);

const PATHS = [LIST, `${LIST}7/`, '/rest/notifications/', '/rest/'];

async function snapshotOf(path: string): Promise<string> {
  return (await service.get(path)).headers['waypost-snapshot'] as string;
}

test('every answer of data names its snapshot, 304 and errors of If-Match included', async () => {
  const tag = await snapshotOf(LIST);
  assert.match(tag, /^"[0-9a-f]{16}\.\w*\.0"$/);
  for (const path of PATHS) {
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await service.get(path, { method });
      assert.is(headers['waypost-snapshot'], tag, path);
      assert.match(headers['access-control-expose-headers']!, 'Waypost-Snapshot');
      const asked = { method, headers: { 'If-None-Match': headers.etag! } };
      assert.is((await service.get(path, asked)).headers['waypost-snapshot'], tag);
      const other = { method, headers: { 'If-Match': '"0123456789abcdef"' } };
      const refused = await service.get(path, other);
      assert.equal([refused.status, refused.headers['waypost-snapshot']], [412, tag]);
    }
  }
});

test('If-Match of the current snapshot makes no difference', async () => {
  for (const path of PATHS) {
    const { headers, text } = await service.get(path);
    const tag = headers['waypost-snapshot'] as string;
    // several, so that kept answers are covered, too
    for (const list of [tag, tag.slice(1, -1), headers.etag!, '*', `"x", ${tag}`]) {
      const again = await service.get(path, { headers: { 'If-Match': list } });
      assert.equal([again.status, again.text], [200, text], `${path} ${list}`);
    }
    const both = { headers: { 'If-Match': tag, 'If-None-Match': headers.etag! } };
    assert.is((await service.get(path, both)).status, 304);
    const neither = { headers: { 'If-Match': '"x"', 'If-None-Match': headers.etag! } };
    assert.is((await service.get(path, neither)).status, 412);
  }
});

test('If-Match of an old snapshot gets 412, so that paging clients notice a swap', async () => {
  const first = await service.get(`${LIST}?page_size=100`);
  const tag = first.headers['waypost-snapshot'] as string;
  const next = first.json<Envelope>().next!.replace(/^http:\/\/[^/]+/, '');
  const following = { headers: { 'If-Match': tag } };
  assert.is((await service.get(next, following)).status, 200);
  replaceFile(snapshot, markedLines(0, 300));
  await until('the new snapshot is served', async () => (await snapshotOf(LIST)) !== tag);
  const refused = await service.get(next, following);
  assert.is(refused.status, 412);
  const { detail } = refused.json<{ detail: string }>();
  const now = refused.headers['waypost-snapshot'] as string;
  assert.is.not((await service.get(`${LIST}?page_size=100`)).headers.etag, first.headers.etag);
  assert.is(
    detail,
    `The data has changed: If-Match asks for ${tag}, and the state served is ${now}. Begin again with the first page.`,
  );
  // so does a page that does not exist any more
  assert.is((await service.get(`${LIST}?page_size=100&page=4`, following)).status, 412);
  assert.is((await service.get(next)).status, 200);
  assert.is((await service.get(next, { headers: { 'If-Match': now } })).status, 200);
});

test('If-Match compares strongly', () => {
  const state = { name: 's.j.1', snapshot: 's' };
  const allows = (list: string): boolean => allowsState(list, state, ['"s-e"']);
  for (const list of ['"s"', 's', '"s.j.1"', 's.j.1', ' "x" , "s-e"', '*']) {
    assert.ok(allows(list), list);
  }
  const others = ['W/"s"', 'W/"s-e"', '"x"', '', '"', 's-e', '"s', 'x, "s"', '"*"', '"s.j.2"'];
  for (const list of others) assert.not(allows(list), list);
  // the check before an answer is made
  assert.ok(allowsState('"s-other"', state));
  for (const name of ['"s.j.2"', '"s.j-1.2"', '"s.j-1-x.2"']) assert.not(allowsState(name, state));
});

const NEWEST = `${LIST}?page_size=1&ordering=-created_at`;

function ask(sequence: string, path = NEWEST): Promise<Reply> {
  return service.get(path, { headers: { 'Waypost-At-Least': sequence } });
}

function newestOf(reply: Reply): unknown {
  return reply.json<Envelope>().results[0]!['comment'];
}

test('a sequence that is served is answered at once, a later one is waited for', async () => {
  const first = await post(service, 'first');
  assert.is(newestOf(await ask(`${first}`)), 'first');
  assert.is((await ask('0')).status, 200);
  const waiting = ask(`${first + 1}`);
  const tile = ask(`${first + 1}`, '/tiles/points/0/0/0.mvt');
  assert.is(await post(service, 'second'), first + 1);
  assert.is(newestOf(await waiting), 'second');
  assert.is((await tile).status, (await service.get('/tiles/points/0/0/0.mvt')).status);
});

test('a sequence that does not come in a second gets 503, an invalid one 400', async () => {
  const reply = await ask('999999999999999');
  assert.equal([reply.status, reply.headers['retry-after']], [503, '1']);
  assert.match(reply.text, /not there yet: the last post served is \d+, and 999999999999999 was/);
  for (const text of ['', '-1', '1.0', 'x', '1, 2', '1'.repeat(16)]) {
    const { status, text: said } = await ask(text);
    assert.is(status, 400, text);
    assert.match(said, /Got Waypost-At-Least .*such as 17/);
  }
});

test('256 requests may wait until a sequence comes; more are refused at once', async () => {
  const delta = createDelta({ rows: 1, bytes: 1_000 });
  const generation = { delta } as Generation;
  const atLeast = createAtLeast({ generation } as Current);
  const request = { headers: { 'waypost-at-least': '1' } } as unknown as IncomingMessage;
  const waiting = Array.from({ length: 256 }, () => atLeast(request));
  const { status, message } = (await failure(atLeast(request)!)) as HttpError;
  assert.is(status, 503);
  assert.match(message, /256 requests wait/);
  appendToDelta(delta, acceptedOf(scatterNotes(1, 1), 1));
  await Promise.all(waiting);
  assert.is(atLeast(request), undefined);
});

test.run();
