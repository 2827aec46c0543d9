import { Random } from '../../../src/cli/generate/random.js';
import {
  PAGE_PARAMETERS,
  POINTS_PARAMETERS,
  parsePageQuery,
  parsePointsQuery,
} from '../../../src/http/request/list-parameters.js';
import { parseDecimals } from '../../../src/http/request/parameter.js';
import { parseQueryString } from '../../../src/http/request/query-string.js';
import type { Filters, Ordering, Query } from '../../../src/model/query.js';
import { openTimeZone, UTC } from '../../../src/model/time-zone.js';
import { assert, pluck, test } from '../../support/uvu.js';

function read(query: string): Query {
  const { filters, ...others } = parsePointsQuery(parseQueryString(query), UTC);
  return { ...said(others), filters: said(filters) };
}

/** A copy without undefined members. */
function said<Wanted extends object>(wanted: Wanted): Wanted {
  return Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  ) as Wanted;
}

const micros = (iso: string): number => Date.parse(iso) * 1000;
const from = (iso: string) => ({ after: micros(iso), before: Number.POSITIVE_INFINITY });

const NOTHING: Query = { filters: {}, ordering: 'id', page: 1, pageSize: 100 };
const NAMES = pluck(POINTS_PARAMETERS, 'name').filter((name) => name !== 'page');
const ONE = [{ west: 1, south: 2, east: 3, north: 4 }];
const BOX = [{ west: 24.95, south: 60.165, east: 24.96, north: 60.175 }];
const CIRCLE = { lat: 60.166, lon: 24.951, radius: 1000 };
const MANY = Array.from({ length: 1_000 }, (_, i) => i);

/** Each case: a query, and its filters. */
const FILTERS: Readonly<Record<string, readonly (readonly [query: string, wanted: Filters])[]>> = {
  'an empty value counts as absent': [
    [NAMES.map((name) => `${name}=`).join('&'), {}],
    [NAMES.join('&'), {}],
    ['foo=bar&BBOX=x&Page=0&bbox[]=1', {}],
  ],
  'of a repeated parameter the last counts': [
    ['bbox=x&bbox=', {}],
    ['bbox=x&bbox=1,2,3,4', { boxes: ONE }],
    ['is_processed=x&is_processed=false', { isProcessed: false }],
    ['is_processed=true&is_processed=', {}],
  ],
  'times: one end or both, with and without an offset': [
    ['created_at_after=2023-05-01T12:00:00Z', { createdAt: from('2023-05-01T12:00:00Z') }],
    // an unescaped + arrives as a space
    ['created_at_after=2023-05-01T12:00:00+02:00', { createdAt: from('2023-05-01T10:00:00Z') }],
    ['created_at_after=2023-05-01T12:00:00%2B02:00', { createdAt: from('2023-05-01T10:00:00Z') }],
    [
      'modified_at_before=2023-05-01T12:00:00Z',
      { modifiedAt: { after: Number.NEGATIVE_INFINITY, before: micros('2023-05-01T12:00:00Z') } },
    ],
    [
      'created_at_after=2023-01-01T00:00&created_at_before=2023-01-02%2000:00:00.5' +
        '&modified_at_after=2023-01-03t00:00:00z&modified_at_before=2023-01-04T00:00:00%2B0200',
      {
        createdAt: { after: micros('2023-01-01T00:00Z'), before: micros('2023-01-02T00:00:00.5Z') },
        modifiedAt: { after: micros('2023-01-03T00:00Z'), before: micros('2023-01-03T22:00Z') },
      },
    ],
  ],
  'a box: left, bottom, right, top': [
    ['bbox=24.95,60.165,24.96,60.175', { boxes: BOX }],
    ['bbox=24.95%2C+60.165%2C%2024.96,60.175', { boxes: BOX }],
  ],
  'a circle: latitude first, metres last': [
    ['coordinates=60.166,24.951,1000', { circle: CIRCLE }],
    ['coordinates=%2060.166,+24.951,+1e3', { circle: CIRCLE }],
    ['coordinates=90,0,0', { circle: { lat: 90, lon: 0, radius: 0 } }],
    ['coordinates=-90,0,0', { circle: { lat: -90, lon: 0, radius: 0 } }],
    ['coordinates=0,180,0', { circle: { lat: 0, lon: 180, radius: 0 } }],
    ['coordinates=0,-180,0', { circle: { lat: 0, lon: -180, radius: 0 } }],
  ],
  'attributes: lists with commas, repeated ones add up, each value once': [
    ['status=NEW', { statuses: ['NEW'] }],
    ['status=NEW,OPEN&status=&status=OPEN,%20x%2Cy', { statuses: ['NEW', 'OPEN', ' x', 'y'] }],
    ['tags=Muu+2&tags_all=a,b&tags_all=c', { tags: ['Muu 2'], tagsAll: ['a', 'b', 'c'] }],
    [
      'created_by=148,none,+0&created_by=9007199254740991,148',
      { createdBy: [148, undefined, 0, 9007199254740991] },
    ],
    [`created_by=${MANY},5,${MANY}`, { createdBy: MANY }],
    ['is_processed=true&has_image=%20false', { isProcessed: true, hasImage: false }],
  ],
};

for (const [name, cases] of Object.entries(FILTERS)) {
  test(name, () => {
    for (const [query, filters] of cases) {
      const ordering = filters.circle === undefined ? 'id' : 'distance';
      assert.equal(read(query), { ...NOTHING, filters, ordering }, query);
    }
  });
}

test('times without an offset are in the zone of the service', async () => {
  const pairs = parseQueryString('created_at_after=2023-05-01T12:00:00');
  const query = parsePointsQuery(pairs, await openTimeZone('Europe/Helsinki'));
  assert.is(query.filters.createdAt?.after, micros('2023-05-01T09:00:00Z'));
});

test('an order, a page and its size', () => {
  const circle = { lat: 1, lon: 2, radius: 3 };
  for (const name of ['created_at', '-created_at', 'modified_at', '-modified_at']) {
    const ordering = name as Ordering;
    assert.equal(read(`ordering=%20${name}`), { ...NOTHING, ordering });
    const both = `ordering=${name}&coordinates=1,2,3`;
    assert.equal(read(both), { ...NOTHING, filters: { circle }, ordering });
  }
  const [most, many] = ['9007199254740991', '9'.repeat(400)];
  const pages = { 1: 1, 2: 2, '%202': 2, '2%20': 2, '%2B2': 2, '007': 7, last: 'last' };
  for (const [text, page] of Object.entries({ ...pages, [most]: 2 ** 53 - 1, '2&page=3': 3 })) {
    assert.equal(read(`page=${text}`), { ...NOTHING, page }, text);
  }
  const sizes = { 1: 1, 999: 999, 1000: 1000, 1001: 1000, 5000: 1000, '%20%2B7%20': 7 };
  for (const [text, pageSize] of Object.entries({ ...sizes, [many]: 1000, 'x&page_size=3': 3 })) {
    assert.equal(read(`page_size=${text}`), { ...NOTHING, pageSize }, text);
  }
});

test('notifications accept only parameters of pages', () => {
  const pairs = parseQueryString('page=2&page_size=5&format=api&bbox=x&ordering=x');
  assert.equal(parsePageQuery(pairs), { page: 2, pageSize: 5 });
  assert.equal(parsePageQuery([]), { page: 1, pageSize: 100 });
});

test('the examples of the table are accepted', () => {
  assert.is(POINTS_PARAMETERS.length, 18);
  for (const { name, example } of POINTS_PARAMETERS) {
    // `format` is read elsewhere, for every address
    if (name === 'format') continue;
    assert.not.equal(read(`${name}=${encodeURIComponent(example)}`), NOTHING, name);
  }
  const names = pluck(POINTS_PARAMETERS, 'name');
  for (const { name } of PAGE_PARAMETERS) assert.ok(names.includes(name), name);
});

const NO_DECIMALS = [
  ...['', '.', 'a', '0x1', '1e999', 'Infinity', 'nan', '1.2.3', '--1', '1_0', '1 0', '1e', 'e1'],
  ...['१', '1;2'],
];

test('decimals: plain ones, long ones, invalid ones, too few, too many', () => {
  const [long, large] = ['0.1234567890123456789', '9007199254740993'];
  const cases: [text: string, count: number, found: ReturnType<typeof parseDecimals>][] = [
    ['60.17,-24.94,1000', 3, [60.17, -24.94, 1000]],
    ['.5,5.,-.5,-0', 4, [0.5, 5, -0.5, 0]],
    [' 1 , +2 ,\t3e2,.4e1\n', 4, [1, 2, 300, 4]],
    ['1.,2.5E+0,04', 3, [1, 2.5, 4]],
    [`${long},${large}`, 2, [Number(long), Number(large)]],
    ...NO_DECIMALS.map((text): [string, number, string] => {
      return [`1,${text},1`, 3, 'b is no finite decimal number'];
    }),
    ['1-', 1, 'a is no finite decimal number'],
    ['1,2', 3, 'needs three numbers, has 2'],
    ['1,2,3,', 3, 'needs three numbers, has more'],
    ['1,2,3,4,5', 4, 'needs four numbers, has more'],
    ['', 4, 'needs four numbers, has 1'],
  ];
  const names = ['a', 'b', 'c', 'd'];
  for (const [text, count, found] of cases) {
    assert.equal(parseDecimals(text, names.slice(0, count)), found, text);
  }
  assert.ok(Object.is(parseDecimals('-0.0', ['a'])[0], 0));
});

test('any decimal becomes the nearest double, like by Number', () => {
  const random = new Random(5, 'point');
  for (let round = 0; round < 20_000; round++) {
    const digits = Array.from({ length: 1 + random.int(17) }, () => random.int(10)).join('');
    const point = random.int(digits.length + 1);
    const dotted = `${digits.slice(0, point)}.${digits.slice(point)}`;
    const text = random.pick(['', '-']) + random.pick([digits, dotted]);
    const [found] = parseDecimals(`${text},1`, ['a', 'b']);
    assert.ok(Object.is(found, Number(text) + 0), `${text}: ${found}`);
  }
});

test.run();
