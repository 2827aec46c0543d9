import * as fc from 'fast-check';
import { HttpError, NotFound } from '../../../src/http/request/http-error.js';
import {
  POINTS_PARAMETERS,
  parsePageQuery,
  parsePointsQuery,
} from '../../../src/http/request/list-parameters.js';
import { parseQueryString } from '../../../src/http/request/query-string.js';
import type { Query } from '../../../src/model/query.js';
import { UTC } from '../../../src/model/time-zone.js';
import { CHARACTER, forAll } from '../../support/properties.js';
import { assert, test, thrownBy } from '../../support/uvu.js';

function read(query: string): Query {
  return parsePointsQuery(parseQueryString(query), UTC);
}

const refusal = (query: string): HttpError => thrownBy(HttpError, () => read(query));

/** The text of the only refused parameter. */
function textOf(query: string): string {
  const error = refusal(query);
  assert.is(error.status, 400, query);
  const [[text] = []] = Object.values(error.body as Record<string, string[]>);
  assert.equal(error.body, { [query.slice(0, query.indexOf('='))]: [text] }, query);
  return text!;
}

interface Refused {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** What each text holds, besides the value. */
  readonly says: readonly string[];
}

const MANY = Array.from({ length: 1_001 }, (_, i) => i).join();
const LISTS = ['status', 'tags', 'tags_all', 'created_by'];
const USER = 'is neither none nor a whole number';

const REFUSED: Readonly<Record<string, Refused>> = {
  'what is no time': {
    names: ['created_at_after', 'modified_at_before'],
    values: [
      ...['garbage', '2022-01-01', '2022-01-01T24:00:00Z', '2022-06-30T23:59:60Z', '1640995200'],
      ...['2022-02-30T00:00:00Z', '2022-13-01T00:00:00Z', '%20'],
    ],
    says: ['ISO 8601', 'Example: NAME=2023-0'],
  },
  'what is no box': {
    names: ['bbox'],
    values: ['1,2,3', '1,2,3,4,5', 'a,b,c,d', '1,2,3,', '1,4,3,2', 'nan,nan,nan,nan'],
    says: ['left,bottom,right,top', 'Example: bbox=24.94,60.16,24.96,60.18'],
  },
  'what is no circle': {
    names: ['coordinates'],
    values: [
      ...['60.166,24.951', '60.166,24.951,1000,5', 'a,b,c', '60,24,-5', '60,24,inf', '60,24,nan'],
      ...['90.0001,24,1', '-91,24,1', '60,180.0001,1', '60,-181,1', '1e2,0,5', ',,'],
    ],
    says: ['lat,lon,radius in this order', 'Example: coordinates=60.166,24.951,1000'],
  },
  'coordinates in the other order': {
    names: ['coordinates'],
    values: ['139.7,35.6,1000'],
    says: ['lat, which comes first, is beyond ±90'],
  },
  'what is no polygon': {
    names: ['polygon'],
    values: ['1,2;3,4'],
    says: ['the ring has 2 places', 'three places'],
  },
  'a key that records have not': {
    names: ['fields'],
    values: ['geometry', 'id,Lat', 'id,', ',', 'id;lat', '*'],
    says: ['is_processed, created_by, tags, created_at, modified_at'],
  },
  'what is no flag': {
    names: ['is_processed', 'has_image'],
    values: ['True', '1', 'yes', 'true,false', '%20'],
    says: ['neither true nor false. Expected true or false.', 'Example: NAME='],
  },
  'what is no user': {
    names: ['created_by'],
    values: ['-1', '1.5', '9007199254740992', 'NONE', '1;2', '%20'],
    says: [USER],
  },
  'a list whose last value is empty': { names: LISTS, values: ['1,'], says: ['value 2 is empty'] },
  'a list of nothing': { names: LISTS, values: [','], says: ['value 1 is empty'] },
  'a list of too many': { names: LISTS, values: [MANY], says: ['more than 1000 values'] },
  'an ordering beside the four': {
    names: ['ordering'],
    values: ['id', 'distance', '-', 'CREATED_AT', '--created_at', 'created_at,', '%20'],
    says: ['created_at, -created_at, modified_at or -modified_at'],
  },
  'a size of pages below 1 or no whole number': {
    names: ['page_size'],
    values: ['0', '-5', 'abc', '1.5', '1e2', '%20', '0x10', 'last', 'Infinity'],
    says: ['Expected a whole number from 1; above 1000'],
  },
};

for (const [what, { names, values, says }] of Object.entries(REFUSED)) {
  test(`${what} is refused`, () => {
    for (const name of names) {
      for (const value of values) {
        const text = textOf(`${name}=${value}`);
        const shown = JSON.stringify(decodeURIComponent(value));
        if (value !== MANY) assert.ok(text.startsWith(`Got ${shown}: `), text);
        for (const one of says) assert.match(text, one.replace('NAME', name));
      }
    }
  });
}

test('an error has the value, what is wrong with it, what was expected, and an example', () => {
  assert.is(
    textOf('created_at_after=x'),
    'Got "x": needs a date and a time with an optional offset, such as 2023-05-01T12:00:00Z. ' +
      "Expected an ISO 8601 date and time, with Z, a UTC offset or none for the service's own " +
      'time zone. Example: created_at_after=2023-05-01T00:00:00Z',
  );
  assert.is(
    textOf('created_by=7,Bob'),
    `Got "7,Bob": "Bob" ${USER} up to 2^53 - 1. Expected ids of users, ` +
      'whole numbers from 0 to 2^53 - 1, with commas between them; none stands for points ' +
      'without a user. Example: created_by=148,none',
  );
  const long = textOf(`bbox=${encodeURIComponent('😀'.repeat(1000))}`);
  assert.match(long, `Got "${'😀'.repeat(30)}…": `);
});

test('values of a list are counted over all parameters of the same name', () => {
  const half = MANY.slice(0, MANY.length / 2);
  for (const name of LISTS) {
    assert.match(refusal(`${name}=${half}1&${name}=${MANY}`).message, 'more than 1000 values');
  }
});

test('a page that cannot exist gets 404, an empty value included', () => {
  const bad = [
    ...['0', '-1', '-0', 'abc', '1.0', '1e1', '0x1', '%2B', '%2B%2B2', '2+3', 'LAST', '%20last'],
    ...['', '%20', '1_0', '%D9%A2', '9007199254740992', '9'.repeat(400)],
  ];
  for (const text of bad) {
    const error = refusal(`page=${text}`);
    assert.instance(error, NotFound);
    assert.equal([error.status, error.body], [404, { detail: 'Invalid page.' }], text);
  }
});

test('all wrong parameters are reported at once, before a page that cannot exist', () => {
  const error = refusal('bbox=1&coordinates=2&ordering=3&page_size=x&created_at_after=5&page=0');
  assert.is(error.status, 400);
  assert.equal(Object.keys(error.body).sort(), [
    ...['bbox', 'coordinates', 'created_at_after', 'ordering', 'page_size'],
  ]);
  const refused = (query: string) => () => parsePageQuery(parseQueryString(query));
  assert.is(thrownBy(HttpError, refused('page_size=0&page=0')).status, 400);
  thrownBy(NotFound, refused('page=0'));
});

test('every parameter of the table is checked', () => {
  for (const { name } of POINTS_PARAMETERS) {
    if (name === 'format') continue;
    thrownBy(HttpError, () => parsePointsQuery([{ name, value: '\0' }], UTC));
  }
});

test('nothing but an HttpError is ever thrown', () => {
  const name = fc.oneof(
    fc.constantFrom(...POINTS_PARAMETERS.map((parameter) => parameter.name)),
    fc.string({ maxLength: 5 }),
  );
  const numbers = fc.oneof(fc.double().map(String), fc.string({ maxLength: 3 }));
  const value = fc.oneof(
    fc.string({ unit: CHARACTER, maxLength: 30 }),
    fc.array(numbers, { maxLength: 5 }).map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom('last', 'json', 'created_at', '9'.repeat(400), '%', '1e999', '__proto__'),
  );
  const piece = fc.tuple(name, value).map(([n, v]) => `${n}=${v}`);
  const pieces = fc.array(piece, { maxLength: 6 }).map((list) => list.join('&'));
  forAll(10_000, [fc.oneof(pieces, fc.string({ unit: CHARACTER, maxLength: 60 }))], (query) => {
    try {
      const found = read(Buffer.from(query).toString('latin1'));
      assert.ok(found.pageSize >= 1 && found.pageSize <= 1000);
      assert.ok(found.page === 'last' || (Number.isSafeInteger(found.page) && found.page >= 1));
      assert.ok(found.ordering !== 'distance' || found.filters.circle);
    } catch (error) {
      assert.instance(error, HttpError);
      assert.ok([400, 404].includes((error as HttpError).status));
      JSON.stringify((error as HttpError).body);
    }
  });
});

test.run();
