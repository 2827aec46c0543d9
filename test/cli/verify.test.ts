import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type VerifyOptions, verify, verifySnapshot } from '../../src/cli/verify.js';
import type { PointBlock } from '../../src/formats/block.js';
import { NativeWriter } from '../../src/formats/native/write.js';
import { renderPoint } from '../../src/model/point.js';
import { blockOf, CREATED_AT, notification, point, writeNative } from '../support/native.js';
import { runCommand } from '../support/service.js';
import { assert, IS_SOAK, makeFolder, test } from '../support/uvu.js';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/native', import.meta.url));

async function run(path: string, options: VerifyOptions = {}): Promise<[number, string]> {
  const lines: string[] = [];
  const code = await verify(path, { ...options, print: (line: string) => void lines.push(line) });
  return [code, lines.join('\n')];
}

test('a good native file: what it holds', async () => {
  const path = join(makeFolder(), 'good.waypost');
  const first = [
    point({ id: 1, lat: 60.5, lon: 24, tags: ['a', ',"tags":['], image: 'a.jpg' }),
    point({ id: 9, lat: -7, lon: -180, comment: ',"tags":["x"],"image":"y"' }),
  ];
  const last = point({
    id: 4,
    lat: 0,
    lon: 180,
    modified_at: '2024-01-01T00:00:00Z',
    tags: ['b'],
  });
  writeNative(path, [blockOf(first), blockOf([last])], [notification(1)]);
  const report = await verifySnapshot(path, {});
  assert.equal(report.reasons, []);
  assert.is(report.reasonCount, 0);
  assert.is(report.format, 'native');
  assert.is(report.origin, 'a test');
  assert.is(report.points, 3);
  assert.is(report.blocks, 2);
  assert.is(report.withTags, 2);
  assert.is(report.withImage, 1);
  assert.equal(report.extent, { west: -180, south: -7, east: 180, north: 60.5 });
  const may = Date.UTC(2023, 4, 1, 12) * 1000;
  assert.equal(report.createdAt, { first: may, last: may });
  assert.equal(report.modifiedAt, { first: may, last: Date.UTC(2024, 0, 1) * 1000 });
  assert.is(report.load?.notifications.length, 1);

  const [code, text] = await run(path);
  assert.is(code, 0);
  assert.match(text, /good.waypost: native, 3 points, 2 blocks\n/);
  assert.match(text, /origin +a test\n/);
  assert.match(text, /exported +2023-05-01T12:00:00.000000\+00:00\n/);
  assert.match(text, /extent +lon -180 to 180, lat -7 to 60.5\n/);
  assert.match(text, /modified +2023-05-01T12:00:00.000000\+00:00 to 2024-01-01T00:00:00/);
  assert.match(text, /with tags +2\n/);
  assert.match(text, /\ngood$/);
});

test('a file of no points is good where that is allowed', async () => {
  const folder = makeFolder();
  const path = join(folder, 'empty.waypost');
  writeNative(path, []);
  const [code, text] = await run(path, { allowEmpty: true });
  assert.is(code, 0);
  assert.match(text, /native, 0 points, 0 blocks\n/);
  const [refused, why] = await run(path);
  assert.is(refused, 1);
  assert.match(why, /not good, for 1 reason:\n.*empty.waypost: has no points; --allow-empty/);
  const rows = join(folder, 'rows.ndjson');
  writeFileSync(rows, '{"id":0}\n');
  assert.match((await run(rows, { maxInvalid: 1 }))[1], /has no points: all 1 records are invalid/);
  // --allow-empty would not help
  assert.not.match((await run(rows))[1], '--allow-empty');
});

test('a page of a longer list is good where that is accepted', async () => {
  const path = join(makeFolder(), 'page.json');
  const next = 'http://127.0.0.1/rest/map_data_points/?page=2';
  const page = `{"count":2,"next":"${next}","previous":null,"results":[${GOOD}]}`;
  writeFileSync(path, page);
  const [code, text] = await run(path);
  assert.is(code, 1);
  assert.match(text, `page.json: is a page of a longer list: it has a next page, "${next}"; fetch`);
  const [accepted, warned] = await run(path, { acceptPage: true });
  assert.is(accepted, 0);
  assert.match(
    warned,
    `  accepted as it is, a page of a longer list: it has a next page, "${next}"`,
  );
  writeFileSync(path, page.replace(`"${next}"`, 'null'));
  assert.match((await run(path))[1], /it says that there are 2 records, and has 1; /);
  writeFileSync(path, page.replace(`"${next}"`, 'null').replace('2', '1'));
  assert.is((await run(path))[0], 0);
});

for (const [name, why] of [
  ['invalid-id-twice', /record 3 \(id 2\): the id occurs twice/],
  ['invalid-column', /record 1 \(id 3\): says lon 0, its column 0.5/],
  ['invalid-record', /record 1 \(id 3\): lat: is required/],
  ['cut-short', /does not end with a footer/],
  ['something-added', /does not end with a footer/],
  ['flipped-bit', /broken at byte \d+: the checksum is/],
  ['version-3', /format version 3,.*reads version 2/],
  ['status-9', /point 0 of the block: status must be below 1, got 9/],
  ['invalid-attribute', /record 2 \(id 2\): says {"status":"NEW","is_processed":true,"image":true/],
  ['blocks-swapped', /expected block 0, got block 1/],
  ['wrong-count', /promises 4 points, the footer counts 3/],
  ['latitude-91', /lat must lie within ±90, got 91/],
] as const) {
  test(`not good: ${name}`, async () => {
    const [code, text] = await run(join(FIXTURES, `${name}.waypost`));
    assert.is(code, 1);
    assert.match(text, /not good, for 1 reason:/);
    assert.match(text, why);
  });
}

/** A block of one point, whose record is this text. */
function recordBlock(record: string | Buffer): PointBlock {
  const records = Buffer.from(record as string);
  const block = blockOf([point({ id: 5, tags: ['a'] })]);
  return { ...block, length: Uint32Array.of(records.length), records };
}

const GOOD = renderPoint(point({ id: 5, tags: ['a'] }));
const broken = Buffer.from(GOOD);
broken[broken.indexOf('"a"') + 1] = 0xff;
const overlong = Buffer.from(GOOD.replace('"a"', '"😀"'));
// three bytes of four decode to one replacement character, which has three bytes itself
overlong[overlong.indexOf('"😀"') + 4] = 0x61;

for (const [name, record, why] of [
  ['no JSON', GOOD.replace(',', ';'), /is no JSON/],
  ['a space', GOOD.replace(',', ', '), /not written the way the API renders it/],
  ['another order of keys', GOOD.replace(/("id":5),("status":"NEW")/, '$2,$1'), /the way the API/],
  ['an unknown key', GOOD.replace('{', '{"photo":1,'), /may not have: photo/],
  ['an empty list of tags', GOOD.replace('["a"]', '[]'), /the way the API/],
  ['a null', GOOD.replace('"NEW"', 'null'), /the way the API/],
  [
    'two wrong fields',
    GOOD.replace('false', '0').replace('60.', '960.'),
    /lat: must.*; is_processed: must/,
  ],
  ['a number for lat', GOOD.replace('"60.17000000"', '60.17000000'), /the way the API/],
  ['bytes that are no UTF-8', broken, /is no UTF-8/],
  ['half a character', overlong, /is no UTF-8/],
  ['another id', GOOD.replace('"id":5', '"id":6'), /says id 6, its column 5/],
  ['another lat', GOOD.replace('60.17', '60.18'), /says lat 60.18, its column 60.17/],
  ['another time', GOOD.replace('12:00:00.000000', '12:00:00.000001'), /says created_at/],
  ['another change', GOOD.replace(/12:00(.{18})$/, '12:01$1'), /says modified_at/],
] as const) {
  test(`a record that does not verify: ${name}`, async () => {
    const path = join(makeFolder(), 'r.waypost');
    writeNative(path, [recordBlock(record)]);
    const [code, text] = await run(path);
    assert.is(code, 1);
    assert.match(text, /record 1 \(id 5\): /);
    assert.match(text, why);
  });
}

test('two notifications of one id are not good', async () => {
  const path = join(makeFolder(), 'told.waypost');
  writeNative(path, [], [notification(1), notification(2), notification(1)]);
  const [code, text] = await run(path);
  assert.is(code, 1);
  assert.match(text, /notification 1: the id occurs twice/);
});

test('nothing in a file commands the terminal that it is told about on', async () => {
  const folder = makeFolder();
  const path = join(folder, 'points');
  const fd = openSync(path, 'w');
  const origin = 'pack\u001b[2J\n  digest         0';
  const writer = new NativeWriter(fd, { origin, count: 1, createdAt: CREATED_AT });
  writer.write(blockOf([point({ id: 1 })]));
  writer.finish();
  closeSync(fd);
  assert.match((await run(path))[1], /^ {2}origin {9}pack\ufffd\[2J {3}digest {9}0$/m);

  const good = { id: 1, lat: 1, lon: 1, created_at: '2023-05-01T12:00:00Z' };
  writeFileSync(path, `${JSON.stringify({ ...good, '\u001b[31m': 2 })}\n{"id":\u001b[2J}\n`);
  const [, text] = await run(path, { maxInvalid: 2 });
  assert.match(text, /unknown keys dropped: \ufffd\[31m \(1\)/);
  assert.match(text, /line 2: record: is not valid JSON: /);
  const { stderr } = await runCommand(['pack', path, join(folder, 'out')]);
  assert.match(stderr, /line 2: record: is not valid JSON: /);
  for (const shown of [text, stderr]) assert.not.match(shown, /[^\P{Cc}\n]/u);
});

test('a file cut anywhere is not good, whatever is left of it', async () => {
  const folder = makeFolder();
  const sample = readFileSync(join(FIXTURES, 'sample.waypost'));
  const path = join(folder, 'cut.waypost');
  const step = IS_SOAK ? 1 : 3;
  for (let length = 0; length < sample.length; length += step) {
    writeFileSync(path, sample.subarray(0, length));
    const report = await verifySnapshot(path, {});
    assert.is(report.reasonCount, 1, `cut at ${length}`);
    assert.ok(report.reasons[0]!.startsWith(`${path}: `));
  }
});

test('the first ten reasons are shown, all are counted', async () => {
  const path = join(makeFolder(), 'many.waypost');
  writeNative(
    path,
    Array.from({ length: 26 }, () => recordBlock(GOOD)),
  );
  const report = await verifySnapshot(path, {});
  assert.is(report.reasons.length, 10);
  assert.is(report.reasonCount, 25);
  const [, text] = await run(path);
  assert.match(text, /not good, for 25 reasons:/);
  assert.match(text, /and 15 more$/);
});

test('rows: every invalid record is found, and as many as allowed are', async () => {
  const path = join(makeFolder(), 'rows.ndjson');
  const bad = '{"id":6,"lat":"91","lon":"0","created_at":"today"}';
  writeFileSync(path, [GOOD.replace('{', '{"photo":1,'), bad, bad, bad, ''].join('\n'));
  const [code, text] = await run(path);
  assert.is(code, 1);
  assert.match(text, /ndjson, 1 point\n/);
  assert.match(text, /3 invalid records\n/);
  assert.match(text, /unknown keys dropped: photo \(1\)\n/);
  assert.match(
    text,
    /not good, for 3 reasons:\n.*line 2: lat: must lie within ±90.*; created_at: .*\n.*line 3:/,
  );
  assert.is((await run(path, { maxInvalid: 2 }))[0], 1);
  const [good, named] = await run(path, { maxInvalid: 3 });
  assert.is(good, 0);
  assert.match(
    named,
    /3 invalid records left out:\n {4}line 2: lat: must .*\n.*line 3: .*\n.*line 4: /,
  );
});

test('what cannot be opened is not good, and said to be so', async () => {
  const folder = makeFolder();
  const [code, text] = await run(join(folder, 'missing'));
  assert.is(code, 1);
  assert.match(text, /^not good, for 1 reason:\n.*missing/);
});

test.run();
