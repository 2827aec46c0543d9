import fc from 'fast-check';
import { PARSERS } from '../../../src/formats/rows/reader.js';
import { MAX_RAW_BYTES } from '../../../src/formats/rows/row.js';
import { brokenBy, feature, foundIn, outcomes, rowsOf, valuesOf } from '../../support/rows.js';
import { assert, rounds, test } from '../../support/uvu.js';

/** Why the document is broken, in one chunk and in small ones. */
function broken(content: string | Uint8Array, size = 7): Promise<string> {
  return brokenBy(PARSERS.json, content, size);
}

const values = (content: string): Promise<unknown[]> => valuesOf(PARSERS.json, content);

test('the records of an array, an envelope and a collection', async () => {
  const odd = [{ a: [{ b: [] }] }, {}, [], [1], 5, 'x', null, true, { results: [1] }];
  assert.equal(await values(JSON.stringify(odd)), odd);
  assert.equal(await values(JSON.stringify({ name: { results: [1] }, results: odd })), odd);
  assert.equal(await values('{"x":"results","results":[1],"features":null,"y":[2]}'), [1]);
  assert.equal(await values('[{"a":1,"a":2,"\\u00e9":"\\ud83d\\ude00\\ud800"}]'), [
    { a: 2, é: '😀\ud800' },
  ]);
});

test('a feature becomes a record, one that is no point a problem', async () => {
  const point = feature({ id: 5, lat: '1.5', lon: '2', comment: 'x' });
  const features: unknown[] = [
    point,
    { ...point, id: 9 },
    { ...point, id: 9, properties: { lat: 7, lon: 8, tags: ['a'] } },
    { ...point, id: 9, properties: null },
    { ...point, geometry: { type: 'Point', coordinates: [2, 1.5, 100] } },
    { ...point, geometry: { type: 'LineString', coordinates: [[1, 2]] } },
    { ...point, geometry: null },
    { ...point, geometry: { type: 'Point', coordinates: [] } },
    { ...point, geometry: { type: 'Point' } },
    { ...point, properties: [1] },
    { ...point, type: 'Point' },
    5,
  ];
  const rows = await rowsOf(PARSERS.json, JSON.stringify({ type: 'FeatureCollection', features }));
  assert.equal(outcomes(rows), [
    ...['1: ok', '2: ok', '3: ok', '4: ok', '5: ok'],
    ...['6: geometry: must be a Point, got "LineString"', '7: geometry: must be a Point, got none'],
    '8: geometry: must have coordinates: longitude, latitude',
    '9: geometry: must have coordinates: longitude, latitude',
    ...['10: properties: must be an object', '11: record: must be a GeoJSON Feature'],
    '12: record: must be a GeoJSON Feature',
  ]);
  const place = { lat: 1.5, lon: 2 };
  const [five, nine] = [
    { id: 5, ...place, comment: 'x' },
    { id: 9, ...place },
  ];
  assert.equal(rows.slice(0, 5).map(foundIn), [five, five, { ...nine, tags: ['a'] }, nine, five]);
});

test('a document that is broken, cut short or no list of records is refused, with its place', async () => {
  const latin1 = Buffer.from('["a","\xe9\xe9\xe9\xe9"]', 'latin1');
  const none = /^a JSON document must be an array of records, an object with a list "results"/;
  const cases: [content: string | Uint8Array, reason: RegExp][] = [
    ['[{"id":1},{"id":x}]', /^broken at byte 16, in or behind record 2: Unexpected "x"$/],
    ['[{"id":1},]', /^broken at byte 10, in or behind record 2: Unexpected/],
    ['[{"id":1} {"id":2}]', /^broken at byte 10, in or behind record 1: /],
    ['[{"id":1}]]', /^broken at byte 10, in or behind record 2/],
    ['{"results":[1,2]}x', /^broken at byte 17, in or behind record 3/],
    ['[{"id" 1}]', /^broken at byte 7, in or behind record 1/],
    ['[{"é€😀\\u00e9\\n":1,}]', /^broken at byte 24, in or behind record 1/],
    ['[{"a":"\n"}]', /^broken at byte 7,/],
    ['[01]', /^broken at byte 2,/],
    ['[1}', /^broken at byte 2, in or behind record 1/],
    ['{"a" 1,"results":[]}', /^broken at byte 5, in or behind record 1/],
    ['{"results":[1, 2],"a":01}', /^broken at byte 23, in or behind record 3/],
    [latin1, /record 2: it is not valid UTF-8; save the file as UTF-8$/],
    ['{}', none],
    ['{"id":1}', none],
    ['{"results":{"a":1}}', none],
    ['{"results":null}', none],
    ['{"a":{"results":[1]}}', none],
    ['{"features":[]}', /needs a "type" of "FeatureCollection"/],
    ['{"type":"Topology","features":[]}', /needs a "type"/],
    ['{"results":[1],"features":[2]}', /record 2: it has a second list of records/],
    ['{"results":[],"results":[2]}', /it has a second list of records, "results"/],
  ];
  for (const [content, reason] of cases) assert.match(await broken(content), reason);
  assert.ok((await broken(`[1 "${'x'.repeat(1e6)}"]`, 4_096)).length < 200);
  const whole = JSON.stringify({ count: 1, results: [{ id: 1, tags: ['ä'] }, { id: 2 }], x: 1 });
  const bytes = Buffer.from(whole);
  for (let length = 1; length < bytes.length; length++) {
    const reason = `^the JSON document is cut short: it ends at byte ${length}, inside or behind`;
    assert.match(await broken(bytes.subarray(0, length)), new RegExp(reason));
  }
});

test('what stands beside the records and is too long is refused before it takes memory', async () => {
  const long = 'x'.repeat(MAX_RAW_BYTES + 70_000);
  const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;
  const cases: [content: string, reason: RegExp][] = [
    [`[1,"${long}`, /^the JSON document is cut short: it ends at byte \d+/],
    [
      `{"name":"${long}${long}","results":[]}`,
      new RegExp(`beside its records is longer than ${MAX_RAW_BYTES} bytes$`),
    ],
    // nor does a list that is never filled
    ['['.repeat(1e6), /^the JSON document is cut short/],
    [`{"a":${'['.repeat(1e6)}`, /^the JSON document is cut short/],
  ];
  for (const [content, reason] of cases) assert.match(await broken(content, 4_096), reason);
  // white space between records takes no memory
  assert.is((await rowsOf(PARSERS.json, `[1,${' '.repeat(MAX_RAW_BYTES)}{}]`)).length, 2);
  const type = `{"type":"Feature","geometry":{"type":${deep}}}`;
  const collection = `{"type":"FeatureCollection","name":${deep},"features":[${type}]}`;
  assert.match(await broken(`{"next":${deep},"results":[]}`), /it has a next page, \[\[/);
  const found = outcomes(await rowsOf(PARSERS.json, collection));
  assert.match(String(found), /must be a Point, got \[\[/);
});

test('a record that is too long is a problem of its own', async () => {
  const long = 'x'.repeat(MAX_RAW_BYTES);
  const texts = [`{"a":"${long}${long}"}`, `[${'{},'.repeat(MAX_RAW_BYTES)}1]`, '1'.repeat(3e6)];
  for (const text of texts) {
    const content = `{"results":[1,${text},{"b":"\\""}]}`;
    for (const size of [1_000_000, 999]) {
      assert.equal(outcomes(await rowsOf(PARSERS.json, content, size)), [
        '1: ok',
        `2: record: is longer than ${MAX_RAW_BYTES} bytes`,
        '3: ok',
      ]);
    }
  }
  // a quote that is missing must not pass a stretch of records off as one that is too long
  const records = '{"id":1,"comment":"x"},'.repeat(MAX_RAW_BYTES / 16);
  assert.match(await broken(`[{"id":1,"comment":"x},${records}1]`), /^broken at byte 2\d, in or/);
});

test('a record is read or refused as JSON.parse does', async () => {
  const pieces = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"a"', '"', '\\', '"\\u00e9\\""', '0', '-', '1.5e+3', '.'],
    ...['true', 'null', 'nul', ' ', '\n', 'é', '{"a":[1,{"b":2}]}', '[[],{}]', '"\\x"', '\t'],
  );
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), run),
    { numRuns: rounds(5000) },
  );
  assert.ok(read > 100, `only ${read} were JSON`);

  async function run(parts: readonly string[], size: number): Promise<void> {
    const text = `[${parts.join('')}]`;
    let expected: unknown[] | undefined;
    try {
      expected = JSON.parse(text) as unknown[];
      read++;
    } catch {
      const message = await broken(text);
      assert.match(message, /^broken at byte \d+, in or behind record \d+: \w|cut short/);
      return;
    }
    assert.equal(await valuesOf(PARSERS.json, text, size), expected);
  }
});

test('a page of a longer list is told from a whole one', async () => {
  const pageOf = async (content: unknown): Promise<string | undefined> => {
    try {
      await valuesOf(PARSERS.json, JSON.stringify(content), 50);
      return undefined;
    } catch (error) {
      const { message } = error as Error;
      const why = /^is a page of a longer list: (.*); fetch all of it$/.exec(message);
      assert.ok(why, message);
      return why![1];
    }
  };
  const next = 'http://x/?page=2';
  const whole = { count: 2, next: null, previous: null, results: [{}, 5] };
  const features = { type: 'FeatureCollection', features: [1], numberReturned: 1 };
  const links = ['x', next].map((href) => ({ rel: href === 'x' ? 'self' : 'next', href }));
  const cases: [content: unknown, why: string | undefined][] = [
    [whole, undefined],
    [[1], undefined],
    [{ count: '2', results: [] }, undefined],
    [{ ...whole, count: 50 }, 'it says that there are 50 records, and has 2'],
    [{ results: [1, 2], count: 2, next }, 'it has a next page, "http://x/?page=2"'],
    [{ ...features, numberMatched: 1, links: [{ rel: 'self' }] }, undefined],
    [{ ...features, numberMatched: 9 }, 'it says that there are 9 records, and has 1'],
    [{ ...features, links }, 'it has a next page, "http://x/?page=2"'],
  ];
  for (const [content, why] of cases) assert.is(await pageOf(content), why);
});

test.run();
