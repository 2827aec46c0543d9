import { gzipSync } from 'node:zlib';
import { pack } from 'msgpackr';
import { MAX_RECORD_BYTES } from '../../../src/formats/block.js';
import { accept, ndjson, refuse } from '../../support/rows.js';
import { assert, pluck, test } from '../../support/uvu.js';

const VALID = { lat: '1', lon: '2', created_at: '2023-05-01T12:00Z' };

test('invalid records refuse the file, each with its place, field and reason', async () => {
  const content = `${ndjson({ ...VALID, id: 1 }, { ...VALID, id: 2, lat: 95 })}{"id":\n${ndjson(
    { ...VALID, id: 3 },
    { ...VALID, id: 0, lon: 'x' },
  )}`;
  assert.equal((await refuse(content)).split('\n'), [
    'FILE: 3 of 5 records are invalid, 0 may be (--max-invalid leaves out that many); the first:',
    '  FILE: line 2: lat: must lie within ±90 degrees, got 95',
    '  FILE: line 3: record: is not valid JSON: Unexpected end of JSON input',
    '  FILE: line 5: id: must be a whole number from 1 to 2^53 - 1, got 0; ' +
      'lon: must be a decimal number of degrees, got "x"',
  ]);
  assert.match(await refuse(content, 2), /^FILE: 3 of 5 records are invalid, 2 may be/);
  const [records, report] = await accept(content, 3);
  assert.equal(pluck(records, 'id'), [1, 3]);
  const { points, invalid, problems } = report;
  assert.equal([points, invalid, problems.length], [2, 3, 3]);
  assert.is(problems[0], 'line 2: lat: must lie within ±90 degrees, got 95');
});

test('formats without lines count records, and say that they are a page of more', async () => {
  const records = [{ ...VALID, id: 1 }, { ...VALID }];
  for (const content of [
    JSON.stringify(records, null, 2),
    JSON.stringify({ results: records }),
    pack(records),
    gzipSync(JSON.stringify(records)),
  ]) {
    assert.match(await refuse(content), '\n  FILE: record 2: id: is required');
  }
  const results = [{ ...VALID, id: 1 }];
  const page = JSON.stringify({ count: 3, next: null, results });
  assert.match(await refuse(page), 'it says that there are 3 records, and has 1');
  const csv = 'id,lat,lon,created_at\n1,2,3,2023-05-01T12:00Z\n\n,2,3,2023-05-01T12:00Z';
  assert.match(await refuse(csv), '\n  FILE: line 4: id: is required');
});

test('the first ten problems are kept, all are counted', async () => {
  const content = ndjson(...Array.from({ length: 1000 }, () => ({ ...VALID })));
  const lines = (await refuse(content)).split('\n');
  assert.match(lines[0]!, '1000 of 1000 records');
  assert.is(lines.length, 11);
  assert.is(lines[10], '  FILE: line 10: id: is required');
  const [records, report] = await accept(content, 1000);
  assert.equal([records.length, report.invalid, report.problems.length], [0, 1000, 10]);
});

test('of two records with one id the first stands', async () => {
  const content = ndjson(
    { ...VALID, id: 7, comment: 'first' },
    { ...VALID, id: 8, lat: 99 },
    { ...VALID, id: 7, comment: 'second' },
    // an invalid record has taken no id
    { ...VALID, id: 8 },
  );
  assert.match(await refuse(content), "\n  FILE: line 3: id: 7 is an earlier record's");
  const [records] = await accept(content, 2);
  assert.equal([pluck(records, 'id'), pluck(records, 'comment')].flat(), [7, 8, 'first', '']);
});

test('a record may have as many bytes as the format has room for, and no more', async () => {
  const [[bare]] = await accept(ndjson({ ...VALID, id: 1 }));
  const room = MAX_RECORD_BYTES - Buffer.byteLength(JSON.stringify(bare));
  const [[record]] = await accept(ndjson({ ...VALID, id: 1, comment: 'x'.repeat(room) }));
  assert.is(String(record!['comment']).length, room);
  // é counts as two bytes, also where it is escaped
  const escaped = `{"id":1,"lat":1,"lon":2,"created_at":"2023-05-01T12:00Z","comment":"${'\\u00e9'.repeat(room / 2)}"}`;
  assert.is((await accept(escaped))[0].length, 1);
  assert.is(
    await refuse(ndjson({ ...VALID, id: 1, comment: `${'x'.repeat(room - 1)}é` })),
    'FILE: 1 of 1 records are invalid, 0 may be (--max-invalid leaves out that many); the first:\n' +
      `  FILE: line 1: record: has ${MAX_RECORD_BYTES + 1} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`,
  );
});

test('unknown keys are dropped and counted, up to a hundred of them by name', async () => {
  const records = Array.from({ length: 300 }, (_, id) => {
    const odd = { user: 'x', [`key${id}`]: 1, ...JSON.parse('{"__proto__":1}') };
    return { ...VALID, id: id + 1, ...odd, [`${'k'.repeat(100)}${id}`]: 1 };
  });
  const [loaded, { unknownKeys }] = await accept(ndjson(...records));
  const kept = 'comment created_at id is_processed lat lon modified_at status'.split(' ');
  assert.equal(Object.keys(loaded[0]!).sort(), kept);
  assert.is(unknownKeys['user'], 300);
  assert.is(Object.getOwnPropertyDescriptor(unknownKeys, '__proto__')?.value, 300);
  assert.is(unknownKeys[`${'k'.repeat(60)}…`], 300);
  assert.is(Object.keys(unknownKeys).length, 101);
  assert.is(unknownKeys['(other keys)'], 300 - 97);
});

test('a file of nothing but invalid records is not read to its end', async () => {
  const content = gzipSync(`{}\n${'1\n'.repeat(250_000)}`);
  const [summary] = (await refuse(content, 5)).split('\n');
  const [, invalid, total] = /^FILE: (\d+) of the first (\d+) records/.exec(summary!) ?? [];
  assert.is(total, invalid);
  assert.ok(Number(invalid) > 100_000 && Number(invalid) < 200_000, summary);
  assert.is((await accept(content, 250_001))[1].invalid, 250_001);
});

test('an error message in place of a snapshot is shown, a number that JSON lacks is named', async () => {
  const message = '{"detail":"Invalid token."}';
  for (const content of [message, `${message}\n\n`]) {
    assert.match(await refuse(content, 9), `this one is ${message}`);
  }
  const long = JSON.stringify({ errors: ['x'.repeat(1e6)] }, null, 1);
  assert.ok((await refuse(long)).length < 500);
  const content = pack({ ...VALID, id: Number.NaN, lat: Number.POSITIVE_INFINITY });
  assert.match(await refuse(content), /id: must be a whole number from 1 to 2\^53 - 1, got NaN; /);
  assert.match(await refuse(content), /lat: must .*, got Infinity$/);
});

test('what breaks the whole file is no matter of --max-invalid', async () => {
  const record = JSON.stringify({ ...VALID, id: 1 });
  const many = `[${`${record},`.repeat(20_000)}`;
  const short = 'the JSON document is cut short';
  const cases: [content: string | Uint8Array, reason: string][] = [
    [many, `FILE: ${short}: it ends at byte ${many.length}, inside`],
    [`[${record},]`, 'FILE: broken at byte \\d+, in or behind record 2'],
    ['{"a":\n1}', 'FILE: a JSON document must be an array of records'],
    [pack([1, 2]).subarray(0, 2), 'FILE: broken in record 2, at byte 2'],
    ['id,lat,lon,created_at\n1,2,3,"4', 'FILE: line 2: a quote that opens is never closed'],
    [gzipSync(`[${record}`), `FILE \\(gunzipped\\): ${short}`],
  ];
  for (const [content, reason] of cases) {
    assert.match(await refuse(content, 1e9), new RegExp(`^${reason}`));
  }
});

test.run();
