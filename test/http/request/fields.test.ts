import {
  POST_TYPES,
  parseFormBody,
  parseJsonBody,
  typeOfBody,
} from '../../../src/http/request/body.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import { MAX_POSTED_BYTES, readDraft } from '../../../src/http/request/post-fields.js';
import { type Draft, renderPoint } from '../../../src/model/point.js';
import { parseTimestamp, type Timestamp } from '../../../src/model/timestamp.js';
import { IMAGES_PATH, safeName } from '../../../src/posts/media/folder.js';
import { assert, test, thrownBy } from '../../support/uvu.js';

const PLACE = { lat: '60.1', lon: 24.9 };

function draftOf(value: unknown) {
  return readDraft({ kind: 'json', value });
}

function problemsOf(value: unknown): Readonly<Record<string, readonly string[]>> {
  const draft = draftOf(value);
  if ('problems' in draft) return draft.problems;
  return assert.unreachable(JSON.stringify(value).slice(0, 200)) as never;
}

test('a draft has eight digits, a trimmed comment and tags, and no fields that the service sets', () => {
  assert.equal(
    draftOf({ ...PLACE, comment: ' a\nb ', tags: [' x ', 1, 2.5], id: 5, status: 'OPEN' }),
    {
      ...{ lat: '60.10000000', lon: '24.90000000' },
      ...{ comment: 'a\nb', tags: ['x', '1', '2.5'] },
    },
  );
  const bare = { comment: '', tags: undefined };
  assert.equal(draftOf(PLACE), { lat: '60.10000000', lon: '24.90000000', ...bare });
  assert.equal(draftOf({ lat: -90, lon: ' -1.8e2 ', tags: [] }), {
    ...{ lat: '-90.00000000', lon: '-180.00000000' },
    ...bare,
  });
  for (const image of [null, '']) assert.not('problems' in draftOf({ ...PLACE, image }));
});

test('each wrong field is named with its error', () => {
  const required = ['This field is required.'];
  assert.equal(problemsOf({}), { lat: required, lon: required });
  const cases: [given: object, field: string, text: string | RegExp][] = [
    [{ lat: null }, 'lat', 'This field may not be null.'],
    [{ lon: true }, 'lon', 'A valid number is required.'],
    [{ lon: [1] }, 'lon', 'A valid number is required.'],
    [{ lat: '0x10' }, 'lat', 'A valid number is required.'],
    [{ lat: 90.000000001 }, 'lat', 'Must lie within ±90 degrees, got "90.000000001".'],
    [{ lon: '-181' }, 'lon', 'Must lie within ±180 degrees, got "-181".'],
    [{ comment: null }, 'comment', 'This field may not be null.'],
    [{ comment: false }, 'comment', 'Not a valid string.'],
    [{ comment: 'a\0' }, 'comment', 'Null characters are not allowed.'],
    [{ tags: {} }, 'tags', 'Expected a list of items but got type "dict".'],
    [{ tags: 1.5 }, 'tags', 'Expected a list of items but got type "float".'],
    [{ tags: ['a', ' '] }, 'tags', 'Item 1: This field may not be blank.'],
    [{ tags: [null] }, 'tags', 'Item 0: This field may not be null.'],
    [{ tags: ['a\0b'] }, 'tags', 'Item 0: Null characters are not allowed.'],
    [
      { tags: ['é'.repeat(65)] },
      'tags',
      'Item 0: Ensure this field has no more than 64 characters.',
    ],
    [{ image: 'x.jpg' }, 'image', /^The submitted data was not a file\./],
    [{ comment: 'x'.repeat(262_142) }, 'comment', /^The record would have \d+ bytes as JSON/],
    [{ comment: '\u0001'.repeat(100_000) }, 'comment', /^The record would have \d+ bytes as JSON/],
    [{ comment: 'x'.repeat(65_183) }, 'comment', /^The record would have \d+ bytes as JSON/],
    [{ tags: Array(101).fill('x') }, 'tags', 'Expected at most 100 items, but got 101.'],
  ];
  for (const [given, field, text] of cases) {
    const problems = problemsOf({ ...PLACE, ...given });
    assert.equal(Object.keys(problems), [field]);
    const [found] = problems[field]!;
    assert.ok(typeof text === 'string' ? found === text : text.test(found!), found);
  }
  assert.equal(problemsOf({ lat: 'x', tags: [1, {}, ''] }), {
    lat: ['A valid number is required.'],
    lon: required,
    tags: ['Item 1: Not a valid string.', 'Item 2: This field may not be blank.'],
  });
});

test('a record has at most 64 KiB with all that the service adds to it', () => {
  const draft = draftOf({ ...PLACE, comment: 'x'.repeat(65_182) }) as Draft;
  const most = Number.MAX_SAFE_INTEGER;
  const time = parseTimestamp('2024-01-01T00:00:00Z') as Timestamp;
  const name = safeName('i'.repeat(99), 'd'.repeat(64), 'jpg');
  const added = { id: most, createdBy: most, image: `${IMAGES_PATH}${most}/${name}` };
  const times = { createdAt: time, modifiedAt: time };
  const record = renderPoint({ ...draft, ...added, ...times, status: 'NEW', isProcessed: false });
  const { length } = record;
  assert.ok(length <= MAX_POSTED_BYTES && length > MAX_POSTED_BYTES - 20, `${length} bytes`);
});

test('a field with many errors lists some, and the number of the rest', () => {
  const { tags } = problemsOf({ ...PLACE, tags: Array(100).fill([]) });
  assert.equal(tags!.slice(9), ['Item 9: Not a valid string.', '… and 90 more.']);
});

test('JSON that is too deep or has too many values is not parsed', () => {
  const deep = (levels: number): Buffer =>
    Buffer.from(`{"lat":"\\\\\\"[[[","x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  assert.is(parseJsonBody(deep(31)).kind, 'json');
  const cases: [bytes: Buffer, reason: RegExp][] = [
    [deep(32), /^JSON parse error - expected at most 32 values in one another$/],
    [Buffer.from('[{"a":'.repeat(30_000)), /at most 32 values in one another/],
    [Buffer.from(`[${'[],'.repeat(20_000)}0]`), /at most 10000 values/],
  ];
  for (const [bytes, reason] of cases) {
    const { status, body } = thrownBy(HttpError, () => parseJsonBody(bytes));
    assert.is(status, 400);
    assert.match(String(body['detail' as never]), reason);
  }
  const { status } = thrownBy(HttpError, () => parseFormBody(Buffer.from('&'.repeat(1_000))));
  assert.is(status, 413);
});

test('the error of a body that is not an object names its type', () => {
  const values = { list: [], str: 'x', int: 5, float: 5.5, bool: true };
  for (const [type, value] of Object.entries(values)) {
    assert.equal(problemsOf(value), {
      non_field_errors: [`Invalid data. Expected a dictionary, but got ${type}.`],
    });
  }
  assert.equal(problemsOf(null), { non_field_errors: ['No data provided'] });
});

test('in a form the last value of a field counts, and every tag', () => {
  const body = parseFormBody(
    Buffer.from('lat=1&lat=2&lon=+3&comment=%C3%A4+b&tags=x&tags=y&other=1'),
  );
  assert.equal(readDraft(body), {
    ...{ lat: '2.00000000', lon: '3.00000000', comment: 'ä b', tags: ['x', 'y'] },
  });
});

test('tags of a form may be numbered, as clients for Django write them', () => {
  const tagsOf = (form: string): unknown => {
    const draft = readDraft(parseFormBody(Buffer.from(`lat=1&lon=2&${form}`)));
    return 'problems' in draft ? draft.problems : draft.tags;
  };
  assert.equal(tagsOf('tags[10]=c&tags[2]=b&tags%5B0%5D=a&tags[2]=B'), ['a', 'B', 'c']);
  assert.equal(tagsOf('tags=x&tags[0]=a'), ['x']);
  assert.equal(tagsOf('tags[]=a&tags[x]=b'), undefined);
  assert.equal(tagsOf('tags[0]='), { tags: ['Item 0: This field may not be blank.'] });
});

test('JSON may be empty or begin with a byte order mark; else it must be JSON in UTF-8', () => {
  assert.equal(parseJsonBody(Buffer.alloc(0)), { kind: 'json', value: {} });
  assert.equal(parseJsonBody(Buffer.from('\ufeff{"a":1}')), { kind: 'json', value: { a: 1 } });
  for (const bytes of [Buffer.from('{bad'), Buffer.from([0x22, 0xff, 0x22]), Buffer.from(' ')]) {
    const { status, body } = thrownBy(HttpError, () => parseJsonBody(bytes));
    assert.is(status, 400);
    assert.match(String(body['detail' as never]), /^JSON parse error - \S/);
  }
});

const typeOf = (type: string | undefined, coding: string | undefined): string =>
  typeOfBody({ 'content-type': type, 'content-encoding': coding }, POST_TYPES);

test('an unsupported media type, character set or coding is refused by name', () => {
  assert.is(typeOf('Application/JSON ; charset="UTF-8"', 'identity'), 'application/json');
  assert.is(typeOf('multipart/form-data; boundary=x', undefined), 'multipart/form-data');
  const cases: [type: string | undefined, coding: string | undefined, detail: string][] = [
    ['text/plain', undefined, 'Unsupported media type "text/plain" in request.'],
    ['constructor', undefined, 'Unsupported media type "constructor" in request.'],
    [undefined, undefined, 'Unsupported media type "" in request.'],
    [
      'application/json; charset=latin1',
      undefined,
      'Unsupported character set "latin1" in request.',
    ],
    ['application/json', 'gzip', 'Unsupported content coding "gzip" in request.'],
  ];
  for (const [type, coding, detail] of cases) {
    const { status, body } = thrownBy(HttpError, () => typeOf(type, coding));
    assert.equal([status, body], [415, { detail }]);
  }
});

test.run();
