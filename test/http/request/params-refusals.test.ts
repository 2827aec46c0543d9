import * as fc from 'fast-check';
import { HttpError, NotFound, ParameterErrors } from '../../../src/http/request/http-error.js';
import {
  POINTS_PARAMETERS,
  parsePageQuery,
  parsePointsQuery,
} from '../../../src/http/request/list-parameters.js';
import { parseQueryString } from '../../../src/http/request/query-string.js';
import type { Query } from '../../../src/model/query.js';
import { UTC } from '../../../src/model/time-zone.js';
import { CHARACTER } from '../../support/characters.js';
import { assert, rounds, test, thrownBy } from '../../support/uvu.js';

function read(query: string): Query {
  return parsePointsQuery(parseQueryString(query), UTC);
}

/** The error that reading the query ends in. */
const refusal = (query: string): HttpError => thrownBy(HttpError, () => read(query));

/** The texts of the one parameter that is refused. */
function texts(query: string): string {
  const error = refusal(query);
  assert.instance(error, ParameterErrors, query);
  const entries = Object.entries(error.body as Record<string, string[]>);
  assert.is(entries.length, 1, query);
  assert.is(entries[0]![0], query.slice(0, query.indexOf('=')));
  assert.is(entries[0]![1].length, 1);
  return entries[0]![1][0]!;
}

test('what is no time is refused', () => {
  const bad = [
    ...['garbage', '2022-01-01', '2022-01-01T24:00:00Z', '2022-06-30T23:59:60Z', '1640995200'],
  ];
  for (const value of [...bad, '2022-02-30T00:00:00Z', '2022-13-01T00:00:00Z', '%20']) {
    for (const name of ['created_at_after', 'modified_at_before']) {
      const text = texts(`${name}=${value}`);
      assert.match(text, JSON.stringify(decodeURIComponent(value)));
      assert.match(text, 'ISO 8601');
      assert.match(text, `Example: ${name}=2023-0`);
    }
  }
  assert.is(
    texts('created_at_after=x'),
    'Got "x": needs a date and a time with an optional offset, such as 2023-05-01T12:00:00Z. ' +
      "Expected an ISO 8601 date and time, with Z, a UTC offset or none for the service's own " +
      'time zone. Example: created_at_after=2023-05-01T00:00:00Z',
  );
});

test('bbox that is none is refused', () => {
  for (const value of ['1,2,3', '1,2,3,4,5', 'a,b,c,d', '1,2,3,', '1,4,3,2', 'nan,nan,nan,nan']) {
    const text = texts(`bbox=${value}`);
    assert.match(text, `Got "${value}": `);
    assert.match(text, 'left,bottom,right,top');
    assert.match(text, 'Example: bbox=24.94,60.16,24.96,60.18');
  }
});

test('attributes that cannot be used are refused', () => {
  for (const value of ['True', '1', 'yes', 'true,false', '%20']) {
    assert.match(texts(`is_processed=${value}`), 'neither true nor false. Expected true or false.');
    assert.match(texts(`has_image=${value}`), 'Example: has_image=true');
  }
  assert.is(
    texts('created_by=7,Bob'),
    'Got "7,Bob": "Bob" is neither none nor a whole number up to 2^53 - 1. Expected ids of users, ' +
      'whole numbers from 0 to 2^53 - 1, with commas between them; none stands for points ' +
      'without a user. Example: created_by=148,none',
  );
  for (const value of ['-1', '1.5', '9007199254740992', 'NONE', '1;2', '%20']) {
    assert.match(texts(`created_by=${value}`), 'is neither none nor a whole number');
  }
  for (const name of ['status', 'tags', 'tags_all', 'created_by']) {
    assert.match(texts(`${name}=1,`), 'value 2 is empty');
    assert.match(texts(`${name}=,`), 'value 1 is empty');
    const many = Array.from({ length: 1_001 }, (_, i) => i).join();
    assert.match(texts(`${name}=${many}`), 'more than 1000 values');
    const half = many.slice(0, many.length / 2);
    assert.match(refusal(`${name}=${half}1&${name}=${many}`).message, 'more than 1000 values');
  }
});

test('coordinates that are none are refused, and the order is said', () => {
  const bad = [
    ...['60.166,24.951', '60.166,24.951,1000,5', 'a,b,c', '60,24,-5', '60,24,inf', '60,24,nan'],
  ];
  for (const value of [
    ...bad,
    '90.0001,24,1',
    '-91,24,1',
    '60,180.0001,1',
    '60,-181,1',
    '1e2,0,5',
    ',,',
  ]) {
    const text = texts(`coordinates=${value}`);
    assert.match(text, `Got "${value}": `);
    assert.match(text, 'lat,lon,radius in this order');
    assert.match(text, 'Example: coordinates=60.166,24.951,1000');
  }
  assert.match(texts('coordinates=139.7,35.6,1000'), 'lat, which comes first, is beyond ±90');
});

test('an ordering beside the four is refused', () => {
  for (const value of ['id', 'distance', '-', 'CREATED_AT', '--created_at', 'created_at,', '%20']) {
    assert.match(
      texts(`ordering=${value}`),
      'created_at, -created_at, modified_at or -modified_at',
    );
  }
});

test('a page that cannot exist is not found, an empty one included', () => {
  const bad = [
    ...['0', '-1', '-0', 'abc', '1.0', '1e1', '0x1', '%2B', '%2B%2B2', '2+3', 'LAST', '%20last'],
  ];
  for (const text of [...bad, '', '%20', '1_0', '%D9%A2', '9007199254740992', '9'.repeat(400)]) {
    const error = refusal(`page=${text}`);
    assert.instance(error, NotFound);
    assert.is(error.status, 404);
    assert.equal(error.body, { detail: 'Invalid page.' });
  }
});

test('page_size below 1 or no whole number is refused', () => {
  for (const text of ['0', '-5', 'abc', '1.5', '1e2', '%20', '0x10', 'last', 'Infinity']) {
    assert.match(texts(`page_size=${text}`), 'Expected a whole number from 1; above 1000');
  }
});

test('all wrong parameters are named at once', () => {
  const error = refusal('bbox=1&coordinates=2&ordering=3&page_size=x&created_at_after=5&page=1');
  assert.is(error.status, 400);
  assert.equal(Object.keys(error.body).sort(), [
    ...['bbox', 'coordinates', 'created_at_after', 'ordering', 'page_size'],
  ]);
});

test('the parameters come first, then the page', () => {
  assert.is(refusal('bbox=1&page=0').status, 400);
  assert.equal(refusal('page=0&foo').body, { detail: 'Invalid page.' });
});

test('a long value is shown cut', () => {
  const text = texts(`bbox=${encodeURIComponent('😀'.repeat(1000))}`);
  assert.match(text, `Got "${'😀'.repeat(30)}…": `);
});

test('the notifications refuse in the same way', () => {
  const refused = (query: string) => () => parsePageQuery(parseQueryString(query));
  assert.throws(refused('page_size=0&page=0'), (e: unknown) => e instanceof ParameterErrors);
  assert.throws(refused('page=0'), (e: unknown) => e instanceof NotFound);
});

test('every parameter of the table is looked at', () => {
  for (const { name } of POINTS_PARAMETERS.filter((one) => one.name !== 'format')) {
    const wrong = [{ name, value: '\0' }];
    assert.throws(
      () => parsePointsQuery(wrong, UTC),
      (e: unknown) => e instanceof HttpError,
      name,
    );
  }
});

test('nothing but an HttpError is ever thrown', () => {
  const name = fc.oneof(
    fc.constantFrom(...POINTS_PARAMETERS.map((parameter) => parameter.name)),
    fc.string({ maxLength: 5 }),
  );
  const value = fc.oneof(
    fc.string({ unit: CHARACTER, maxLength: 30 }),
    fc
      .array(fc.oneof(fc.double().map(String), fc.string({ maxLength: 3 })), { maxLength: 5 })
      .map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom('last', 'json', 'created_at', '9'.repeat(400), '%', '1e999', '__proto__'),
  );
  const piece = fc.tuple(name, value).map(([n, v]) => `${n}=${v}`);
  const pieces = fc.array(piece, { maxLength: 6 }).map((list) => list.join('&'));
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: CHARACTER, maxLength: 60 })), (query) => {
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
    }),
    { numRuns: rounds(10_000) },
  );
});

test.run();
