import * as fc from 'fast-check';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../../../src/http/formats/json-format.js';
import { PAGE_OFFER } from '../../../src/http/pages/page-format.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import { Negotiation } from '../../../src/http/request/negotiation.js';
import { assert, rounds, test, thrownBy } from '../../support/uvu.js';

const negotiation = new Negotiation([JSON_FORMAT, { ...PAGE_OFFER, name: 'html' }]);
const accepted = negotiation.accepted.bind(negotiation);
const named = negotiation.named.bind(negotiation);

/** Asks twice: the second answer comes from memory. */
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

test('JSON where nothing else is asked for', () => {
  for (const accept of [undefined, '', ' ', '*/*', 'application/json', 'application/*']) {
    assert.is(choose(accept), 'json', String(accept));
  }
  assert.is(choose('application/json, text/plain, */*'), 'json');
  assert.is(choose('image/avif,image/webp,*/*;q=0.8'), 'json');
  assert.is(choose('APPLICATION/JSON'), 'json');
});

test('HTML where it is preferred', () => {
  assert.is(choose('text/html'), 'html');
  assert.is(choose('text/*'), 'html');
  assert.is(choose('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'), 'html');
  assert.is(
    choose('text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'),
    'html',
  );
});

test('weights are honoured', () => {
  assert.is(choose('application/json;q=0.5,text/html'), 'html');
  assert.is(choose('application/json; q=0.5 , text/html; q=0.4'), 'json');
  assert.is(choose('text/html;q=0.1, */*;q=0.2'), 'json');
  assert.is(choose('*/*, application/json;q=0'), 'html');
  assert.is(choose('text/html;Q=0.3, application/json;Q=0.7'), 'json');
});

test('other parameters of a media range are no demands', () => {
  assert.is(choose('application/json; charset=utf-8'), 'json');
  assert.is(choose('application/json;indent=4'), 'json');
  assert.is(choose('application/json; version=1.0, text/html;q=0.9'), 'json');
  assert.is(choose('text/html;level=1;q=0.9, application/json;charset="a,;b";q=0.8'), 'html');
  assert.is(choose('text/html;charset=utf-8;q=0.3,application/json; charset=utf-8; q=0.7'), 'json');
});

test('the version of a type that has some is a demand', () => {
  const type = 'application/vnd.oai.openapi+json';
  const versions = new Negotiation([JSON_FORMAT, OPENAPI, OPENAPI_30]);
  const accepted = versions.accepted.bind(versions);
  const nameOf = (accept: string): string => accepted(accept).name;
  assert.is(nameOf(`${type};version=3.0`), 'openapi30');
  assert.is(nameOf(`${type}; VERSION="3.0", application/json;q=0.5`), 'openapi30');
  assert.is(nameOf(`${type};version=3.1;charset=utf-8`), 'openapi');
  assert.is(nameOf(type), 'openapi');
  assert.is(nameOf(`${type};version=2.0, application/json;version=2.0`), 'json');
  assert.throws(
    () => nameOf(`${type};version=2.0`),
    (error: HttpError) => error.status === 406,
  );
  // as GDAL asks
  const alternative = 'application/openapi+json;version=3.0';
  assert.is(nameOf(`${type};version=3.0, ${alternative}, application/json`), 'openapi30');
});

test('406 where nothing satisfies', () => {
  const none = ['application/xml', 'application/msgpack', 'garbage', 'text/html;q=0', '*/*;q=0'];
  for (const accept of [...none, ',', 'application/json;q=0, image/png', '"', '/', ';']) {
    assert.is(choose(accept), 406, accept);
  }
});

test('the format parameter names a format, or none where it is empty', () => {
  assert.is(named('json')?.name, 'json');
  assert.is(named('api')?.name, 'html');
  assert.is(named(''), undefined);
  assert.is(named(undefined), undefined);
});

test('an unknown format is not found, and the error names those that there are', () => {
  for (const text of ['xml', 'JSON', 'html', ' json', 'geojson', '__proto__']) {
    const error = thrownBy(HttpError, () => named(text));
    assert.is(error.status, 404);
    const detail = `There is no format "${text}" here; the formats are json, api.`;
    assert.equal(error.body, { detail });
  }
  const { detail } = thrownBy(HttpError, () => named('x'.repeat(10_000))).body as {
    detail: string;
  };
  assert.ok(detail.length < 200);
});

test('any header gets an answer or a 406, long ones included', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/html',
      '*/*',
      ';q=',
      '0.5',
      '1',
      ',',
      ';',
      '"',
      '\\',
      '=',
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      assert.ok(['json', 'html', 406].includes(choose(pieces.join(''))));
    }),
    { numRuns: rounds(5000) },
  );
  for (const part of [';a="\\', ';q', '; ', 'a/b;', '"', '*/*,', ';a="b"']) {
    const start = performance.now();
    choose(part.repeat(16_384 / part.length));
    assert.ok(performance.now() - start < 1000, part);
  }
});

test('only the first of thousands of ranges are heeded', () => {
  assert.is(choose(`${'a/b,'.repeat(255)}text/html`), 'html');
  assert.is(choose(`${'a/b,'.repeat(256)}text/html`), 406);
});

test.run();
