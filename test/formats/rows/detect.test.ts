import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openSnapshot } from '../../../src/formats/files/open.js';
import { detectFormat } from '../../../src/formats/rows/detect.js';
import { accept, feature, refuse } from '../../support/rows.js';
import { assert, makeFolder, refusal, test } from '../../support/uvu.js';

const POINT = '{"id":1,"lat":"1","lon":"2","created_at":"2023-05-01T12:00Z"}';

const FILE = join(makeFolder(), 'points.txt');

/** The format of a file with this content, gzipped or not. */
async function detect(content: string | Uint8Array): Promise<string> {
  writeFileSync(FILE, content);
  return detectFormat(FILE);
}

test('a first line that is a whole or broken object means NDJSON, else it is a document', async () => {
  const long = 'x'.repeat(1_500_000);
  const contents: Readonly<Record<string, readonly string[]>> = {
    ndjson: [
      ...[POINT, `${POINT}\n${POINT}\n`, `\ufeff \r\n\t${POINT}\r\n${POINT}`, '{}', '{"id":1}'],
      ...['{"id":1,"results":"none"}\n', '{"type":"Feature","geometry":null}\n'],
      // broken, and nothing that a document begins with
      ...[`{"id":1,"comment":"cut\n${POINT}\n`, `{"id":01}\n${POINT}\n`],
      ...[`{"id":1,"lat":6\n${POINT}\n`, `{"id":1,"tags":["a"]\n\n${POINT}`],
      ...[`{"id":1}}\n${POINT}\n`, `${POINT}${POINT}\n`],
      // a long first line, or much white space before it, hides nothing
      ...[`{"comment":"${long}","id":1}\n${POINT}`, `${' '.repeat(3_000_000)}\n${POINT}\n`],
      // text sequences, and an error message among records
      ...[`\x1e${POINT}\n\x1e${POINT}\n`, '\x1e{"type":"Feature",\n"geometry":null}\n'],
      `{"detail":"Not found."}\n${POINT}`,
    ],
    json: [
      ...[`{"results":[${POINT}]}\n`, '{\n"id": 1\n}', `{"count":1,\n"results":[${POINT}]}`],
      ...['{"count":1,"results":', '[]', '\ufeff\n[\n1', `{"a":[1,\n${POINT}`, `{"a":\n${POINT}`],
      `{"results":[${POINT}\n${POINT}\n]}`,
      `{"results":[{"comment":"${long}${long}"}]}`,
      // a problem of RFC 9457, whose status is no note's
      ...['{"detail":"Not found."}\n', '{"error":{"id":5}}', '{"title":"Not Found","status":404}'],
    ],
    geojson: [
      '{"type":"FeatureCollection","features":[]}',
      '{\n"type": "FeatureCollection",\n"name": "x"',
      ...['{"features":[{"type":"Feature"},\n', `{"name":"${long}","features":[`],
    ],
  };
  for (const [format, own] of Object.entries(contents)) {
    for (const content of own) assert.is(await detect(content), format, content.slice(0, 99));
  }
  assert.match(await refusal(detect('\x1e[1]')), /begins with/);
});

test('CSV is known by its header', async () => {
  assert.is(await detect('id,lat,lon,created_at\n'), 'csv');
  assert.is(await detect('\ufeffcreated_at; "lat";comment;lon;"id"\r\n'.replace(' ', '')), 'csv');
  assert.is(await detect('lon\tlat\tid\tcreated_at'), 'csv');
  // its reader says what is wrong with the line ends
  assert.is(await detect('id,lat,lon,created_at\r1,2,3,2023-05-01T12:00:00Z\r'), 'csv');
  assert.is(await detect('\n\n id , lat , lon , created_at \n1,2,3,4'), 'csv');
  assert.is(await detect('ID,Latitude,LNG,CREATED_AT\n'), 'csv');
  for (const header of ['id,lat,lon', 'id|lat|lon|created_at', '1,2,3,4', 'a,b,x,y']) {
    const message = await refusal(detect(`${header}\n`));
    assert.match(message, `begins with the text "${header}\\n"; accepted are native snapshots`);
    assert.match(message, 'CSV with a header that names id, lat, lon and created_at');
    const lack = { 'id,lat,lon': 'created_at', 'a,b,x,y': 'id, created_at' }[header];
    assert.is(/as a header this one lacks (.*)$/.exec(message)?.[1], lack);
  }
});

test('MessagePack is known by a first map or array', async () => {
  for (const start of [0x80, 0x8f, 0x90, 0x9f, 0xdc, 0xdd, 0xde, 0xdf]) {
    assert.is(await detect(Buffer.of(start, 0, 0, 0, 0)), 'msgpack');
  }
  assert.is(await detect(gzipSync(Buffer.of(0x81))), 'msgpack');
  for (const start of [0xc0, 0xd4, 0xa7, 0xe0, 0x7f]) {
    assert.match(await refusal(detect(Buffer.of(start, 0xff, 1))), /begins with the bytes|text/);
  }
});

test('a file of another kind is refused by the name of that kind', async () => {
  const says = async (content: string | Uint8Array, pattern: RegExp): Promise<void> => {
    const message = await refusal(detect(content));
    assert.match(message, pattern);
    assert.match(message, /points\.txt: /);
  };
  await says('', /the file is empty/);
  await says(' \r\n\t ', /the file is empty, or has only white space/);
  await says('\ufeff\r\n', /the file is empty/);
  await says(gzipSync(''), /the file is empty/);
  await says(Buffer.from(`\ufeff${POINT}`, 'utf16le'), /begins with UTF-16 text; save it as UTF-8/);
  await says(Buffer.from(`\ufeff${POINT}`, 'utf16le').swap16(), /UTF-16/);
  await says(Buffer.from(POINT, 'utf16le'), /zero bytes, which may be UTF-16/);
  await says(Buffer.from(POINT, 'utf16le').swap16(), /zero bytes, which may be UTF-16/);
  await says('PK\x03\x04\x14', /begins with a ZIP archive or a spreadsheet/);
  await says(Buffer.from('\x89PNG\r\n', 'latin1'), /begins with a PNG image; accepted are/);
  await says(Buffer.of(0x28, 0xb5, 0x2f, 0xfd), /Zstandard/);
  await says('<?xml version="1.0"?>', /XML or HTML/);
  await says('SQLite format 3\0', /SQLite/);
  await says(gzipSync(gzipSync(POINT)), /gzip data inside gzip data/);
  await says(Buffer.alloc(4096), /begins with zero bytes/);
  await says('hello', /the text "hello"; accepted are/);
  await says('"text"', /the text "\\"text\\""/);
  await says(Buffer.of(0xff, 0x00), /begins with/);
  await says(Buffer.of(0xe9, 0x74, 0xe9, 0x0a), /text that is not UTF-8, .*; save it as UTF-8; /);
  await says(Buffer.of(0xe9, 0x74, 0x01, 0x0a), /the bytes e974010a/);
  await says(Buffer.of(0x1f, 0x8b), /the gzip data is cut short at byte 2/);
  await says('\x1f\x8b'.padEnd(40, 'x'), /the bytes|the text/);
});

test('what cannot be opened is said without a stack', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'file'), '');
  const cases: [path: string, why: RegExp][] = [
    [join(folder, 'missing.ndjson'), /missing.ndjson: cannot be read: there is no such file$/],
    [join(folder, 'folder'), /folder: cannot be read: it is a folder$/],
    ['/dev/null', /it is no regular file$/],
    [join(folder, 'file', 'x'), /cannot be read: ENOTDIR/],
  ];
  for (const [path, why] of cases) assert.match(await refusal(openSnapshot(path, {})), why);
});

const HEADER = 'id;lat;lon;created_at\n';
const RECORD = { id: 1, lat: 60, lon: 24, created_at: '2023-05-01T12:00Z' };
const FEATURE = feature(RECORD);

test('the refusal says what a first line may have been meant to be', async () => {
  for (const separator of ['|', '^', ' ']) {
    const message = await refuse(`${HEADER.replaceAll(';', separator)}1\n`);
    assert.match(message, `; the columns are separated by "${separator}": take commas, semicol`);
  }
  assert.not.match(await refuse('id|lat|created_at\n'), 'the columns are separated');
  // the first line that Excel wants
  for (const line of ['sep=;\n', 'sep=;\r\n', '"sep=;"\n', 'SEP=,\n', '\ufeffsep=;\n']) {
    const message = await refuse(`${line}${HEADER}`);
    assert.match(message, /; the first line is for Excel only: remove it$/);
    assert.match(message, /begins with the text "[s"\\]/i);
  }
  // messages leave out a leading byte order mark, and show one elsewhere as an escape
  assert.match(await refuse('\ufeffhello'), 'begins with the text "hello";');
  assert.match(await refuse('\ufeffid;lat;lon\n'), /as a header this one lacks created_at$/);
  const line = `${JSON.stringify(RECORD)}\n`;
  assert.match(await refuse(`${line}\ufeff${line}`), "Unexpected token '\\ufeff'");
});

test('text in an older encoding is refused as such', async () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
  const json = JSON.stringify({ ...RECORD, comment: 'tyo\xf6' });
  const row = '1;60;24;2023-05-01T12:00Z;\xf6\n';
  for (const content of [`${json}\n`, `[${json}]`, `${HEADER.trim()};comment\n${row}`]) {
    assert.match(await refuse(latin(content)), 'is not valid UTF-8; save the file as UTF-8');
  }
  // far into the header
  const header = `${HEADER.trim()};${'x'.repeat(30)}\xf6\n`;
  assert.match(await refuse(latin(header)), /begins with text that is not UTF-8, .*; save it as/);
  const text = `${'x'.repeat(39)}\xf6`;
  assert.match(await refuse(text), `begins with the text "${text}"`);
  // not cut in the middle of a character
  const smiles = '\u{1f600}'.repeat(29);
  assert.match(await refuse(`x${smiles}${smiles}`), `begins with the text "x${smiles}…"`);
});

test('GeoJSON whose coordinates are no degrees is refused by the name of its crs', async () => {
  const named = (name: string): object => ({ type: 'name', properties: { name } });
  const collection = (crs: unknown, feature: object = FEATURE): object => {
    return { type: 'FeatureCollection', crs, features: [feature] };
  };
  const metres = { ...FEATURE, geometry: { type: 'Point', coordinates: [2_776_000, 8_437_000] } };
  const mercator = named('urn:ogc:def:crs:EPSG::3857');
  const wants = /must be CRS84 or EPSG:4326, got "urn:ogc:def:crs:EPSG::3857"; write degrees/;
  const document = JSON.stringify(collection(mercator, metres));
  assert.match(await refuse(document), /: its "crs" must be/);
  assert.match(await refuse(document), wants);
  // behind the features, whose metres are a problem of their own before
  const { crs, ...before } = collection(mercator, metres) as { crs: unknown };
  assert.match(await refuse(JSON.stringify({ ...before, crs })), wants);
  assert.match(await refuse(`${JSON.stringify({ ...metres, crs })}\n`), wants);
  const linked = { type: 'link', properties: { href: 'http://example.org/crs' } };
  assert.match(await refuse(JSON.stringify(collection(linked))), 'got {"type":"link"');
  for (const name of ['EPSG:14326', 'EPSG:43260', 'NOTCRS84', 'EPSG:4326:3857']) {
    assert.match(await refuse(JSON.stringify(collection(named(name)))), `got "${name}"`);
  }
  for (const name of [
    ...['urn:ogc:def:crs:OGC:1.3:CRS84', 'urn:ogc:def:crs:OGC::CRS84', 'OGC:CRS84', 'CRS84'],
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    ...['http://www.opengis.net/def/crs/OGC/0/CRS84h', 'urn:ogc:def:crs:EPSG::4326'],
    ...['urn:ogc:def:crs:EPSG:6.9:4326', 'http://www.opengis.net/def/crs/EPSG/0/4326'],
    ...['EPSG:4326', 'epsg:4326'],
  ]) {
    assert.is((await accept(JSON.stringify(collection(named(name)))))[0].length, 1, name);
  }
  assert.is((await accept(JSON.stringify(collection(null))))[0].length, 1);
  // in a page of records `crs` means nothing
  assert.is((await accept(JSON.stringify({ crs, results: [RECORD] })))[0].length, 1);
});

test.run();
