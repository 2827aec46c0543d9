import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { pack, UnpackrStream } from 'msgpackr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { InputError } from '../../../src/model/quote.js';
import { makeFolder } from '../../support/folder.js';
import { readInPlace, readOnePass } from '../../support/native.js';
import { writeNativeFixtures } from '../../support/native-fixtures.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FIXTURES = join(ROOT, 'test/fixtures/native');
const fixture = (name: string): string => join(FIXTURES, `${name}.waypost`);

test('the writer still makes the files that an earlier one made', async () => {
  const folder = makeFolder();
  writeNativeFixtures(folder);
  assert.equal(readdirSync(folder).sort(), readdirSync(FIXTURES).sort());
  for (const name of readdirSync(folder)) {
    assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(FIXTURES, name))), name);
  }
});

test('the byte by byte listing of the specification is the file it shows', () => {
  const page = readFileSync(join(ROOT, 'docs/snapshot-format.md'), 'utf8');
  const bytes = readFileSync(fixture('one'));
  let at = 0;
  for (const [, offset, hex] of page.matchAll(/^([0-9a-f]{4}) {2}((?:[0-9a-f]{2} ?){1,24})/gm)) {
    const part = Buffer.from(hex!.replaceAll(' ', ''), 'hex');
    assert.is(Number.parseInt(offset!, 16), at);
    assert.ok(bytes.subarray(at, at + part.length).equals(part), `at ${offset}`);
    at += part.length;
  }
  assert.is(at, bytes.length);
  assert.ok(page.includes(`${bytes.length} bytes`));
});

test('a MessagePack library that knows nothing of frames reads a file as a stream', async () => {
  const values: unknown[] = [];
  const stream = createReadStream(fixture('sample'), { highWaterMark: 100 });
  for await (const value of stream.pipe(new UnpackrStream({ useRecords: false }))) {
    values.push(value);
  }
  assert.is(values.shift(), 'waypost');
  const types: unknown[] = [];
  const ids: number[] = [];
  let columns: Record<string, Buffer> = {};
  let crcs = 0;
  for (let i = 0; i < values.length; i += 3) {
    const [, object, crc] = values.slice(i, i + 3);
    const fields = object as Record<string, unknown>;
    if (object instanceof Buffer) {
      types.push('records');
      assert.is(crc, Number(columns['records_crc']));
      let start = 0;
      for (let at = 0; at < columns['length']!.length; at += 4) {
        const end = start + columns['length']!.readUInt32LE(at);
        const record: unknown = JSON.parse(object.subarray(start, end).toString());
        assert.is((record as { id: number }).id, columns['id']!.readDoubleLE(at * 2));
        ids.push((record as { id: number }).id);
        start = end;
      }
      assert.is(start, object.length);
    } else {
      types.push(fields['type']);
      columns = fields as Record<string, Buffer>;
    }
    if (fields['type'] === 'footer') assert.is(fields['crc'], crcs);
    crcs = crc32(Uint32Array.of(crc as number), crcs);
  }
  assert.equal(ids, [1, 2, 3]);
  assert.equal(types, [
    'header',
    'columns',
    'records',
    'columns',
    'records',
    'notifications',
    'footer',
  ]);
  assert.is(crc32('123456789'), 0xcbf43926);
  assert.equal(pack('waypost'), Buffer.from('a7776179706f7374', 'hex'));
});

for (const file of readdirSync(FIXTURES)) {
  const good = /^(one|sample|watermark|invalid-.*)\.waypost$/.test(file);
  test(`the sample file ${file} is ${good ? 'read' : 'refused'}`, async () => {
    for (const read of [readOnePass, readInPlace]) {
      let refusal: unknown;
      try {
        await read(join(FIXTURES, file));
      } catch (error) {
        refusal = error;
      }
      if (good) assert.is(refusal, undefined);
      else assert.instance(refusal, InputError);
    }
  });
}

test.run();
