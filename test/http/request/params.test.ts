import { Random } from '../../../src/cli/generate/random.js';
import {
  PAGE_PARAMETERS,
  POINTS_PARAMETERS,
  parsePageQuery,
  parsePointsQuery,
} from '../../../src/http/request/list-parameters.js';
import { parseDecimals } from '../../../src/http/request/parameter.js';
import { parseQueryString } from '../../../src/http/request/query-string.js';
import type { Filters, Query } from '../../../src/model/query.js';
import { openTimeZone, UTC } from '../../../src/model/time-zone.js';
import { assert, test } from '../../support/uvu.js';

function read(query: string): Query {
  const { filters, ...others } = parsePointsQuery(parseQueryString(query), UTC);
  return { ...said(others), filters: said(filters) };
}

/** What is not undefined. */
function said<Wanted extends object>(wanted: Wanted): Wanted {
  return Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  ) as Wanted;
}

function filters(query: string): Filters {
  return read(query).filters;
}

const micros = (iso: string): number => Date.parse(iso) * 1000;

test('nothing asked for', () => {
  const query = { filters: {}, ordering: 'id', page: 1, pageSize: 100 };
  assert.equal(read(''), query);
  assert.equal(read('foo=bar&BBOX=x&Page=0&bbox[]=1'), query);
});

test('an empty value counts as absent', () => {
  const names = POINTS_PARAMETERS.map((parameter) => parameter.name).filter((n) => n !== 'page');
  assert.equal(read(names.map((name) => `${name}=`).join('&')), read(''));
  assert.equal(read(names.join('&')), read(''));
});

test('of a repeated parameter the last counts', () => {
  assert.is(read('page=2&page=3').page, 3);
  assert.is(read('page_size=x&page_size=3').pageSize, 3);
  assert.equal(filters('bbox=x&bbox='), {});
  assert.equal(filters('bbox=x&bbox=1,2,3,4').boxes, [{ west: 1, south: 2, east: 3, north: 4 }]);
});

test('times: one end or both, with and without an offset', () => {
  assert.equal(filters('created_at_after=2023-05-01T12:00:00Z'), {
    createdAt: { after: micros('2023-05-01T12:00:00Z'), before: Number.POSITIVE_INFINITY },
  });
  assert.equal(filters('modified_at_before=2023-05-01T12:00:00Z'), {
    modifiedAt: { after: Number.NEGATIVE_INFINITY, before: micros('2023-05-01T12:00:00Z') },
  });
  const four =
    'created_at_after=2023-01-01T00:00&created_at_before=2023-01-02%2000:00:00.5' +
    '&modified_at_after=2023-01-03t00:00:00z&modified_at_before=2023-01-04T00:00:00%2B0200';
  assert.equal(filters(four), {
    createdAt: { after: micros('2023-01-01T00:00Z'), before: micros('2023-01-02T00:00:00.5Z') },
    modifiedAt: { after: micros('2023-01-03T00:00Z'), before: micros('2023-01-03T22:00Z') },
  });
  // a + that nobody escaped arrives as a space
  assert.equal(
    filters('created_at_after=2023-05-01T12:00:00+02:00'),
    filters('created_at_after=2023-05-01T12:00:00%2B02:00'),
  );
});

test('times without an offset stand in the zone of the service', async () => {
  const pairs = parseQueryString('created_at_after=2023-05-01T12:00:00');
  const query = parsePointsQuery(pairs, await openTimeZone('Europe/Helsinki'));
  assert.is(query.filters.createdAt?.after, micros('2023-05-01T09:00:00Z'));
});

test('bbox', () => {
  const box = { west: 24.95, south: 60.165, east: 24.96, north: 60.175 };
  assert.equal(filters('bbox=24.95,60.165,24.96,60.175'), { boxes: [box] });
  assert.equal(filters('bbox=24.95%2C+60.165%2C%2024.96,60.175'), { boxes: [box] });
  assert.is(filters('bbox=179,-20,-179,-10').boxes?.length, 2);
});

test('attributes: lists with commas, repeated ones add up, each value once', () => {
  assert.equal(filters('status=NEW'), { statuses: ['NEW'] });
  assert.equal(filters('status=NEW,OPEN&status=&status=OPEN,%20x%2Cy'), {
    statuses: ['NEW', 'OPEN', ' x', 'y'],
  });
  assert.equal(filters('tags=Muu+2&tags_all=a,b&tags_all=c'), {
    tags: ['Muu 2'],
    tagsAll: ['a', 'b', 'c'],
  });
  assert.equal(filters('created_by=148,none,+0&created_by=9007199254740991,148'), {
    createdBy: [148, undefined, 0, 9007199254740991],
  });
  const most = Array.from({ length: 1_000 }, (_, i) => i);
  assert.equal(filters(`created_by=${most},5,${most}`).createdBy, most);
});

test('attributes: flags, of which the last counts', () => {
  assert.equal(filters('is_processed=true&has_image=%20false'), {
    isProcessed: true,
    hasImage: false,
  });
  assert.equal(filters('is_processed=x&is_processed=false'), { isProcessed: false });
  assert.equal(filters('is_processed=true&is_processed='), {});
});

test('coordinates: latitude first, metres last', () => {
  const circle = { lat: 60.166, lon: 24.951, radius: 1000 };
  assert.equal(read('coordinates=60.166,24.951,1000'), {
    filters: { circle },
    ordering: 'distance',
    page: 1,
    pageSize: 100,
  });
  assert.equal(filters('coordinates=%2060.166,+24.951,+1e3').circle, circle);
  for (const rim of ['90,0', '-90,0', '0,180', '0,-180']) {
    const [lat, lon] = rim.split(',').map(Number);
    assert.equal(filters(`coordinates=${rim},0`).circle, { lat, lon, radius: 0 });
  }
});

test('ordering', () => {
  for (const ordering of ['created_at', '-created_at', 'modified_at', '-modified_at']) {
    assert.is(read(`ordering=${ordering}`).ordering, ordering);
    assert.is(read(`ordering=${ordering}&coordinates=1,2,3`).ordering, ordering);
    assert.is(read(`ordering=%20${ordering}`).ordering, ordering);
  }
  assert.is(read('ordering=&coordinates=1,2,3').ordering, 'distance');
});

test('page and page_size', () => {
  const [most, many] = ['9007199254740991', '9'.repeat(400)];
  const pages = { 1: 1, 2: 2, '%202': 2, '2%20': 2, '%2B2': 2, '007': 7, last: 'last' };
  for (const [text, page] of Object.entries({ ...pages, [most]: Number.MAX_SAFE_INTEGER })) {
    assert.is(read(`page=${text}`).page, page);
  }
  const sizes = { 1: 1, 999: 999, 1000: 1000, 1001: 1000, 5000: 1000, '%20%2B7%20': 7 };
  for (const [text, size] of Object.entries({ ...sizes, [many]: 1000 })) {
    assert.is(read(`page_size=${text}`).pageSize, size);
  }
});

test('the notifications know pages only', () => {
  const pairs = parseQueryString('page=2&page_size=5&format=api&bbox=x&ordering=x');
  assert.equal(parsePageQuery(pairs), { page: 2, pageSize: 5 });
  assert.equal(parsePageQuery([]), { page: 1, pageSize: 100 });
});

test('the examples of the table are accepted', () => {
  assert.is(POINTS_PARAMETERS.length, 18);
  for (const { name, example } of POINTS_PARAMETERS) {
    // the format is read elsewhere, since every address has it
    if (name === 'format') continue;
    assert.not.equal(read(`${name}=${encodeURIComponent(example)}`), read(''), name);
  }
  const names = POINTS_PARAMETERS.map(({ name }) => name);
  for (const { name } of PAGE_PARAMETERS) assert.ok(names.includes(name), name);
});

const SEED = 5;

const NAMES = ['a', 'b', 'c', 'd'];

test('plain numbers', () => {
  assert.equal(parseDecimals('60.17,-24.94,1000', NAMES.slice(0, 3)), [60.17, -24.94, 1000]);
  assert.equal(parseDecimals('.5,5.,-.5,-0', NAMES), [0.5, 5, -0.5, 0]);
  assert.ok(Object.is(parseDecimals('-0.0', NAMES.slice(0, 1))[0], 0));
});

test('numbers that take a closer look', () => {
  assert.equal(parseDecimals(' 1 ,+2,3e2', NAMES.slice(0, 3)), [1, 2, 300]);
  const [long, large] = ['0.1234567890123456789', '9007199254740993'];
  assert.equal(parseDecimals(`${long},${large}`, NAMES.slice(0, 2)), [Number(long), Number(large)]);
});

test('what is no number, one by one', () => {
  assert.equal(parseDecimals('1,,3', NAMES.slice(0, 3)), 'b is no finite decimal number');
  assert.equal(parseDecimals('1,.,-', NAMES.slice(0, 3)), 'b is no finite decimal number');
  for (const text of ['0x1', '1e999', 'Infinity', '1.2.3', '--1', '1-']) {
    assert.is(parseDecimals(text, ['a']), 'a is no finite decimal number', text);
  }
});

test('more or fewer numbers', () => {
  assert.is(parseDecimals('1,2', NAMES.slice(0, 3)), 'needs three numbers, has 2');
  assert.is(parseDecimals('1,2,3,', NAMES.slice(0, 3)), 'needs three numbers, has more');
  assert.is(parseDecimals('1,2,3,4,5', NAMES), 'needs four numbers, has more');
  assert.is(parseDecimals('', NAMES), 'needs four numbers, has 1');
});

test('the double nearest to any decimal, as Number has it', () => {
  const random = new Random(SEED, 'point');
  for (let round = 0; round < 20_000; round++) {
    const digits = Array.from({ length: 1 + random.int(17) }, () => random.int(10)).join('');
    const point = random.int(digits.length + 1);
    const dotted = `${digits.slice(0, point)}.${digits.slice(point)}`;
    const text = random.pick(['', '-']) + random.pick([digits, dotted]);
    assert.equal(parseDecimals(`${text},1`, NAMES.slice(0, 2)), [Number(text) + 0, 1], text);
  }
});

test.run();
