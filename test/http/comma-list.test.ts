import { Random } from '../../src/cli/generate/random.js';
import { joinList, splitList } from '../../src/http/request/query-string.js';
import type { Filters } from '../../src/model/query.js';
import { type Envelope, LIST } from '../support/client.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { startNotes } from '../support/notes-app.js';
import { Oracle } from '../support/oracle.js';
import { decodeTile } from '../support/tiles.js';
import { assert, test } from '../support/uvu.js';

const ITEMS = '/ogc/collections/points/items';
const CHARACTERS = [',', ',', '\\', '\\', ' ', '"', "'", '+', '&', '%2C', 'a', 'b', 'ä', '🇫🇮'];
/** Parameters of texts, and the filters that they stand for. */
const FILTERS = { tags: 'tags', tags_all: 'tagsAll', status: 'statuses' } as const;

const random = new Random(73, 'point');
const texts = Array.from({ length: 60 }, randomText);
const notes = scatterNotes(73, 300).map(
  (note): Note => ({
    ...note,
    status: random.pick(texts),
    tags: Array.from({ length: 1 + random.int(4) }, () => random.pick(texts)),
  }),
);
const app = await startNotes(notes.slice(0, 200));
app.accept(notes.slice(200));

/** What no record refuses: a text that is not blank. */
function randomText(): string {
  const text = Array.from({ length: 1 + random.int(4) }, () => random.pick(CHARACTERS)).join('');
  return text.trim() === '' ? `${text}a` : text;
}

function countOf({ clusters = [], points = [] }: ReturnType<typeof decodeTile>): number {
  return clusters.reduce((sum, one) => sum + Number(one.properties['point_count']), points.length);
}

test('commas separate, but for those behind a backslash', () => {
  for (const [list, values] of [
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    ['a,,b,', ['a', '', 'b', '']],
    ['a\\,b', ['a,b']],
    ['a\\\\,b', ['a\\', 'b']],
    ['a\\\\\\,b', ['a\\,b']],
    ['\\a\\b\\', ['\\a\\b\\']],
    ['\\,,\\\\', [',', '\\']],
  ] as const) {
    assert.equal(splitList(list), values, list);
  }
});

test('a list is split into the values that it was made of', () => {
  for (let i = 0; i < 1_000; i++) {
    const values = Array.from({ length: 1 + random.int(4) }, randomText);
    assert.equal(splitList(joinList(values)), values);
    const plain = values.join().replaceAll('\\', '');
    assert.equal(splitList(plain), plain.split(','));
  }
});

test('every address finds records by texts with commas and backslashes', async () => {
  const oracle = new Oracle(notes);
  let found = 0;
  for (let i = 0; i < 40; i++) {
    const name = random.pick(Object.keys(FILTERS) as (keyof typeof FILTERS)[]);
    const wanted = Array.from({ length: 1 + random.int(3) }, () => random.pick(texts));
    const filters: Filters = { [FILTERS[name]]: [...new Set(wanted)] };
    const { notes: expected, count } = oracle.find(filters, 'id');
    found += count;

    const cut = random.int(wanted.length + 1);
    const lists = [wanted.slice(0, cut), wanted.slice(cut)].filter((one) => one.length > 0);
    const query = lists.map((one) => `${name}=${encodeURIComponent(joinList(one))}`).join('&');
    const { results } = (await app.get(`${LIST}?${query}&page_size=1000`)).json<Envelope>();
    assert.equal(
      results.map(({ id }) => id),
      expected.map(({ id }) => id),
      query,
    );
    const items = (await app.get(`${ITEMS}?${query}`)).json<{ numberMatched: number }>();
    assert.is(items.numberMatched, count, query);
    const tile = await app.get(`/tiles/0/0/0.mvt?${query}`);
    assert.is(countOf(decodeTile(tile.body)), count, query);
    if (count < 2) continue;
    const { next } = (await app.get(`${LIST}?${query}&page_size=1`)).json<Envelope>();
    const { pathname, search } = new URL(next!);
    const [second] = (await app.get(pathname + search)).json<Envelope>().results;
    assert.is(second!['id'], expected[1]!.id, next!);
  }
  assert.ok(found > 150, String(found));
});

test.run();
