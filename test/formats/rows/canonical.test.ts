import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { rendered, storePoint } from '../../../src/formats/record-layout.js';
import {
  CSV_FORM,
  FEATURE_FORM,
  JSON_FORM,
  type RenderedPoint,
  readRendered,
} from '../../../src/formats/rows/canonical.js';
import { featureRow } from '../../../src/formats/rows/json.js';
import { LineSplitter } from '../../../src/formats/rows/lines.js';
import { PARSERS } from '../../../src/formats/rows/reader.js';
import { RECORD_KEYS, readPoint, renderPoint } from '../../../src/model/point.js';
import { point } from '../../support/native.js';
import { fixtureRecords, rowsOf } from '../../support/rows.js';
import { assert, rounds, test } from '../../support/uvu.js';

/** Columns and record of a line that is valid and already as the API renders it; else undefined. */
function expected(line: Buffer): object | undefined {
  const text = line.toString();
  if (!Buffer.from(text).equals(line)) return undefined;
  let isExact = true;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const point = readPoint(value, () => {
    isExact = false;
  });
  if (!('id' in point) || !isExact || renderPoint(point) !== text) return undefined;
  return {
    id: point.id,
    lat: Number(point.lat),
    lon: Number(point.lon),
    createdAt: point.createdAt.micros,
    modifiedAt: point.modifiedAt.micros,
    stored: storePoint(point).toString('hex'),
    text,
  };
}

function found(line: Buffer): object | undefined {
  const point = readRendered(line);
  if (point === undefined) return undefined;
  const { record, ...columns } = point;
  const stored = record.store();
  assert.is(record.renderedLength, line.length);
  return { ...columns, stored: stored.toString('hex'), text: rendered(stored).toString() };
}

/**
 * Asserts that a line which is taken is read as the validator reads it; tells whether it is taken.
 */
function check(line: Buffer): boolean {
  const taken = found(line);
  if (taken !== undefined) assert.equal(taken, expected(line), line.toString());
  return taken !== undefined;
}

const RENDERED = fixtureRecords(300).map((record) => Buffer.from(renderPoint(point(record))));

test('records as the API renders them are taken, with the columns that they say', () => {
  for (const line of RENDERED) assert.ok(check(line), line.toString());
});

const PIECES = [
  ...'0 9 - + . " "" \\ , : { } [ ] u x true'.split(' '),
  ' ',
  ...['\\n', '\\u0000', '\\u00e9', '\\/', '\\ud800', '\0', '\u00a0', 'é', '😀', '\u3000', '00'],
  ...['null', '90', '91', '180', '2023-02-29', '24:00', ':60', '-00:00', '+24:00', '1683', '0000'],
  ...[',"is_processed":', '\n'],
];
const EDIT = fc.record({
  at: fc.nat({ max: 500 }),
  removed: fc.integer({ min: 0, max: 3 }),
  inserted: fc.oneof(
    fc.constant(''),
    fc.constantFrom(...PIECES),
    fc.nat({ max: 255 }).map((byte) => Buffer.of(byte).toString('latin1')),
  ),
  isRaw: fc.boolean(),
});

/** Tries lines that are edited in one or two places; `run` tells whether a line was taken. */
async function tryEdited(
  lines: readonly Buffer[],
  run: (line: Buffer) => boolean | Promise<boolean>,
): Promise<void> {
  let taken = 0;
  const edited = fc
    .tuple(fc.constantFrom(...lines), fc.array(EDIT, { minLength: 1, maxLength: 2 }))
    .map(([line, edits]) =>
      edits.reduce((bytes, { at, removed, inserted, isRaw }) => {
        const start = at % bytes.length;
        const middle = Buffer.from(inserted, isRaw ? 'latin1' : 'utf8');
        return Buffer.concat([bytes.subarray(0, start), middle, bytes.subarray(start + removed)]);
      }, line),
    );
  const property = fc.asyncProperty(edited, async (line) => {
    if (await run(line)) taken++;
  });
  await fc.assert(property, { numRuns: rounds(20_000) });
  assert.ok(taken > 200, `only ${taken} were taken`);
}

test('no line is taken that the validator refuses or would write otherwise, alone or among others', () => {
  const [before, after] = RENDERED;
  return tryEdited(RENDERED, (line) => {
    const chunk = Buffer.concat([before!, Buffer.from('\n'), line, Buffer.from('\n'), after!]);
    const lines = new LineSplitter(1, JSON_FORM);
    lines.add(chunk);
    assert.ok(lines.nextRendered() !== undefined || !isUtf8(chunk));
    const found = lines.nextRendered();
    // with bytes that are no UTF-8, or line feeds of its own, a line alone is another one
    const isOne = isUtf8(line) && !line.includes('\n');
    if (isOne) assert.equal(found, readRendered(line), line.toString());
    else assert.ok(found === undefined || line.includes('\n'));
    return check(line);
  });
});

/** Asserts that bytes of another format, if they are taken, are what its parser makes of them. */
async function checkOther(
  line: Buffer,
  take: (bytes: Uint8Array) => RenderedPoint | undefined,
  read: (bytes: Buffer) => Promise<unknown>,
): Promise<boolean> {
  const taken = take(line);
  if (taken === undefined) return false;
  const point = readPoint(await read(line), (key) => assert.unreachable(key));
  if (!('id' in point)) throw new Error(line.toString());
  const json = rendered(taken.record.store());
  assert.is(json.toString(), renderPoint(point));
  assert.equal(taken, readRendered(json), line.toString());
  return true;
}

test('no Feature is taken that would be another record if it were parsed', async () => {
  const features = RENDERED.map((line) => {
    const { lat, lon, ...properties } = JSON.parse(line.toString());
    const place = `{"type":"Point","coordinates":[${lon},${lat}]}`;
    return Buffer.from(
      `{"type":"Feature","id":1,"geometry":${place},"properties":${JSON.stringify(properties)}}`,
    );
  });
  const checkFeature = (line: Buffer): Promise<boolean> =>
    checkOther(
      line,
      (one) => readRendered(one, FEATURE_FORM),
      async (bytes) => {
        const row = featureRow(1, JSON.parse(bytes.toString()));
        return row.problem ?? row.value;
      },
    );
  for (const feature of features) assert.ok(await checkFeature(feature), feature.toString());
  await tryEdited(features, checkFeature);
});

test('no line of CSV is taken that would be another record if its fields were read', async () => {
  const quoted = (value: unknown): string => {
    if (value === undefined) return '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `"${text.replaceAll('"', '""')}"`;
  };
  const texts = ['status', 'comment', 'image', 'tags'];
  const lines = RENDERED.map((line) => {
    const record = JSON.parse(line.toString());
    const cells = RECORD_KEYS.map((key) =>
      texts.includes(key) ? quoted(record[key]) : record[key],
    );
    return Buffer.from(cells.join());
  });
  // with one more column the header is not that of an export: fields are read one by one
  const header = `${RECORD_KEYS.join()},more`;
  const checkLine = (line: Buffer): Promise<boolean> =>
    checkOther(
      line,
      (one) => readRendered(one, CSV_FORM),
      async (bytes) => {
        const file = Buffer.concat([Buffer.from(`${header}\n`), bytes, Buffer.from(',\n')]);
        const rows = await rowsOf(PARSERS.csv, file);
        assert.is(rows.length, 1);
        return rows[0]!.problem ?? rows[0]!.value;
      },
    );
  let taken = 0;
  for (const line of lines) taken += +(await checkLine(line));
  assert.ok(taken > 200, `only ${taken} were taken`);
  await tryEdited(lines, checkLine);
});

test('each field has its limits', () => {
  const base = {
    ...{ id: '7', status: '"NEW"', comment: '""', image: '"a.jpg"' },
    ...{ lat: '"60.25000000"', lon: '"-0.50000000"' },
    ...{ is_processed: 'false', created_by: '0', tags: '["a"]' },
    created_at: '"2023-05-01T12:00:00.000000+00:00"',
    modified_at: '"2023-05-01T12:00:00.999999-23:59"',
  };
  const line = (fields: object): Buffer => {
    const entries = Object.entries({ ...base, ...fields }).filter(([, text]) => text !== undefined);
    return Buffer.from(`{${entries.map(([key, text]) => `"${key}":${text}`).join()}}`);
  };
  const timed = (time: string): string => `"2023-05-01T${time}"`;
  const good: object[] = [
    {},
    { id: '9007199254740991', created_by: '9007199254740991' },
    { image: undefined, created_by: undefined, tags: undefined },
    { lat: '"-90.00000000"', lon: '"180.00000000"' },
    { lat: '"-0.00000000"', lon: '"0.00000001"' },
    { comment: '"\\"\\\\\\n\\r\\t é😀\u2028\u007f"', status: '" "' },
    { tags: `["${'a'.repeat(64)}","x y","é."]` },
    { created_at: '"2024-02-29T23:59:59.123456-00:00"' },
  ];
  for (const fields of good) assert.ok(check(line(fields)), line(fields).toString());
  const bad: Readonly<Record<string, readonly string[]>> = {
    id: ['0', '07', '-1', '9007199254740992', '1.0', '1e3', '"7"', ''],
    status: ['""', 'null', '"\0"', '"\\u0000"'],
    comment: ['null', '"\t"', '"\\x"', '"\\'],
    image: ['""'],
    lat: [
      ...['"90.00000001"', '"60.2500000"', '"60.250000000"', '60.25000000', '"+6.00000000"'],
      ...['"060.00000000"', '".50000000"', '"1000.00000000"', '"--1.00000000"'],
    ],
    lon: ['"180.00000001"', '""', 'null'],
    is_processed: ['0', 'null', '"true"', 'True'],
    created_by: ['-1', 'null', '01', '9007199254740992'],
    tags: [
      ...'[] null [""] ["a",] ["a"'.split(' '),
      '[" "]',
      '["\u00a0"]',
      `["${'é.'.repeat(99)}"]`,
    ],
    created_at: [
      ...['2023-02-29', '2023-13-01', '2023-00-01', '2023-05-00', '1683-05-01', '0000-05-01'].map(
        (day) => `"${day}T12:00:00.000000+00:00"`,
      ),
      ...['24:00:00.000000+00:00', '12:60:00.000000+00:00', '12:00:60.000000+00:00'].map(timed),
      ...['12:00:00.000000Z', '12:00:00+00:00'].map(timed),
    ],
    modified_at: [
      ...['12:00:00.000000+24:00', '12:00:00.000000+00:60', '12:00:00.000000 00:00'].map(timed),
    ],
    photo: ['1'],
  };
  for (const [key, texts] of Object.entries(bad)) {
    for (const text of texts) assert.not.ok(check(line({ [key]: text })), `${key}: ${text}`);
  }
  assert.not.ok(check(Buffer.concat([line({}), Buffer.from(' ')])));
  const long = line({ comment: `"${'x'.repeat(262_142 - line({}).length)}"` });
  assert.ok(check(long));
  assert.not.ok(check(line({ comment: `"${'x'.repeat(262_143 - line({}).length)}"` })));
});

test.run();
