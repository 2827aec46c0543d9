import { accept, feature, refuse } from '../../support/rows.js';
import { assert, test } from '../../support/uvu.js';

const HEADER = 'id;lat;lon;created_at\n';
const RECORD = { id: 1, lat: 60, lon: 24, created_at: '2023-05-01T12:00Z' };
const FEATURE = feature(RECORD);

test('columns separated by something else', async () => {
  for (const separator of ['|', '^', ' ']) {
    const message = await refuse(`${HEADER.replaceAll(';', separator)}1\n`);
    assert.match(message, `; the columns are separated by "${separator}": take commas, semicol`);
  }
  const message = await refuse('id|lat|created_at\n');
  assert.not.match(message, 'the columns are separated');
});

test('the first line that Excel wants', async () => {
  for (const line of ['sep=;\n', 'sep=;\r\n', '"sep=;"\n', 'SEP=,\n', '\ufeffsep=;\n']) {
    const message = await refuse(`${line}${HEADER}`);
    assert.match(message, /; the first line is for Excel only: remove it$/);
    assert.match(message, /begins with the text "[s"\\]/i);
  }
});

test('a byte order mark is not in messages, or is seen there', async () => {
  assert.match(await refuse('\ufeffhello'), 'begins with the text "hello";');
  assert.match(await refuse('\ufeffid;lat;lon\n'), /as a header this one lacks created_at$/);
  const line = `${JSON.stringify(RECORD)}\n`;
  assert.match(await refuse(`${line}\ufeff${line}`), "Unexpected token '\\ufeff'");
});

test('text of an older encoding', async () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
  const json = JSON.stringify({ ...RECORD, comment: 'tyo\xf6' });
  const row = '1;60;24;2023-05-01T12:00Z;\xf6\n';
  for (const content of [`${json}\n`, `[${json}]`, `${HEADER.trim()};comment\n${row}`]) {
    assert.match(await refuse(latin(content)), 'is not valid UTF-8; save the file as UTF-8');
  }
  // far into the header, and where the first 40 bytes end within a character
  const header = `${HEADER.trim()};${'x'.repeat(30)}\xf6\n`;
  assert.match(await refuse(latin(header)), /begins with text that is not UTF-8, .*; save it as/);
  assert.match(await refuse(`${'x'.repeat(39)}\xf6`), `begins with the text "${'x'.repeat(39)}"`);
});

test('coordinates of GeoJSON that are no degrees, by name', async () => {
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
  // behind the features, where their metres have been seen before
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
  // of a page of records it means nothing
  assert.is((await accept(JSON.stringify({ crs, results: [RECORD] })))[0].length, 1);
});

test.run();
