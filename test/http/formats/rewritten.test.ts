import { Random } from '../../../src/cli/generate/random.js';
import {
  createProjection,
  isStored,
  rendered,
  renderedLength,
  SHORT_HEAD_BYTES,
  storePoint,
} from '../../../src/formats/record-layout.js';
import { createFeatureWriter, FEATURE_ROOM, GEOJSON } from '../../../src/http/formats/features.js';
import { JSON_FORMAT } from '../../../src/http/formats/json-format.js';
import { FRESH_MEMORY, type Page, pointRecords } from '../../../src/http/formats/representation.js';
import type { Dataset } from '../../../src/index/dataset.js';
import { PageRoom } from '../../../src/index/record-page.js';
import { allocateRecords, stretchOf } from '../../../src/index/records.js';
import { type Point, RECORD_KEYS, type RecordKey, renderPoint } from '../../../src/model/point.js';
import { Meter } from '../../support/engine.js';
import { checkCollection, checkFeature } from '../../support/geojson.js';
import { point } from '../../support/native.js';
import { assert, test } from '../../support/uvu.js';

const random = new Random(20_260_101, 'point');

/** Texts that look like the ends and beginnings of members. */
const TRAPS: readonly string[] = [
  ...['"', '\\', '\\"', '"}', '","image":"x', '","lat":"1.00000000","lon":"2.00000000'],
  ...['"],"created_at":"2024-01-01T00:00:00.000000+00:00', '[', ']', '{', '}', ',', ':', '\n'],
  ...['\u0001', 'ä', '漢字', '😀', '\ud800', ' ', 'plain words'],
];

function text(most: number): string {
  return Array.from({ length: random.int(most + 1) }, () => TRAPS[random.int(TRAPS.length)]!).join(
    '',
  );
}

function anyPoint(): Point {
  const degrees = (limit: number): string =>
    random.chance(0.2) ? String(random.int(3) - 1) : ((random.next() * 2 - 1) * limit).toFixed(8);
  const tag = (): string => `${random.pick(['t', 'b', 'c', 'i'])}${text(1)}`;
  return point({
    id: random.chance(0.1) ? Number.MAX_SAFE_INTEGER : 1 + random.int(1e9),
    lat: degrees(90),
    lon: degrees(180),
    created_at: '2024-02-29T12:00:00+02:00',
    comment: text(8),
    ...(random.chance(0.5) ? { status: `S${text(3)}` } : {}),
    ...(random.chance(0.5) ? { image: `/media/${text(3)}` } : {}),
    ...(random.chance(0.5) ? { is_processed: true } : {}),
    ...(random.chance(0.5) ? { created_by: random.int(1000) } : {}),
    ...(random.chance(0.5) ? { tags: Array.from({ length: 1 + random.int(3) }, tag) } : {}),
  });
}

const POINTS = Array.from({ length: 2_000 }, anyPoint);
const RECORDS = POINTS.map((point) => ({ json: renderPoint(point), stored: storePoint(point) }));

function someKeys(): RecordKey[] {
  const share = random.next();
  return RECORD_KEYS.filter(() => random.chance(share));
}

/** The expected result, by parsing. */
function pick(json: string, keys: readonly RecordKey[]): Record<string, unknown> {
  const all = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(keys.filter((key) => key in all).map((key) => [key, all[key]]));
}

test('a projected record is, byte for byte, what parsing and picking gives', () => {
  for (const { json, stored } of RECORDS) {
    const keys = someKeys();
    // exactly the size of the record
    const target = new Uint8Array(renderedLength(stored));
    assert.is(target.length, Buffer.byteLength(json));
    assert.is(rendered(stored).toString(), json);
    const end = createProjection(keys)(stored, target, 0);
    assert.is(Buffer.from(target.subarray(0, end)).toString(), JSON.stringify(pick(json, keys)));
  }
});

test('a Feature has id, place and properties of its record', () => {
  for (const { json, stored } of RECORDS) {
    const keys = random.chance(0.3) ? undefined : someKeys();
    const target = new Uint8Array(renderedLength(stored) + FEATURE_ROOM);
    const end = createFeatureWriter(keys)(stored, target, 0);
    const feature = checkFeature(JSON.parse(Buffer.from(target.subarray(0, end)).toString()));
    const { id, lat, lon } = JSON.parse(json) as Record<string, unknown>;
    const others = (keys ?? RECORD_KEYS).filter((key) => !['lat', 'lon'].includes(key));
    assert.is(feature.id, id);
    assert.equal(feature.geometry.coordinates, [Number(lon), Number(lat)]);
    assert.is(JSON.stringify(feature.properties), JSON.stringify(pick(json, others)));
  }
});

test('values that are not JSON do no harm', () => {
  const write = [createProjection(RECORD_KEYS), createProjection(['tags']), createFeatureWriter()];
  for (const { stored } of RECORDS) {
    const bytes = Buffer.from(stored);
    for (let i = 0; i < 3; i++) {
      const at = SHORT_HEAD_BYTES + random.int(bytes.length - SHORT_HEAD_BYTES);
      bytes[at] = random.int(256);
    }
    assert.ok(isStored(bytes, 0, bytes.length));
    const target = new Uint8Array(renderedLength(bytes) + FEATURE_ROOM);
    for (const one of write) {
      const end = one(bytes, target, 0);
      assert.ok(end > 0 && end <= target.length, `${end} of ${target.length}`);
    }
  }
});

function pageOf(count: number, keys?: readonly RecordKey[]): Page {
  const all = allocateRecords(Uint32Array.from(RECORDS, ({ stored }) => stored.length));
  for (const [row, { stored }] of RECORDS.entries()) stretchOf(all, row, row + 1)[0]!.set(stored);
  const dataset = { records: all, count: RECORDS.length } as Dataset;
  const found = { rows: [...RECORDS.keys()], length: count, delta: undefined };
  const records = pointRecords(dataset, found, new PageRoom());
  const links = () => ({ next: 'http://x/?a=b%22&page=3', previous: 'http://x/?a=b%22' });
  const pairs = [
    { name: 'page', value: '2' },
    { name: 'a', value: 'b"' },
  ];
  const list = { count: 9_999, links, base: 'http://x/', pairs, page: 2, pageCount: 100 };
  return { title: '', list, records, keys };
}

function encode(format: typeof GEOJSON, page: Page): [cost: number, body: string] {
  const budget = new Meter(1e6);
  const exchange = { target: '', snapshot: '', headers: {}, memory: FRESH_MEMORY, budget };
  const body = format.encode!(page, exchange).toString();
  return [budget.cost, body];
}

test('a page is encoded, and charged for', () => {
  const keys = ['id', 'tags', 'comment'] as const;
  for (const count of [0, 1, 2, 100, 1_000]) {
    const page = pageOf(count, keys);
    const [cost, body] = encode(JSON_FORMAT, page);
    assert.ok(cost >= 4 * (page.records.size - count), `${count}: ${cost}`);
    const expected = RECORDS.slice(0, count).map(({ json }) => pick(json, keys));
    const { results } = JSON.parse(body) as { results: unknown };
    assert.is(JSON.stringify(results), JSON.stringify(expected));
    const texts = expected.map((one) => JSON.stringify(one));
    assert.equal(page.records.json(page.keys), texts);
    const [geojsonCost, geojson] = encode(GEOJSON, pageOf(count));
    assert.is(geojsonCost, cost);
    const { features, links, numberMatched } = checkCollection(geojson);
    assert.equal([features.length, numberMatched], [count, 9_999]);
    assert.equal(
      links.map(({ rel, href }) => [rel, href]),
      [
        ['self', 'http://x/?a=b%22&page=2'],
        ['next', 'http://x/?a=b%22&page=3'],
        ['prev', 'http://x/?a=b%22'],
      ],
    );
  }
});

test.run();
