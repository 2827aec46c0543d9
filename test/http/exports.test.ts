import type { SlowLane } from '../../src/http/answer/question.js';
import { exportEnded } from '../../src/http/request/http-error.js';
import { startNotes } from '../support/app.js';
import { exchange, LIST, type Listed, listAll } from '../support/client.js';
import { startDeserted } from '../support/deserted.js';
import { linesOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { assert, pluck, test } from '../support/uvu.js';

const notes = scatterNotes(23, 1_500);
const app = await startNotes(notes.slice(0, 1_200));
app.accept(notes.slice(1_200, 1_300));
const PATH = '/export/points.ndjson';

async function exported(path: string): Promise<Listed[]> {
  const { status, body } = await app.get(path);
  assert.is(status, 200, path);
  return linesOf(body).map((line) => JSON.parse(line));
}

test('an export has the records of all pages of the list', async () => {
  for (const query of [
    'ordering=-modified_at',
    'ordering=created_at&status=NEW,OPEN&fields=id,created_at',
    'ordering=-created_at&bbox=-180,-90,180,70&tags=Lighting',
    'ordering=modified_at&polygon=0,0;90,0;90,80;0,80&is_processed=false',
  ]) {
    assert.equal(await exported(`${PATH}?${query}`), await listAll(app, query), query);
  }
  for (const query of ['', 'coordinates=60.17,24.94,90000', 'created_by=none&has_image=false']) {
    const found = await exported(`${PATH}?${query}`);
    assert.equal(pluck(found, 'id').sort(), pluck(await listAll(app, query), 'id').sort(), query);
  }
});

test('a record of CSV without values is no blank line', async () => {
  for (const key of ['tags', 'created_by', 'image']) {
    const records = await exported(`${PATH}?fields=${key}`);
    const { body } = await app.get(`/export/points.csv?fields=${key}`);
    const [header, ...lines] = body.toString().trimEnd().split('\n');
    assert.equal([header, lines.length], [key, records.length]);
    const empty = lines.filter((line) => line === '""').length;
    assert.is(empty, records.filter((record) => Object.keys(record).length === 0).length, key);
    assert.ok(empty > 100 && !lines.includes(''), key);
  }
});

test('pages of a list link to the export of the same points', async () => {
  const query = 'bbox=-180,-90,180,70&fields=id&status=NEW';
  assert.is((await app.get(`${LIST}?${query}`)).headers['link'], undefined);
  const all = pluck(await listAll(app, query), 'id').sort();
  for (const page of ['2', 'last']) {
    const { headers } = await app.get(`${LIST}?page=${page}&page_size=5&${query}&format=json`);
    const [, stream] = /^<([^>]+)>; rel="alternate"; type="application\/x-ndjson"$/.exec(
      String(headers['link']),
    )!;
    const { pathname, search } = new URL(stream!);
    assert.is(pathname, PATH);
    assert.equal(pluck(await exported(pathname + search), 'id').sort(), all);
  }
});

test('the head names state, file and type; HEAD has the same, and no body', async () => {
  const { headers, body } = await app.get(PATH);
  const list = await app.get(LIST);
  assert.is(headers['waypost-snapshot'], list.headers['waypost-snapshot']);
  assert.is(headers['content-type'], 'application/x-ndjson');
  assert.is(headers['content-disposition'], 'attachment; filename="points.ndjson"');
  assert.is(headers['transfer-encoding'], 'chunked');
  assert.ok(body.length > 100_000);
  const head = await app.get(PATH, { method: 'HEAD' });
  assert.equal([head.status, head.body.length], [200, 0]);
  for (const name of ['etag', 'waypost-snapshot', 'content-type', 'content-disposition', 'allow']) {
    assert.is(head.headers[name], headers[name], name);
  }
});

test('a client that has the export gets 304, and 412 where it wants another state', async () => {
  const { etag } = (await app.get(PATH)).headers;
  const known = await app.get(PATH, { headers: { 'If-None-Match': etag } });
  assert.equal([known.status, known.body.length], [304, 0]);
  const other = await app.get(PATH, { headers: { 'If-Match': '"another"' } });
  assert.is(other.status, 412);
  app.accept(notes.slice(1_300, 1_301));
  const later = await app.get(PATH, { headers: { 'If-None-Match': etag } });
  assert.equal([later.status, linesOf(later.body).length], [200, 1_301]);
});

test('bad parameters are refused before anything is sent', async () => {
  for (const [query, key] of [
    ['bbox=1', 'bbox'],
    ['ordering=id', 'ordering'],
    ['fields=nothing', 'fields'],
    ['created_at_after=~&status=a,,b', 'status'],
  ]) {
    const { status, json, headers } = await app.get(`${PATH}?${query}`);
    assert.is(status, 400, query);
    assert.ok(key! in json<object>(), query);
    assert.is(headers['content-disposition'], undefined);
  }
  for (const name of ['points.xml', 'points', '', 'points.ndjson/']) {
    assert.is((await app.get(`/export/${name}`)).status, 404, name);
  }
  const options = await app.get(PATH, { method: 'OPTIONS' });
  assert.equal(options.json<{ renders: string[] }>().renders[0], 'application/x-ndjson');
});

test('the page of a list links to exports of what it shows', async () => {
  const query = 'bbox=24%2C60%2C25%2C61&ordering=-created_at';
  const { text } = await app.get(`${LIST}?${query}&page_size=2&page=2&format=api`);
  const links = [...text.matchAll(/href="(\/export\/[^"]+)" download/g)].map(([, link]) => link!);
  const names = links.map((link) => /^\/export\/points\.(\w+)\?/.exec(link)?.[1]);
  assert.equal(names, ['ndjson', 'geojson', 'geojsonl', 'csv', 'msgpack', 'parquet']);
  assert.is(links[0], `${PATH}?${query.replace('&', '&amp;')}`);
  assert.is((await app.get(links[5]!.replace('&amp;', '&'))).status, 200);
});

test('an export whose client left while it waited for a post is not begun', async () => {
  let steps = 0;
  const step = async (): Promise<never> => {
    steps++;
    throw exportEnded();
  };
  const slowLane = { step } as Partial<SlowLane> as SlowLane;
  const deserted = await startDeserted(`GET ${PATH} HTTP/1.1`, '', { slowLane });
  assert.is(steps, 0);
  assert.is((await deserted.get(PATH)).status, 503);
  assert.is(steps, 1);
});

test('consecutive exports of a connection are whole, also over HTTP/1.0', async () => {
  const request = (path: string, end: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\n${end}\r\n`;
  const both = await exchange(
    app.port,
    request(`${PATH}?ordering=created_at`, '') + request(PATH, 'Connection: close\r\n'),
  );
  const ends = both.split('\r\n0\r\n\r\n');
  const whole = ends.map((text) => text.startsWith('HTTP/1.1 200 OK'));
  assert.equal(whole, [true, true, false]);
  const plain = await exchange(app.port, `GET ${PATH} HTTP/1.0\r\n\r\n`);
  const { body } = await app.get(PATH);
  assert.ok(Buffer.from(plain, 'latin1').subarray(-body.length).equals(body));
});

test.run();
