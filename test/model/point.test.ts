import fc from 'fast-check';
import * as points from '../../src/model/point.js';
import { quote, show } from '../../src/model/quote.js';
import { formatUtc } from '../../src/model/timestamp.js';
import { CHARACTER, forAll } from '../support/properties.js';
import { assert, pluck, table, test } from '../support/uvu.js';

const { readPoint, renderPoint, toEightDigits } = points;
type Point = points.Point;
type Problem = points.Problem;

const LEAST = { id: 7, lat: '60.17', lon: '24.94', created_at: '2023-05-01T15:00:00+03:00' };
const FULL = {
  id: 7,
  status: 'OPEN',
  comment: 'työ "😀" \\ \u2028 line\nend',
  image: '/media/map_data_points/7/a.jpg',
  lat: '60.17000000',
  lon: '-0.50000000',
  is_processed: true,
  created_by: 5,
  tags: ['Noise', 'Accessibility 10'],
  created_at: '2023-05-01T15:00:00.123456+03:00',
  modified_at: '2023-06-01T09:00:00.000000-02:30',
};

function read(fields: object): Point {
  const result = readPoint(fields, (key) => assert.unreachable(`unknown key ${key}`));
  if (!('id' in result)) throw new Error(JSON.stringify(result));
  return result;
}

/** All problems of the least record with these fields, as `field: reason`. */
function problems(fields: object): string[] {
  const result = readPoint({ ...LEAST, ...fields }, () => {});
  if ('id' in result) throw new Error(`nothing wrong with ${JSON.stringify(fields)}`);
  return result.map(({ field, reason }: Problem) => `${field}: ${reason}`);
}

test('a record comes out as it went in, with defaults for what is missing, without absent keys', () => {
  assert.is(renderPoint(read(FULL)), JSON.stringify(FULL));
  const expected =
    '{"id":7,"status":"NEW","comment":"","lat":"60.17000000","lon":"24.94000000","is_processed":false,' +
    '"created_at":"2023-05-01T15:00:00.000000+03:00","modified_at":"2023-05-01T15:00:00.000000+03:00"}';
  assert.is(renderPoint(read(LEAST)), expected);
  for (const absent of [undefined, null, '']) {
    const keys = 'status comment image is_processed created_by tags modified_at'.split(' ');
    const fields = Object.fromEntries(keys.map((key) => [key, absent]));
    assert.is(renderPoint(read({ ...LEAST, ...fields })), expected);
  }
  assert.is(renderPoint(read({ ...LEAST, tags: [] })), expected);
});

test('numbers stand for coordinates, zero and the edges included', () => {
  const cases: [lat: unknown, lon: unknown, ...string[]][] = [
    [0, 0, '0.00000000', '0.00000000'],
    [90, -180, '90.00000000', '-180.00000000'],
    ['-90', '180', '-90.00000000', '180.00000000'],
    [1e-7, 60.123456785, '0.00000010', '60.12345678'],
    ['89.999999999', '-0', '90.00000000', '-0.00000000'],
  ];
  for (const [lat, lon, ...expected] of cases) {
    const point = read({ ...LEAST, lat, lon });
    assert.equal([point.lat, point.lon], expected);
  }
  // and digits for an id
  assert.is(read({ ...LEAST, id: '7' }).id, 7);
  assert.is(read({ ...LEAST, id: '9007199254740991' }).id, Number.MAX_SAFE_INTEGER);
  assert.match(problems({ id: '9007199254740992' })[0]!, /^id: must be a whole number/);
});

test('each rule that is broken is named', () => {
  const number = ': must be a decimal number of degrees, got';
  const exact: [fields: object, problem: string][] = [
    [{ id: undefined }, 'id: is required'],
    [{ lat: null }, 'lat: is required'],
    [{ lon: null }, 'lon: is required'],
    [{ lat: '60,17' }, `lat${number} "60,17"`],
    [{ lat: 90.000000001 }, 'lat: must lie within ±90 degrees, got 90.000000001'],
    [{ lon: '-180.1' }, 'lon: must lie within ±180 degrees, got "-180.1"'],
    ...['status', 'comment', 'image'].flatMap((field): [object, string][] => [
      [{ [field]: 5 }, `${field}: must be text, got 5`],
      [{ [field]: 'a\0b' }, `${field}: must not contain a NUL character`],
    ]),
    [{ is_processed: 'true' }, 'is_processed: must be true or false, got "true"'],
    [{ is_processed: 1 }, 'is_processed: must be true or false, got 1'],
    [{ tags: 'Noise' }, 'tags: must be a list of texts such as ["a","b"], got "Noise"'],
    // not UTF-16 units
    [{ tags: ['😀'.repeat(64), 'x'.repeat(65)] }, 'tags: item 1 must have at most 64 characters'],
    [{ tags: ['😀'.repeat(65)] }, 'tags: item 0 must have at most 64 characters'],
    [{ created_at: undefined }, 'created_at: is required'],
  ];
  for (const [fields, problem] of exact) assert.equal(problems(fields), [problem]);
  const first: [field: string, reason: RegExp, values: unknown[]][] = [
    [
      'id',
      /^id: must be a whole number from 1 to 2\^53 - 1, got /,
      [0, -1, 1.5, 2 ** 53, '0', '-7', '7.0', ' 7', true, [7], Number.NaN],
    ],
    ...['lat', 'lon'].map((field): [string, RegExp, unknown[]] => [
      field,
      /: must be a decimal number of degrees, got /,
      ['north', '6O', '1,5', '0x10', ' 1', 'Infinity', true, [1], {}, Number.POSITIVE_INFINITY],
    ]),
    ['created_by', /^created_by: must be a whole number, 0 or more/, [-1, 0.5, '5', {}]],
    ['tags', /^tags: must be a list of texts/, [{ a: 1 }]],
    [
      'tags',
      /^tags: item 1 must be text that is not blank/,
      ['', ' ', 5, null, 'a\0'].map((tag) => ['a', tag]),
    ],
    ['created_at', /^created_at: needs a date and a time/, ['2023-05-01']],
    ['modified_at', /^modified_at: the hour must/, ['2023-05-01T24:00Z']],
  ];
  for (const [field, reason, values] of first) {
    for (const value of values) assert.match(problems({ [field]: value })[0]!, reason);
  }
});

test('all problems of a record are found at once', () => {
  const found = readPoint({ status: 1, lat: 91, lon: 'x' }, () => {}) as Problem[];
  assert.equal(pluck(found, 'field'), ['id', 'lat', 'lon', 'created_at', 'status']);
});

test('what is no object is refused', () => {
  for (const record of [null, undefined, 5, 'text', true, [], [LEAST], 5n, Symbol('s')]) {
    const [problem] = readPoint(record, () => {}) as Problem[];
    assert.is(problem?.field, 'record');
    assert.match(problem?.reason ?? '', /^must be an object, got /);
  }
});

test('a value too odd to be shown is still refused', () => {
  let deep: unknown = [];
  for (let i = 0; i < 100_000; i++) deep = [deep];
  assert.equal(problems({ comment: deep }), [`comment: must be text, got ${'['.repeat(60)}…`]);
  assert.equal(problems({ status: 12n }), ['status: must be text, got 12']);
  const bytes = [Buffer.from('abc'), 'status: must be text, got 3 bytes that are no text'] as const;
  assert.equal(problems({ status: bytes[0] }), [bytes[1]]);
  assert.ok(problems({ image: ['x'.repeat(1e6)] })[0]!.length < 120);
});

test('unknown keys are told of and dropped', () => {
  const keys: string[] = [];
  const record: unknown = JSON.parse('{"__proto__":{"status":"OPEN"},"Status":"x","extra":[1]}');
  const point = readPoint({ ...(record as object), ...LEAST }, (key) => keys.push(key)) as Point;
  assert.equal(keys, ['__proto__', 'Status', 'extra']);
  assert.is(renderPoint(point), renderPoint(read(LEAST)));
});

test('coordinates are rounded to eight digits, ties to even', () => {
  const cases = table(`
    0.000000005  0.00000000   | 0.000000015  0.00000002  | 0.000000025 0.00000002
    1.999999995  2.00000000   | -0.000000015 -0.00000002 | 0.0000000050000000001 0.00000001
    1.123456785  1.12345678   | 1.123456775  1.12345678  | 60.16606539 60.16606539
    99.999999995 100.00000000 | 007 7.00000000 | .5   0.50000000 | 5.    5.00000000
    +5           5.00000000   | 1e1 10.00000000 | 5e-9 0.00000000 | 12E-1 1.20000000
    1e-400       0.00000000`);
  for (const [text, expected] of cases) assert.is(toEightDigits(text!), expected, text);
  const none = ['1e-401', '1e99999', '', '.', '-', 'e5', '1e', '1.2.3', '1 ', '1_0', 'NaN', '１'];
  for (const text of none) assert.is(toEightDigits(text), undefined, text);
});

test('rounding is that of whole numbers, digit by digit', () => {
  forAll(2000, [fc.bigInt({ min: 0n, max: 180n * 10n ** 12n })], (units) => {
    const text = `${units / 10n ** 12n}.${String(units % 10n ** 12n).padStart(12, '0')}`;
    const rest = units % 10_000n;
    const floor = units / 10_000n;
    const up = rest > 5000n || (rest === 5000n && floor % 2n === 1n);
    const rounded = String(floor + (up ? 1n : 0n)).padStart(9, '0');
    assert.is(toEightDigits(text), `${rounded.slice(0, -8)}.${rounded.slice(-8)}`);
  });
});

test('a number is the same coordinate as its shortest text', () => {
  const degrees = fc.oneof(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.integer({ min: -90e8, max: 90e8 }).map((units) => units / 1e8),
    // ties, and what is next to them; half a unit more than the last would lie beyond 90 degrees
    fc.integer({ min: -90e8, max: 90e8 - 1 }).map((units) => (units + 0.5) / 1e8),
    fc.constantFrom(0, 1e-9, 5e-9, 89.999999995, 2 ** -30, 1e-320),
  );
  const isSame = (lat: number): void => {
    const text = `${Object.is(lat, -0) ? '-' : ''}${lat}`;
    const found = readPoint({ ...LEAST, lat }, () => {});
    const expected = readPoint({ ...LEAST, lat: text }, () => {});
    assert.equal(found, expected, text);
  };
  forAll(2_000, [degrees], isSame);
  isSame(-0);
});

test('what is rendered parses back to the same point', () => {
  const text = fc.string({ unit: CHARACTER }).map((value) => value.replaceAll('\0', ''));
  const time = fc.integer({ min: -8e15, max: 8e15 }).map(formatUtc);
  const record = fc.record(
    {
      id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      status: text,
      comment: text,
      image: fc.option(text),
      lat: fc.double({ min: -90, max: 90, noNaN: true }),
      lon: fc.double({ min: -180, max: 180, noNaN: true }),
      is_processed: fc.boolean(),
      created_by: fc.option(fc.nat()),
      tags: fc.array(text.filter((tag) => tag.trim() !== '' && tag.length <= 64)),
      created_at: time,
      modified_at: time,
    },
    { requiredKeys: ['id', 'lat', 'lon', 'created_at'] },
  );
  forAll(1000, [record], (fields) => {
    const point = read(fields);
    const json = renderPoint(point);
    assert.equal(read(JSON.parse(json)), point);
    assert.is(renderPoint(read(JSON.parse(json))), json);
    // one line, and bytes that are UTF-8 even of half a surrogate pair
    assert.not.match(json, /[\n\r]/);
    assert.is(Buffer.from(json).toString(), json);
  });
});

test('a value stands in quotes, and means the same to whoever reads JSON', () => {
  for (const text of [
    ...['', 'a "b" \\', 'Övergång 日本 👋', '\0\x1b[2J\r\n', '\x9b2J', '\u202eabc\u2069'],
  ]) {
    assert.is(JSON.parse(quote(text)), text);
  }
  assert.is(quote('x'.repeat(61)), `"${'x'.repeat(60)}…"`);
});

test('no value steers the terminal that shows it, or turns round what stands beside it', () => {
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    // controls, separators of lines, and marks of direction; alone they are nothing to see
    if (!/[\p{Cc}\u2028\u2029]|\p{Bidi_Control}/u.test(character)) continue;
    assert.is(show([character]), `[${quote(character)}]`);
    assert.match(quote(character), /^"\\[\w"\\]+"$/, code.toString(16));
  }
});

test.run();
