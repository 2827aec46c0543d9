import type { Link } from '../../src/http/formats/representation.js';
import { startNotes } from '../support/app.js';
import { type Envelope, LIST } from '../support/client.js';
import { allItems, checkCollection, checkFeature } from '../support/geojson.js';
import { scatterNotes } from '../support/notes.js';
import { ascending, assert, pluck, test } from '../support/uvu.js';

const OGC = '/ogc/';
const COLLECTION = `${OGC}collections/points`;
const ITEMS = `${COLLECTION}/items`;

const notes = scatterNotes(41, 1_700);
const app = await startNotes(notes.slice(0, 1_500));
/** Notes to post, with ids above those of the snapshot, as the service gives them. */
const posts = notes.slice(1_500).map((note, i) => ({ ...note, id: 1_000_000 + i }));

interface Linked {
  readonly links: readonly Link[];
}

/** The path of an answer's link. */
function linked(answer: Linked, rel: string): string {
  const { pathname, search } = new URL(answer.links.find((link) => link.rel === rel)!.href);
  return pathname + search;
}

/** The only collection, which its own address describes as the list of collections does. */
async function collectionOf(landing: Linked): Promise<Linked> {
  type All = { readonly collections: readonly Linked[] };
  const { collections } = (await app.get(linked(landing, 'data'))).json<All>();
  const collection = (await app.get(linked(collections[0]!, 'self'))).json<Linked>();
  assert.equal(collections, [collection]);
  return collection;
}

/** The Features of the list, which other tests check. */
async function listed(query: string): Promise<unknown[]> {
  const features = [];
  for (let page = 1; ; page++) {
    const path = `${LIST}?${query}&page_size=1000&page=${page}&format=geojson`;
    const { text, status } = await app.get(path);
    if (status === 404) break;
    features.push(...checkCollection(text).features);
  }
  return features.sort((a, b) => a.id - b.id);
}

test('everything can be found by links from the first address', async () => {
  const landing = (await app.get(OGC)).json<Linked>();
  assert.is((await app.get(linked(landing, 'service-doc'))).status, 200);
  const api = (await app.get(linked(landing, 'service-desc'))).json<{ paths: object }>();
  assert.ok(ITEMS in api.paths && `${ITEMS}/{id}` in api.paths);
  assert.equal((await app.get(`${OGC}api`)).json(), api);
  for (const { href, type } of landing.links) {
    const { pathname, search } = new URL(href);
    // some clients use the address without an Accept header
    for (const target of [pathname, pathname + search]) {
      const headers = target === pathname ? { accept: type } : {};
      const answer = await app.get(target, { headers });
      const { 'content-type': found } = answer.headers;
      assert.equal([answer.status, found?.startsWith(type)], [200, true], href);
    }
  }
  // OWSLib looks for the second type, others for the third
  const [type, described] = ['application/vnd.oai.openapi+json', 'service-desc'];
  const types = landing.links.filter(({ rel }) => rel === described).map((link) => link.type);
  assert.equal(types, [`${type};version=3.1`, `${type};version=3.0`, 'application/json']);
  const { conformsTo } = (await app.get(linked(landing, 'conformance'))).json<{
    conformsTo: string[];
  }>();
  assert.ok(conformsTo.every((one) => one.startsWith('http://www.opengis.net/spec/ogcapi-')));
  assert.is(linked(await collectionOf(landing), 'items'), ITEMS);
  for (const rel of ['self', 'data']) assert.is(linked(landing, rel).startsWith(OGC), true);
  assert.is((await app.get('/ogc')).headers.location, OGC);
});

test('the items are the points of the list, by id, whatever the filters', async () => {
  for (const [items, list = items] of [
    [''],
    ['bbox=20,50,30,70'],
    ['bbox=20,50,0,30,70,1000', 'bbox=20,50,30,70'],
    ['bbox=170,-90,-170,90&tags=Lighting,Muu&is_processed=false'],
    ['polygon=0,0;40,0;20,70&status=NEW'],
    ['coordinates=60.17,24.94,200000'],
    ['datetime=2021-03-01T00:00:00Z/..', 'created_at_after=2021-03-01T00:00:00Z'],
    ['datetime=/2021-03-01T00:00:00Z', 'created_at_before=2021-03-01T00:00:00Z'],
    [
      'datetime=2021-01-01T00:00:00Z/2022-01-01T00:00:00Z&created_at_after=2021-06-01T00:00:00Z',
      'created_at_after=2021-06-01T00:00:00Z&created_at_before=2022-01-01T00:00:00Z',
    ],
    ['datetime=../..', ''],
    ['bbox=1,1,1,1'],
  ]) {
    const expected = await listed(list!);
    for (const limit of [97, 5000]) {
      let pages = 0;
      const found = await allItems(app, `${ITEMS}?${items}&limit=${limit}`, (text) => {
        pages++;
        const { numberMatched, links } = checkCollection(text);
        assert.is(numberMatched, expected.length);
        assert.is(new URL(links[0]!.href).pathname, ITEMS);
      });
      assert.equal(found, expected, `${items}, limit ${limit}`);
      assert.is(pages, Math.max(1, Math.ceil(expected.length / Math.min(limit, 1000))));
    }
  }
});

test('datetime may be an instant, or a date, which means its whole day', async () => {
  const { results } = (await app.get(`${LIST}?page_size=1`)).json<Envelope>();
  const created = results[0]!['created_at'] as string;
  const time = encodeURIComponent(created);
  const day = new Date(created).toISOString().slice(0, 10);
  for (const [datetime, from, to] of [
    [time, time, time],
    [day, `${day}T00:00:00Z`, `${day}T23:59:59.999999Z`],
    [`${day}/2099-04-15`, `${day}T00:00:00Z`, '2099-04-15T23:59:59.999999Z'],
    // as GDAL writes it
    [`${day}T/..`, `${day}T00:00:00Z`, '9999-01-01T00:00:00Z'],
    [`${day}/2099-04-15T12:00:00Z`, `${day}T00:00:00Z`, '2099-04-15T12:00:00Z'],
  ]) {
    const found = await allItems(app, `${ITEMS}?datetime=${datetime}`);
    assert.equal(found, await listed(`created_at_after=${from}&created_at_before=${to}`), datetime);
    assert.ok(found.length > 0, datetime);
  }
});

test('the next page has the same filter, of whose values the last counts', async () => {
  const query = 'bbox=24,60,26,62&bbox=0,0,1,1&bbox=24,60,26,62&limit=2&limit=3&limit=2';
  let pages = 0;
  const found = await allItems(app, `${ITEMS}?${query}`, () => void pages++);
  assert.equal(found, await listed('bbox=24,60,26,62'));
  assert.is(pages, Math.ceil(found.length / 2));
});

test('points accepted between pages neither skip nor repeat others', async () => {
  const before = await allItems(app, `${ITEMS}?limit=1000`);
  const extent = await app.get(COLLECTION);
  let pages = 0;
  const found = await allItems(app, `${ITEMS}?limit=250`, (text) => {
    assert.is(checkCollection(text).numberMatched, before.length + pages * 7);
    pages++;
    app.accept(posts.splice(0, 7));
  });
  const own = new Set(before.map(({ id }) => id));
  const kept = found.filter(({ id }) => own.has(id));
  assert.equal(kept, before);
  assert.is(new Set(found.map(({ id }) => id)).size, found.length);
  assert.ok(found.length > before.length);
  assert.equal(await allItems(app, ITEMS), await listed(''));
  const { headers, text: extended } = await app.get(COLLECTION);
  assert.is(headers.etag === extent.headers.etag, extended === extent.text);
});

test('filters of the first address are kept in every link to the items', async () => {
  const filter = 'tags=Lighting&tags=a%5C%2Cb&created_at_after=2020-06-01T00:00:00Z';
  const expected = await listed(filter);
  assert.ok(expected.length > 20);
  const landing = (await app.get(`${OGC}?${filter}`)).json<Linked>();
  assert.equal(await allItems(app, linked(await collectionOf(landing), 'items')), expected);
  for (const path of [OGC, `${OGC}collections`, COLLECTION]) {
    for (const query of ['tags=a,,b', 'bbox=1,2,3,4', 'bbox=x', 'limit=1']) {
      assert.is((await app.get(`${path}?${query}`)).status, 400, query);
    }
  }
  assert.is((await app.get(`${OGC}conformance?${filter}`)).status, 400);
});

test('parameters that a client adds to each link are not repeated', async () => {
  const own = 'limit=1&status=NEW';
  let path = `${ITEMS}?${own}`;
  const lengths = new Set<number>();
  for (let page = 0; page < 3; page++) {
    const next = linked((await app.get(path)).json<Linked>(), 'next');
    lengths.add(next.replace(/after=\d+/, '').length);
    path = `${next}&${own}`;
  }
  assert.is(lengths.size, 1);
});

test('a new snapshot between pages neither skips nor repeats notes of both', async () => {
  const mixed = scatterNotes(43, 900).toSorted((a, b) => a.id - b.id);
  const [gone, both, added] = [0, 1, 2].map((part) => mixed.filter((_, i) => i % 3 === part));
  const own = await startNotes([...gone!, ...both!]);
  let pages = 0;
  const found = await allItems(own, `${ITEMS}?limit=100`, async () => {
    if (++pages === 3) await own.replace([...both!, ...added!]);
  });
  const ids = found.map(({ id }) => id);
  assert.equal(ids, ascending(new Set(ids)));
  const kept = new Set(both!.map(({ id }) => id));
  const same = ids.filter((id) => kept.has(id));
  assert.equal(same, pluck(both!, 'id'));
  const late = added!.filter(({ id }) => id > ids[299]!).map(({ id }) => id);
  const behind = ids.slice(300).filter((id) => !kept.has(id));
  assert.equal(behind, late);
});

test('an item is a Feature with links, and an unknown id gets 404', async () => {
  const [first] = await allItems(app, `${ITEMS}?limit=1000`);
  const { text } = await app.get(`${ITEMS}/${first!.id}`);
  const { links, ...feature } = JSON.parse(text) as Linked & object;
  assert.equal(checkFeature(feature), first);
  assert.is(linked({ links }, 'self'), `${ITEMS}/${first!.id}`);
  assert.is(linked({ links }, 'collection'), COLLECTION);
  const some = (await app.get(`${ITEMS}/${first!.id}?fields=status`)).json<{
    properties: object;
  }>();
  assert.equal(Object.keys(some.properties), ['status']);
  for (const id of ['999999999', 'x', '0']) {
    const { status, text } = await app.get(`${ITEMS}/${id}`);
    assert.equal([status, text], [404, '{"detail":"Not found."}']);
  }
});

test('media types are announced and negotiated as at every address', async () => {
  for (const path of [OGC, `${OGC}conformance`, `${OGC}collections`, COLLECTION, ITEMS]) {
    const got = await app.get(path);
    const type = path === ITEMS ? 'application/geo+json' : 'application/json';
    assert.equal([got.status, got.headers['content-type']], [200, type]);
    const headers = { 'if-none-match': got.headers.etag };
    assert.is((await app.get(path, { headers })).status, 304);
    assert.is((await app.get(path, { method: 'OPTIONS' })).status, 200);
    assert.is((await app.get(path, { headers: { accept: 'image/png' } })).status, 406);
    const json = await app.get(path, { headers: { accept: 'application/json' } });
    assert.equal([json.status, json.headers['content-type']], [200, type]);
    for (const name of ['f', 'format']) {
      assert.is((await app.get(`${path}?${name}=json`)).status, 200);
      assert.ok((await app.get(`${path}?${name}=xml`)).status >= 400);
    }
  }
});

test('a bad or unknown parameter is an error', async () => {
  for (const query of [
    ...['limit=0', 'limit=x', 'after=-1', 'polygon=1,2', 'fields=x', 'page=2', 'constructor=1'],
    ...['bbox=1,2,3', 'bbox=1,2,3,4,5,6,7', 'bbox=1,9,3,4,5,6', 'bbox=1,2,x,4,5,6'],
    ...['bbox=1,2,3,4,5,', 'datetime=2021', 'datetime=2021-02-30', 'datetime=../../..'],
    ...['datetime=2021-03-01/2021-02-28', 'datetime=..', 'datetime=T/T'],
    ...['datetime=2021-03-01T/..T', 'datetime=2021-01-01T00:00:00Z/2020-01-01T00:00:00Z'],
  ]) {
    const { status, text } = await app.get(`${ITEMS}?${query}`);
    const [name] = query.split('=');
    assert.equal([status, Object.keys(JSON.parse(text))], [400, [name]], `${query}: ${text}`);
  }
  assert.match((await app.get(`${ITEMS}?datetime=2021-05`)).text, /Got \\"2021-05\\": is no date/);
  assert.is((await app.get(`${COLLECTION}?datetime=..`)).status, 400);
  assert.is((await app.get(`${ITEMS}/1?bbox=1,2,3,4`)).status, 400);
  assert.is((await app.get(`${OGC}collections/others`)).status, 404);
  // QGIS asks here with all parameters of the address that it was given
  assert.is((await app.get(`${OGC}api?tags=Lighting`)).status, 200);
});

test.run();
