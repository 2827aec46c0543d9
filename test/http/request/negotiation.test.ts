import * as fc from 'fast-check';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../../../src/http/formats/json-format.js';
import { PAGE_OFFER } from '../../../src/http/pages/page-format.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import { Negotiation } from '../../../src/http/request/negotiation.js';
import { forAll } from '../../support/properties.js';
import { assert, pluck, test, thrownBy } from '../../support/uvu.js';

const negotiation = new Negotiation([JSON_FORMAT, { ...PAGE_OFFER, name: 'html' }]);
const accepted = negotiation.accepted.bind(negotiation);
const named = (value: string): { readonly name: string } =>
  negotiation.chosen([{ name: 'format', value }], 'text/html');

/** Asks twice, because the second answer comes from a cache. */
function choose(accept: string | undefined): string | number {
  const ask = (): string | number => {
    try {
      return accepted(accept).name;
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      assert.equal(error.body, { detail: 'Could not satisfy the request Accept header.' });
      return error.status;
    }
  };
  const first = ask();
  assert.is(ask(), first);
  return first;
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9';

const CHOICES: Readonly<Record<string, readonly [chosen: string | number, accepts: string[]]>> = {
  'JSON where nothing else is asked for': [
    'json',
    [
      ...['', ' ', '*/*', 'application/json', 'application/*', 'APPLICATION/JSON'],
      ...['application/json, text/plain, */*', 'image/avif,image/webp,*/*;q=0.8'],
    ],
  ],
  'HTML where it is preferred': [
    'html',
    ['text/html', 'text/*', `${BROWSER},*/*;q=0.8`, `${BROWSER},image/avif,*/*;q=0.8`],
  ],
  'HTML by its weight': ['html', ['application/json;q=0.5,text/html', '*/*, application/json;q=0']],
  'JSON by its weight': [
    'json',
    [
      ...['application/json; q=0.5 , text/html; q=0.4', 'text/html;q=0.1, */*;q=0.2'],
      'text/html;Q=0.3, application/json;Q=0.7',
    ],
  ],
  'JSON whatever the other parameters of a range': [
    'json',
    [
      ...['application/json; charset=utf-8', 'application/json;indent=4'],
      'application/json; version=1.0, text/html;q=0.9',
      'text/html;charset=utf-8;q=0.3,application/json; charset=utf-8; q=0.7',
    ],
  ],
  'HTML whatever the other parameters of a range': [
    'html',
    ['text/html;level=1;q=0.9, application/json;charset="a,;b";q=0.8'],
  ],
  '406 where nothing satisfies': [
    406,
    [
      ...['application/xml', 'application/msgpack', 'garbage', 'text/html;q=0', '*/*;q=0', ','],
      ...['application/json;q=0, image/png', '"', '/', ';'],
    ],
  ],
  'only the first of thousands of ranges': ['html', [`${'a/b,'.repeat(255)}text/html`]],
  'no other of thousands of ranges': [406, [`${'a/b,'.repeat(256)}text/html`]],
};

test('a format is chosen by what a client accepts', () => {
  assert.is(choose(undefined), 'json');
  for (const [what, [chosen, accepts]] of Object.entries(CHOICES)) {
    for (const accept of accepts) assert.is(choose(accept), chosen, `${what}: ${accept}`);
  }
});

test('a version parameter must match the version of the type', () => {
  const type = 'application/vnd.oai.openapi+json';
  const versions = new Negotiation([JSON_FORMAT, OPENAPI, OPENAPI_30]);
  const accepted = versions.accepted.bind(versions);
  const nameOf = (accept: string): string => accepted(accept).name;
  assert.is(nameOf(`${type};version=3.0`), 'openapi30');
  assert.is(nameOf(`${type}; VERSION="3.0", application/json;q=0.5`), 'openapi30');
  assert.is(nameOf(`${type};version=3.1;charset=utf-8`), 'openapi');
  assert.is(nameOf(type), 'openapi');
  assert.is(nameOf(`${type};version=2.0, application/json;version=2.0`), 'json');
  const isRefused = (error: HttpError) => error.status === 406;
  assert.throws(() => nameOf(`${type};version=2.0`), isRefused);
  // as GDAL asks
  const alternative = 'application/openapi+json;version=3.0';
  assert.is(nameOf(`${type};version=3.0, ${alternative}, application/json`), 'openapi30');
});

test('the format parameter names a format, an empty one none, and an unknown one gets 404', () => {
  assert.equal(pluck(['json', 'api', ''].map(named), 'name'), ['json', 'html', 'html']);
  for (const text of ['xml', 'JSON', 'html', ' json', 'geojson', '__proto__']) {
    const { status, body } = thrownBy(HttpError, () => named(text));
    const detail = `There is no format "${text}" here; the formats are json, api.`;
    assert.equal([status, body], [404, { detail }]);
  }
  const { detail } = thrownBy(HttpError, () => named('x'.repeat(10_000))).body as {
    detail: string;
  };
  assert.ok(detail.length < 200);
});

test('any header gets an answer or a 406, long ones included', () => {
  const common = ['application/json', 'text/html', '*/*', ';q=', '0.5', '1', ',', ';', '"', '\\'];
  const piece = fc.oneof(fc.constantFrom(...common, '='), fc.string({ maxLength: 4 }));
  forAll(5000, [fc.array(piece, { maxLength: 12 })], (pieces) => {
    assert.ok(['json', 'html', 406].includes(choose(pieces.join(''))));
  });
  for (const part of [';a="\\', ';q', '; ', 'a/b;', '"', '*/*,', ';a="b"']) {
    const start = performance.now();
    choose(part.repeat(16_384 / part.length));
    assert.ok(performance.now() - start < 1000, part);
  }
});

test.run();
