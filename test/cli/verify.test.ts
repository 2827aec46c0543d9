import { closeSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type VerifyOptions, verify } from '../../src/cli/verify.js';
import type { PointBlock } from '../../src/formats/block.js';
import { NativeWriter } from '../../src/formats/native/write.js';
import { storePoint, UnstoredRecord } from '../../src/formats/record-layout.js';
import { writeAll } from '../../src/formats/system-files.js';
import type { RecordTexts } from '../../src/model/point.js';
import { renderPoint } from '../../src/model/point.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readInPlace,
  readOnePass,
  writeNative,
} from '../support/native.js';
import { ROOT, runInThread } from '../support/service.js';
import { assert, makeFile, makeFolder, refusal, test } from '../support/uvu.js';

const FIXTURES = join(ROOT, 'test/fixtures/native');

async function run(path: string, options: VerifyOptions = {}): Promise<[number, string]> {
  const lines: string[] = [];
  const code = await verify(path, { ...options, print: (line: string) => void lines.push(line) });
  return [code, lines.join('\n')];
}

/** Asserts the exit code of verify, and each part of what it prints. */
async function says(
  path: string,
  code: number,
  parts: readonly (RegExp | string)[],
  options?: VerifyOptions,
): Promise<void> {
  const [found, text] = await run(path, options);
  assert.is(found, code, text);
  for (const part of parts) assert.match(text, part);
}

test('a good native file: what it holds', async () => {
  const path = join(makeFolder(), 'good.waypost');
  const first = [
    point({ id: 1, lat: 60.5, lon: 24, tags: ['a', ',"tags":['], image: 'a.jpg' }),
    point({ id: 9, lat: -7, lon: -180, comment: ',"tags":["x"],"image":"y"' }),
  ];
  const modified_at = '2024-01-01T00:00:00Z';
  const last = point({ id: 4, lat: 0, lon: 180, modified_at, tags: ['b'] });
  writeNative(path, [blockOf(first), blockOf([last])], [notification(1)]);
  await says(path, 0, [
    /good.waypost: native, 3 points, 2 blocks\n/,
    /origin +a test\n/,
    /exported +2023-05-01T12:00:00.000000\+00:00\n/,
    /notifications +1\n/,
    /extent +lon -180 to 180, lat -7 to 60.5\n/,
    /created +2023-05-01T12:00:00.000000\+00:00 to 2023-05-01T12:00:00/,
    /modified +2023-05-01T12:00:00.000000\+00:00 to 2024-01-01T00:00:00/,
    /with tags +2\n/,
    /with an image +1\n/,
    /\ngood$/,
  ]);
});

test('a file of no points is good where that is accepted, a page of a longer list never', async () => {
  const folder = makeFolder();
  const [empty, rows] = [join(folder, 'empty.waypost'), join(folder, 'rows.ndjson')];
  writeNative(empty, []);
  await says(empty, 0, [/native, 0 points, 0 blocks\n/], { allowEmpty: true });
  await says(empty, 1, [/not good, for 1 reason:\n.*empty.waypost: has no points; --allow-empty/]);
  writeFileSync(rows, '{"id":0}\n');
  await says(rows, 1, [/has no points: all 1 records are invalid/], { maxInvalid: 1 });
  // --allow-empty would not help
  assert.not.match((await run(rows))[1], '--allow-empty');

  const path = join(folder, 'page.json');
  const next = 'http://127.0.0.1/rest/map_data_points/?page=2';
  const page = `{"count":2,"next":"${next}","previous":null,"results":[${JSON_OF_GOOD}]}`;
  writeFileSync(path, page);
  const why = `a page of a longer list: it has a next page, "${next}"`;
  await says(path, 1, [`page.json: is ${why}; fetch`]);
  writeFileSync(path, page.replace(`"${next}"`, 'null'));
  await says(path, 1, [/it says that there are 2 records, and has 1; /]);
  writeFileSync(path, page.replace(`"${next}"`, 'null').replace('2', '1'));
  await says(path, 0, []);
});

/** The sample files: whether they can be read, and why they are not good. */
const SAMPLES: Readonly<Record<string, [isRead: boolean, why?: RegExp]>> = {
  one: [true],
  sample: [true],
  watermark: [true],
  'invalid-id-twice': [true, /record 3 \(id 2\): the id occurs twice/],
  'invalid-column': [true, /record 1 \(id 3\): says lon 0, its column 0.5/],
  'invalid-record': [true, /record 1 \(id 3\): lat: must be a decimal number/],
  'invalid-attribute': [
    true,
    /record 2 \(id 2\): says {"status":"NEW","is_processed":true,"image":true/,
  ],
  'cut-short': [false, /does not end with a footer/],
  'something-added': [false, /does not end with a footer/],
  'flipped-bit': [false, /broken at byte \d+: the checksum is/],
  'version-2': [false, /format version 2,.*reads version 3/],
  'status-9': [false, /point 0 of the block: status must be below 1, got 9/],
  'blocks-swapped': [false, /expected block 0, got block 1/],
  'wrong-count': [false, /promises 4 points, the footer counts 3/],
  'latitude-91': [false, /lat must lie within ±90, got 91/],
};

test('each sample file is read or refused, and verified, as it should be', async () => {
  const files = readdirSync(FIXTURES).map((name) => name.replace('.waypost', ''));
  assert.equal(Object.keys(SAMPLES).sort(), files.sort());
  for (const [name, [isRead, why]] of Object.entries(SAMPLES)) {
    const path = join(FIXTURES, `${name}.waypost`);
    for (const read of [readOnePass, readInPlace]) {
      const reading = (async () => read(path))();
      if (isRead) await reading;
      else await refusal(reading);
    }
    await says(path, why ? 1 : 0, why ? [/not good, for 1 reason:/, why] : [/\ngood$/]);
  }
});

function recordBlock(records: Buffer): PointBlock {
  return { ...blockOf([point(FIELDS)]), length: Uint32Array.of(records.length), records };
}

const FIELDS = { id: 5, tags: ['a'], comment: 'abcd' };
const GOOD = storePoint(point(FIELDS));
const JSON_OF_GOOD = renderPoint(point(FIELDS));
const TIME = '2023-05-01T12:00:00.000000+00:00';
const TEXTS: RecordTexts = {
  ...{ id: '5', status: 'NEW', comment: 'abcd', image: '', lat: '60.17000000', lon: '24.94000000' },
  ...{ isProcessed: false, createdBy: '', tags: '"a"', createdAt: TIME, modifiedAt: TIME },
};
const broken = Buffer.from(GOOD);
broken[broken.indexOf('abcd')] = 0xff;
const overlong = Buffer.from(GOOD);
// three bytes of four decode to one replacement character, which has three bytes itself
overlong.set(Buffer.from('😀').subarray(0, 3), overlong.indexOf('abcd'));
const twice = Buffer.concat([GOOD, Buffer.from(TIME)]);
twice[0]! ^= 2;

const RECORDS: readonly (readonly [record: Partial<RecordTexts> | Buffer, why: RegExp])[] = [
  [{ comment: 'a"' }, /is no JSON/],
  [{ id: '05' }, /is no JSON/],
  [{ tags: '"a", "b"' }, /not written the way the API renders it/],
  [{ tags: '"\\u0061"' }, /the way the API/],
  [{ comment: '\\/' }, /the way the API/],
  [{ status: '' }, /the way the API/],
  [{ comment: '","photo":"1' }, /may not have: photo/],
  [{ status: 'OLD","status":"NEW' }, /the way the API/],
  [{ lat: '960.17000000', createdBy: '5.5' }, /lat: must.*; created_by: must/],
  [twice, /the way the API/],
  [broken, /is no UTF-8/],
  [overlong, /is no UTF-8/],
  [{ id: '6' }, /says id 6, its column 5/],
  [{ lat: '60.18000000' }, /says lat 60.18, its column 60.17/],
  [{ createdAt: TIME.replace('0+', '1+'), modifiedAt: TIME }, /says created_at/],
  [{ modifiedAt: TIME.replace('0+', '1+') }, /says modified_at/],
];

test('a record that is not what the API renders, or not what its columns say, is not good', async () => {
  const folder = makeFolder();
  for (const [index, [record, why]] of RECORDS.entries()) {
    const path = join(folder, `${index}.waypost`);
    const stored =
      record instanceof Buffer ? record : new UnstoredRecord({ ...TEXTS, ...record }).store();
    writeNative(path, [recordBlock(stored)]);
    await says(path, 1, [/record 1 \(id 5\): /, why]);
  }
});

test('two notifications of one id, or nothing that can be opened, are not good', async () => {
  const folder = makeFolder();
  const path = join(folder, 'told.waypost');
  writeNative(path, [], [notification(1), notification(2), notification(1)]);
  await says(path, 1, [/notification 1: the id occurs twice/]);
  await says(join(folder, 'missing'), 1, [/^not good, for 1 reason:\n.*missing/]);
});

test('no text of a file steers the terminal that verify prints to', async () => {
  const folder = makeFolder();
  const path = join(folder, 'points');
  const fd = openSync(path, 'w');
  const origin = 'pack\u001b[2J\n  digest         0';
  const put = (bytes: Uint8Array): void => writeAll(fd, bytes);
  const writer = new NativeWriter(put, { origin, count: 1, createdAt: CREATED_AT });
  writer.write(blockOf([point({ id: 1 })]));
  writer.finish();
  closeSync(fd);
  assert.match((await run(path))[1], /^ {2}origin {9}pack\ufffd\[2J {3}digest {9}0$/m);

  const good = { id: 1, lat: 1, lon: 1, created_at: '2023-05-01T12:00:00Z' };
  writeFileSync(path, `${JSON.stringify({ ...good, '\u001b[31m': 2 })}\n{"id":\u001b[2J}\n`);
  const [, text] = await run(path, { maxInvalid: 2 });
  assert.match(text, /unknown keys dropped: \ufffd\[31m \(1\)/);
  assert.match(text, /line 2: record: is not valid JSON: /);
  const { stderr } = await runInThread(['pack', path, join(folder, 'out')]);
  assert.match(stderr, /line 2: record: is not valid JSON: /);
  for (const shown of [text, stderr]) assert.not.match(shown, /[^\P{Cc}\n]/u);
});

test('the first ten reasons are shown, all are counted', async () => {
  const path = join(makeFolder(), 'many.waypost');
  writeNative(path, Array(26).fill(recordBlock(GOOD)));
  await says(path, 1, [/not good, for 25 reasons:\n(?: {2}record .*\n){10} {2}and 15 more$/]);
});

test('rows: every invalid record is found, and as many as allowed are', async () => {
  const bad = '{"id":6,"lat":"91","lon":"0","created_at":"today"}\n';
  const path = makeFile(`{"photo":1,${JSON_OF_GOOD.slice(1)}\n${bad.repeat(3)}`);
  await says(path, 1, [
    /ndjson, 1 point\n/,
    /3 invalid records\n/,
    /unknown keys dropped: photo \(1\)\n/,
    /not good, for 3 reasons:\n.*line 2: lat: must lie within ±90.*; created_at: .*\n.*line 3:/,
  ]);
  await says(path, 1, [], { maxInvalid: 2 });
  const named = /3 invalid records left out:\n {4}line 2: lat: must .*\n.*line 3: .*\n.*line 4: /;
  await says(path, 0, [named], { maxInvalid: 3 });
});

test.run();
