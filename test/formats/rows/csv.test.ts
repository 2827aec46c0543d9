import { PARSERS } from '../../../src/formats/rows/reader.js';
import { MAX_RAW_BYTES } from '../../../src/formats/rows/row.js';
import { brokenBy, outcomes, rowsOf, valuesOf } from '../../support/rows.js';
import { assert, test } from '../../support/uvu.js';

const HEADER = 'id,lat,lon,created_at,comment,tags,is_processed,created_by';

/** The record in one line under the usual header. */
async function record(line: string): Promise<Record<string, unknown>> {
  return (await valuesOf(PARSERS.csv, `${HEADER}\n${line}\n`))[0] as Record<string, unknown>;
}

async function cell(name: 'tags' | 'is_processed' | 'id', text: string): Promise<unknown> {
  const quoted = `"${text.replaceAll('"', '""')}"`;
  const cells = { tags: '', is_processed: '', id: '1', [name]: quoted };
  return (await record(`${cells.id},1,2,now,,${cells.tags},${cells.is_processed},`))[name];
}

/** The outcome of each line; asserts that it is the same in chunks of `size` bytes. */
async function linesOf(content: string | Buffer, size = 3): Promise<string[]> {
  const found = outcomes(await rowsOf(PARSERS.csv, content));
  assert.equal(outcomes(await rowsOf(PARSERS.csv, content, size)), found);
  return found;
}

test('each column has its type', async () => {
  assert.equal(await record(' 12 , 60.1 ,-0.5, 2023-05-01T12:00Z ," a ""b""\nc ",x;y,TRUE,5'), {
    id: 12,
    lat: '60.1',
    lon: '-0.5',
    created_at: '2023-05-01T12:00Z',
    comment: ' a "b"\nc ',
    tags: ['x', 'y'],
    is_processed: true,
    created_by: 5,
  });
  const empty = { lat: '', lon: '', created_at: '', comment: '', is_processed: '', created_by: '' };
  assert.equal(await record('1,,,,,,,'), { id: 1, ...empty, tags: undefined });
});

test('ids that are no plain whole number stay as they are, to be refused', async () => {
  assert.is(await cell('id', '007'), 7);
  // pandas writes ids so where a cell of the column is empty
  assert.is(await cell('id', '7.0'), 7);
  for (const text of ['1.5', '1e3', '-1', '+1', '0x1', '1 2', '99999999999999999999', 'one']) {
    assert.is(await cell('id', text), text);
  }
});

test('flags have six spellings in any case', async () => {
  const flag = (text: string): Promise<unknown> => cell('is_processed', text);
  for (const text of ['true', 'T', '1', 'True', ' t ']) assert.is(await flag(text), true);
  for (const text of ['false', 'F', '0', 'FALSE']) assert.is(await flag(text), false);
  for (const text of ['yes', 'no', '2', '00']) assert.is(await flag(text), text);
});

test('tags are JSON, a PostgreSQL array, or separated by semicolons', async () => {
  type Case = [text: string, tags: unknown];
  const cases: Case[] = [
    ['', undefined],
    ['  ', undefined],
    ['Noise', ['Noise']],
    ['Noise; Nature ;Muu', ['Noise', 'Nature', 'Muu']],
    ['a;;b', ['a', '', 'b']],
    ['a,b', ['a,b']],
    ['["a;b","\\u00e9"]', ['a;b', 'é']],
    ['[]', []],
    ['{}', []],
    ['{Noise,Nature}', ['Noise', 'Nature']],
    [
      '{Noise 3,"a,b","q\\"q","b\\\\s",NULL,"NULL","{}"}',
      ['Noise 3', 'a,b', 'q"q', 'b\\s', null, 'NULL', '{}'],
    ],
    ['{"a"}', ['a']],
    ['{a, "b, c"}', ['a', 'b, c']],
    ...['{a,}', '{,a}', '{a"b}', '{{a},{b}}', '["a"', '[a]'].map((text): Case => [text, text]),
    ['{a', ['{a']],
  ];
  for (const [text, expected] of cases) assert.equal(await cell('tags', text), expected, text);
});

test('a record whose quotes or fields are wrong is a problem of its own', async () => {
  const quote = 'has a quote inside a field: quote the field and double the quote';
  assert.equal(
    await linesOf(
      Buffer.concat([
        Buffer.from('id,lat,lon,created_at\n1,2,3,4\n\n  \n1,2,3\n1,2,3,4,5\n1,a"b,3,4\n'),
        Buffer.from('1,"a"b,3,4\r\n1,"a\n\nb",3,4\n1,\xe9,3,4\n1, "2",3,4\n1,2,3,"4"', 'latin1'),
      ]),
    ),
    [
      '2: ok',
      '5: record: has 3 fields, the header has 4',
      '6: record: has 5 fields, the header has 4',
      `7: record: ${quote}`,
      `8: record: ${quote}`,
      '9: ok',
      '12: record: is not valid UTF-8; save the file as UTF-8',
      `13: record: ${quote}`,
      '14: ok',
    ],
  );
});

test('the header decides on the separator, and what it separates', async () => {
  assert.equal(await linesOf('id;lat;lon;created_at\n1;"2;5";3,5;a\n1;2"3;3;4\n'), [
    '2: ok',
    '3: record: has a quote inside a field: quote the field and double the quote',
  ]);
  const tabs = '\ufeff"id"\tlat\tlon\t created_at \textra\r\n1\t2\t3\t4\t"5\t"\r\n';
  const expected = { id: 1, lat: '2', lon: '3', created_at: '4', extra: '5\t' };
  assert.equal(await valuesOf(PARSERS.csv, tabs), [expected]);
});

test('columns may be called by other names, in any case', async () => {
  const fieldsOf = async (header: string): Promise<unknown> => {
    return (await valuesOf(PARSERS.csv, `${header}\n1,2,3,4,5\n`))[0];
  };
  const expected = { id: 1, lat: '2', lon: '3', created_at: '4' };
  for (const names of ['LAT,Lon', 'latitude,longitude', 'Latitude,lng', 'lat,long', 'Y,X']) {
    const found = await fieldsOf(`ID,${names},CREATED_AT,Tags`);
    assert.equal(found, { ...expected, tags: ['5'] }, names);
  }
  // the most exact name wins, and the other column is an unknown one
  assert.equal(await fieldsOf('id,lat,x,created_at,Lon'), { ...expected, x: '3', lon: '5' });
  assert.equal(await fieldsOf('id,lat,lon,created_at,LON'), { ...expected, LON: '5' });
});

test('a header that cannot be right, or a quote that is never closed, breaks the file', async () => {
  const columns = 'id,lat,lon,created_at';
  const header = (extra: number): string =>
    [columns, ...Array.from({ length: extra }, (_, i) => `c${i}`)].join(',');
  const head = `${columns}\n1,2,3,4\n1,2,3,"4\n`;
  const open = 'line 3: a quote that opens is never closed';
  const cases: [content: string, reason: string][] = [
    [
      '\nid,lat\n1,2\n',
      'line 2: the header must name id, lat, lon, created_at, it lacks lon, created_at',
    ],
    [
      `${columns},comment\r1,2,3,4,\r`,
      'line 1: ends with a carriage return alone: end lines with a line feed',
    ],
    [`${columns},lat\n`, 'line 1: the header names "lat" twice'],
    ['id,LAT,lon,created_at,Lat\n', 'line 1: the header names "lat" twice'],
    [`${header(100_000)}\n`, 'line 1: the header has 100004 names, at most 1000 are read'],
    [head, open],
    // however much follows
    [head + '1,2,3,4\n'.repeat(400_000), open],
  ];
  for (const [content, reason] of cases)
    assert.is(await brokenBy(PARSERS.csv, content, 1000), reason);
  const commas = `${columns}${','.repeat(MAX_RAW_BYTES)}`;
  assert.match(await brokenBy(PARSERS.csv, commas, 1000), /the header must/);
  assert.equal(await linesOf(`${header(996)}\n1,2,3,4${','.repeat(996)}\n`, 999), ['2: ok']);
});

test('a record that is too long is passed over', async () => {
  const long = 'x'.repeat(MAX_RAW_BYTES);
  const columns = 'id,lat,lon,created_at,comment\n';
  const lines = `1,2,3,4,${long}\n1,2,3,4,"${long}\n"\n1,2,3,4,\n`;
  const reason = `record: is longer than ${MAX_RAW_BYTES} bytes`;
  const expected = [`2: ${reason}`, `3: ${reason}`, '5: ok'];
  assert.equal(await linesOf(columns + lines, 9999), expected);
  const large = `${columns}1,2,3,4,"${'x'.repeat(300_000)}"`;
  assert.equal(await linesOf(large, 9999), ['2: ok']);
});

test.run();
