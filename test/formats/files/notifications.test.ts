import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readNotifications } from '../../../src/formats/files/notifications.js';
import type { Fields } from '../../support/rows.js';
import { assert, makeFolder, refusal, test } from '../../support/uvu.js';

const created_at = '2023-05-01T15:00:00.000000+03:00';
const COMMENT = { id: 3, user: 4, created_at, comment: 'työ', map_data_point: 5 };

function item(id: number, fields: Fields = {}, comment: Fields = {}): Fields {
  return { id, user: 2, seen: true, ...fields, comment: { ...COMMENT, ...comment } };
}

const FILE = join(makeFolder(), 'told');

const read = (content: string | Uint8Array): Promise<unknown> => {
  writeFileSync(FILE, content);
  return readNotifications(FILE);
};

const refuse = async (content: string | Uint8Array): Promise<string> =>
  (await refusal(read(content))).replaceAll(FILE, 'FILE');

test('lines, an array and an envelope say the same', async () => {
  const items = [item(1), item(2, { seen: undefined }), item(9, { user: 0 }, { comment: '' })];
  const expected = [item(1), item(2, { seen: false }), item(9, { user: 0 }, { comment: '' })];
  const lines = items.map((each) => JSON.stringify(each)).join('\n');
  const envelope = JSON.stringify({ count: 3, results: items }, null, 1);
  for (const content of [lines, gzipSync(lines), JSON.stringify(items), envelope]) {
    assert.equal(await read(content), expected);
  }
  assert.equal(await read('[]'), []);
  // times are rendered as the API does, other keys dropped
  const line = JSON.stringify(item(1, { extra: 1 }, { created_at: '2023-05-01 12:00Z', more: 2 }));
  assert.equal(await read(line), [item(1, {}, { created_at: '2023-05-01T12:00:00.000000+00:00' })]);
});

test('each rule that is broken is named with its place', async () => {
  const cases: [Fields | string, string][] = [
    [item(0), 'id: must be a whole number from 1 to 2^53 - 1'],
    [{ ...item(1), id: undefined }, 'id: is required'],
    [{ ...item(1), id: '1' }, 'id: must be a whole number from 1 to 2^53 - 1'],
    [item(1, { user: -1 }), 'user: must be a whole number from 0 to 2^53 - 1'],
    [item(1, { user: undefined }), 'user: is required'],
    [item(1, { seen: 'yes' }), 'seen: must be true or false'],
    [item(1, { seen: null }), 'seen: must be true or false'],
    [{ ...item(1), comment: 'x' }, 'comment: must be an object'],
    [{ ...item(1), comment: undefined }, 'comment: must be an object'],
    [item(1, {}, { id: 1.5 }), 'comment.id: must be a whole number from 1 to 2^53 - 1'],
    [item(1, {}, { user: null }), 'comment.user: must be a whole number from 0 to 2^53 - 1'],
    [item(1, {}, { map_data_point: undefined }), 'comment.map_data_point: is required'],
    [item(1, {}, { comment: 5 }), 'comment.comment: must be text'],
    [item(1, {}, { comment: 'a\0' }), 'comment.comment: must not contain a NUL character'],
    [item(1, {}, { created_at: undefined }), 'comment.created_at: must be text'],
    [item(1, {}, { created_at: '2023-05-01T24:00Z' }), 'comment.created_at: the hour must be'],
    [item(8), "id: 8 is an earlier record's"],
    ['[1]', 'record: must be an object'],
    ['{"id":', 'record: is not valid JSON: '],
  ];
  const lines = [item(8), ...cases.map(([record]) => record)].map((record) =>
    typeof record === 'string' ? record : JSON.stringify(record),
  );
  const [summary, ...first] = (await refuse(lines.join('\n'))).split('\n');
  const { length } = cases;
  assert.is(summary, `FILE: ${length} of ${length + 1} notifications are invalid; the first:`);
  assert.is(first.length, 10);
  for (const [index, [record, reason]] of cases.entries()) {
    const line = typeof record === 'string' ? record : JSON.stringify(record);
    const message = await refuse(`${JSON.stringify(item(8))}\n${line}`);
    assert.match(message, `\n  FILE: line 2: ${reason}`);
    if (index < 10) assert.match(first[index]!, `  FILE: line ${index + 2}: ${reason}`);
  }
  assert.match(await refuse(JSON.stringify([item(1), {}])), '\n  FILE: record 2: id: is required');
});

test('files of other kinds, broken or missing ones are refused', async () => {
  const cases: [content: string | Uint8Array, why: RegExp][] = [
    ['id,lat,lon,created_at\n', /^FILE: notifications must be NDJSON, .* got csv/],
    ['hello', /^FILE: begins with the text "hello".*$/],
    ['', /^FILE: the file is empty/],
    ['[{"id":1}', /^FILE: the JSON document is cut short.*$/],
    [gzipSync('[]').subarray(0, 15), /^FILE: the gzip data is cut short/],
  ];
  for (const [content, why] of cases) assert.match(await refuse(content), why);
  assert.match(await refusal(readNotifications('/no/such')), /^\/no\/such: .*no such file$/);
});

test.run();
