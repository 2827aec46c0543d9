import { startNotes } from '../support/app.js';
import { type Envelope, LIST } from '../support/client.js';
import { checkCollection, checkFeature, type PointFeature } from '../support/geojson.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const service = await startNotes(scatterNotes(47, 400), { answerCacheBytes: 2 ** 20 });

const GEOJSON = 'application/geo+json';

type PlainRecord = Readonly<Record<string, unknown>>;

/** The record in a Feature. */
function recordOf({ id, geometry, properties }: PointFeature): PlainRecord {
  const [lon, lat] = geometry.coordinates;
  return { id, lat: lat.toFixed(8), lon: lon.toFixed(8), ...properties };
}

test('the list as GeoJSON has the points of the list, page by page', async () => {
  for (const query of [
    'page_size=1000',
    'bbox=20,50,30,70&ordering=-created_at',
    'page_size=7&page=2',
  ]) {
    const json = (await service.get(`${LIST}?${query}`)).json<Envelope>();
    const { status, headers, text } = await service.get(`${LIST}?${query}&format=geojson`);
    assert.equal([status, headers['content-type']], [200, GEOJSON]);
    const { features, links, numberMatched } = checkCollection(text);
    assert.is(numberMatched, json.count);
    assert.equal(features.map(recordOf), json.results);
    for (const [rel, href] of Object.entries({ next: json.next, prev: json.previous })) {
      const link = links.find((one) => one.rel === rel);
      assert.is(link === undefined, href === null, rel);
      if (link === undefined) continue;
      const { pathname, search } = new URL(link.href);
      assert.ok(search.includes('format=geojson'));
      assert.ok(checkCollection((await service.get(pathname + search)).text).features.length > 0);
    }
    const self = new URL(links.find(({ rel }) => rel === 'self')!.href);
    assert.is((await service.get(self.pathname + self.search)).text, text);
  }
});

test('a point alone is a Feature', async () => {
  const record = (await service.get(`${LIST}7/`)).json<PlainRecord>();
  const { text } = await service.get(`${LIST}7/`, { headers: { accept: GEOJSON } });
  assert.equal(recordOf(checkFeature(JSON.parse(text))), record);
});

test('GeoJSON is negotiated like any format', async () => {
  for (const path of [LIST, `${LIST}7/`]) {
    const got = await service.get(path, {
      headers: { accept: `${GEOJSON}, application/json;q=0.5` },
    });
    assert.equal([got.headers['content-type'], got.headers.vary], [GEOJSON, 'Accept']);
    assert.match(got.headers.etag!, /-geojson-/);
    // the default stays JSON
    const any = await service.get(path, { headers: { accept: 'application/*' } });
    assert.is(any.headers['content-type'], 'application/json');
  }
  for (const path of ['/rest/', '/rest/notifications/']) {
    assert.is((await service.get(path, { headers: { accept: GEOJSON } })).status, 406);
    assert.is((await service.get(`${path}?format=geojson`)).status, 404);
  }
});

test('the parameter fields leaves other keys out, in every format', async () => {
  const whole = (await service.get(`${LIST}?page_size=1000`)).json<Envelope>();
  const wanted = ['id', 'lat', 'tags'];
  const expected = whole.results.map((record) =>
    Object.fromEntries(wanted.filter((key) => key in record).map((key) => [key, record[key]])),
  );
  const query = '?page_size=100&fields=tags,%20lat,id,id';
  const got = await service.get(LIST + query);
  const { results, next, count } = got.json<Envelope>();
  // keys stay in the usual order; asked again to cover the kept answer
  assert.is(JSON.stringify(results), JSON.stringify(expected.slice(0, 100)));
  for (let i = 0; i < 2; i++) assert.is((await service.get(LIST + query)).text, got.text);
  assert.is(count, whole.count);
  assert.match(next!, 'fields=tags%2C+lat%2Cid%2Cid');
  assert.is.not(got.headers.etag, (await service.get(`${LIST}?page_size=100`)).headers.etag);

  const geojson = checkCollection((await service.get(`${LIST}${query}&format=geojson`)).text);
  assert.equal(
    geojson.features.map(({ id, properties }) => ({ id, ...properties })),
    expected.slice(0, 100).map(({ lat: _, ...others }) => others),
  );
  const first = expected[0]!;
  assert.equal((await service.get(`${LIST}${first['id']}/?fields=tags,lat,id`)).json(), first);
  const html = await service.get(`${LIST}?page_size=3&fields=id&format=api`);
  assert.is(html.status, 200);
  assert.not.match(html.text, String(whole.results[0]!['created_at']));
});

test('a record by id is, byte for byte, the record of the list; its id may be written otherwise', async () => {
  const { text } = await service.get(`${LIST}?page_size=1000`);
  const { results } = JSON.parse(text) as Envelope;
  const [first, last] = [results[0]!['id'], results.at(-1)!['id']];
  assert.equal([first, last], [1, Number.MAX_SAFE_INTEGER]);
  for (const id of [first, 7, results[200]!['id'], last]) {
    const record = await service.get(`${LIST}${id}/`);
    assert.is(record.status, 200);
    assert.ok(text.includes(record.text), `${id}`);
  }
  const seven = (await service.get(`${LIST}7/`)).text;
  const others = ['?format=json', '?page=99', '?bbox=x', '?', '?&&=', '?fields='];
  for (const path of ['07/', '0000000000000007/', '%37/', ...others.map((query) => `7/${query}`)]) {
    assert.is((await service.get(LIST + path)).text, seven, path);
  }
});

test('an unknown id and one that is not a number get 404', async () => {
  const numbers = ['0', '2', '9007199254740993', '9'.repeat(16), '9'.repeat(90), '1'.repeat(500)];
  const names = [
    ...['', 'abc', '-1', '+1', '1.0', '1e0', '0x1', '1,', '1_000', '%201', '1%20', '%2B1', '%00'],
    ...['%EF%BC%91', 'NaN', 'last', '1%2F', '__proto__', 'constructor'],
  ];
  for (const path of [...[...numbers, ...names].map((id) => `${id}/`), '7/?format=xml']) {
    const { status, text } = await service.get(LIST + path);
    assert.is(status, 404, path);
    if (!path.includes('xml')) assert.is(text, '{"detail":"Not found."}');
  }
});

test('an accepted point is in the GeoJSON of the next request, with the keys that are asked for', async () => {
  const place = { lon: 166.25, lat: -77.5, created: 1.7e15, modified: 1.7e15 };
  service.accept([{ ...place, id: 900_001, comment: 'new "here"', tags: ['ice'] }]);
  const record = (await service.get(`${LIST}900001/`)).json<PlainRecord>();
  const query = `${LIST}?bbox=166.25,-77.5,166.25,-77.5`;
  const { features } = checkCollection((await service.get(`${query}&format=geojson`)).text);
  assert.equal(features.map(recordOf), [record]);
  const { results } = (await service.get(`${query}&fields=tags,comment`)).json<Envelope>();
  assert.equal(results, [{ comment: 'new "here"', tags: ['ice'] }]);
});

test.run();
