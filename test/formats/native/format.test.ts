import { createReadStream, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { pack, UnpackrStream } from 'msgpackr';
import { packSnapshot } from '../../../src/cli/pack.js';
import { verify } from '../../../src/cli/verify.js';
import { decodeRecords } from '../../../src/formats/native/decode.js';
import { openNative } from '../../../src/formats/native/read.js';
import { isStored, storePoint, UnstoredRecord } from '../../../src/formats/record-layout.js';
import type { Watermark } from '../../../src/formats/snapshot.js';
import type { RecordTexts } from '../../../src/model/point.js';
import { InputError } from '../../../src/model/quote.js';
import {
  blockOf,
  notification,
  type Piece,
  point,
  putTogether,
  readInPlace,
  readOnePass,
  takeApart,
  writeNative,
} from '../../support/native.js';
import { fixtureRecords, ndjson } from '../../support/rows.js';
import { ROOT } from '../../support/service.js';
import { assert, makeFolder, test } from '../../support/uvu.js';

const FIXTURES = join(ROOT, 'test/fixtures/native');
const fixture = (name: string): string => join(FIXTURES, `${name}.waypost`);

const WATERMARK = { journal: '0123456789abcdef', sequence: 2 ** 40 + 7 };
const NONE = { journal: 'fedcba9876543210', sequence: 0 };
const OTHER = { journal: 'fedcba9876543210', sequence: 9 };

/**
 * Writes the files of test/fixtures/native into a folder. one, sample and watermark are good; the
 * invalid ones can be read, but do not verify; the others are broken.
 */
function writeFixtures(folder: string): void {
  const file = (name: string): string => join(folder, `${name}.waypost`);
  const hello = point({ id: 7, comment: 'Hi', lat: 60.25, lon: -0.5 });
  writeNative(file('one'), [blockOf([hello])]);

  writeNative(file('watermark'), [blockOf([hello])], [], WATERMARK);
  const blocks = [
    blockOf([
      point({ id: 1, comment: 'työ 😀', tags: ['Noise', '景色'] }),
      point({ id: 2, lat: -90, lon: 180, image: 'a.jpg', created_by: 5, is_processed: true }),
    ]),
    blockOf([point({ id: 3, lat: 0, lon: 0, modified_at: '2023-06-01T09:00:00.5+03:00' })]),
  ];
  writeNative(file('sample'), blocks, [notification(1), notification(2)]);
  const sample = readFileSync(file('sample'));

  const forge = (name: string, edit: (pieces: Piece[]) => unknown): void => {
    const pieces = takeApart(sample);
    // without checksums, which are computed when the pieces are joined
    for (const index of [1, 3]) Object.assign(pieces[index]!, { records_crc: undefined });
    Object.assign(pieces.at(-1)!, { crc: undefined });
    edit(pieces);
    writeFileSync(file(name), putTogether(pieces));
  };
  writeFileSync(file('cut-short'), sample.subarray(0, -100));
  writeFileSync(file('something-added'), Buffer.concat([sample, Buffer.from('\n')]));
  const flipped = Buffer.from(sample);
  flipped[600]! ^= 4;
  writeFileSync(file('flipped-bit'), flipped);
  const set = (name: string, piece: number, fields: object): void =>
    forge(name, (pieces) => Object.assign(pieces[piece]!, fields));
  forge('blocks-swapped', (pieces) =>
    pieces.splice(1, 4, ...pieces.slice(3, 5), ...pieces.slice(1, 3)),
  );
  set('version-2', 0, { version: 2 });
  set('wrong-count', 0, { count: 4 });
  set('status-9', 3, { status: Buffer.from(Uint32Array.of(9).buffer) });
  set('invalid-attribute', 1, { flags: Buffer.of(0, 2) });
  set('latitude-91', 3, { lat: Buffer.from(Float64Array.of(91).buffer) });

  const again = blockOf([point({ id: 2, comment: 'again' })]);
  writeNative(file('invalid-id-twice'), [blocks[0]!, again]);
  writeNative(file('invalid-column'), [{ ...blocks[1]!, lon: Float64Array.of(0.5) }]);
  const records = Buffer.from(blocks[1]!.records);
  records.write('x', records.indexOf('0.00000000'));
  writeNative(file('invalid-record'), [{ ...blocks[1]!, records }]);
}

test('the writer still makes the files that an earlier one made', async () => {
  // when the format changes, NATIVE_FIXTURES names a folder for the new files
  const folder = process.env['NATIVE_FIXTURES'] ?? makeFolder();
  writeFixtures(folder);
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
        // as the specification has it: the digits of the id come first behind a head of 11 bytes
        const id = object.toString('latin1', start + 11, start + 11 + (object[start + 1]! & 31));
        assert.is(Number(id), columns['id']!.readDoubleLE(at * 2));
        ids.push(Number(id));
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
    ...['header', 'columns', 'records', 'columns', 'records', 'notifications', 'footer'],
  ]);
  assert.is(crc32('123456789'), 0xcbf43926);
  assert.equal(pack('waypost'), Buffer.from('a7776179706f7374', 'hex'));
});

const print = (): void => {};

test('a header says up to which post of a journal the file goes', async () => {
  const path = fixture('watermark');
  const [[block], report] = await readOnePass(path);
  assert.equal([block!.count, report.watermark], [1, WATERMARK]);
  assert.equal(readInPlace(path)[1].watermark, WATERMARK);
  const [, without] = await readOnePass(fixture('one'));
  assert.not.ok('watermark' in without);
});

test('pack writes a watermark, keeps it through sorting, and keeps that of a native input', async () => {
  const folder = makeFolder();
  const [rows, packed, again] = ['rows', 'packed', 'again'].map((name) => join(folder, name));
  writeFileSync(rows!, ndjson(...fixtureRecords(300)));
  const cases: [from: string, to: string, ...(Watermark | undefined)[]][] = [
    [rows!, packed!, NONE, NONE],
    [rows!, packed!, WATERMARK, WATERMARK],
    [packed!, again!, undefined, WATERMARK],
    [packed!, again!, OTHER, OTHER],
    [rows!, again!],
  ];
  for (const [from, to, journalThrough, found] of cases) {
    await packSnapshot(from, to, { print, ...(journalThrough && { journalThrough }) });
    const [, report] = await readOnePass(to);
    assert.equal(report.watermark, found);
    assert.is('watermark' in report, found !== undefined);
  }
  const lines: string[] = [];
  await verify(packed!, { print: (line) => lines.push(line) });
  assert.match(lines.join('\n'), '  journal        0123456789abcdef up to 1,099,511,627,783\n');
  assert.not.equal(readFileSync(packed!), readFileSync(again!));
});

test('progress grows to the whole file, in one pass and in two', async () => {
  const path = join(makeFolder(), 'p.waypost');
  const { bytes } = writeNative(path, [blockOf([point({ id: 1 })]), blockOf([point({ id: 2 })])]);
  let seen = 0;
  const reader = openNative(path, {
    onProgress(read, total) {
      assert.ok(read > seen && read <= total);
      assert.is(total, bytes);
      seen = read;
    },
  })!;
  for await (const _ of reader.blocks());
  assert.is(seen, bytes);
  seen = 0;
  for (const _ of reader.columns());
  assert.ok(seen < bytes);
  reader.recordsInto(() => []);
  assert.is(seen, bytes);
  reader.close();
});

test('the report is there once everything has been read', async () => {
  const path = join(makeFolder(), 'r.waypost');
  writeNative(path, [blockOf([point({ id: 1 })])]);
  const reader = openNative(path, {})!;
  assert.is(reader.count, 1);
  assert.is(reader.origin, 'a test');
  assert.throws(() => reader.report(), /read to its end/);
  assert.throws(() => reader.recordsInto(() => []), /columns/);
  for (const _ of reader.columns());
  assert.throws(() => reader.report(), /read to its end/);
  reader.recordsInto(() => []);
  assert.is(reader.report().points, 1);
  reader.close();
  reader.close();
  assert.throws(() => [...reader.columns()], /closed/);
});

test('a file that changes between the passes is noticed', async () => {
  const path = join(makeFolder(), 'c.waypost');
  const block = blockOf([point({ id: 1, comment: 'before' })]);
  const size = block.records.length;
  writeNative(path, [block]);
  const bytes = readFileSync(path);
  const changed = Buffer.from(bytes);
  changed.write('behind', bytes.indexOf('before'));
  for (const change of [
    () => writeFileSync(path, changed),
    () => truncateSync(path, bytes.length - 100),
  ]) {
    writeFileSync(path, bytes);
    const reader = openNative(path, {})!;
    for (const _ of reader.columns());
    change();
    const isNamed = (error: unknown) => error instanceof InputError && error.message.includes(path);
    assert.throws(() => reader.recordsInto(() => [new Uint8Array(size)]), isNamed);
    reader.close();
  }
});

const fail = (problem: string): InputError => new InputError(problem);
const [one, two] = [point({ id: 7 }), point({ id: 8, tags: ['a'], created_by: 5 })].map(storePoint);
const both = Buffer.concat([one!, two!]);
const decode = (object: Buffer): Buffer =>
  decodeRecords(object, both.length, Uint32Array.of(one!.length, two!.length), fail);

test('records are one bin in any of its forms, as large as the columns say', () => {
  const size = both.length;
  for (const head of [[0xc4], [0xc5, 0], [0xc6, 0, 0, 0]]) {
    assert.equal(decode(Buffer.from([...head, size, ...both])), both);
  }
  const more = Buffer.concat([both, one!]);
  for (const value of [one, more, both.toString('latin1'), [both], {}, null]) {
    assert.throws(() => decode(pack(value)), /expected one bin object with \d+ bytes/);
  }
  const cut = [0xc4, size - 3, ...both];
  for (const bytes of [cut, [0xc4, size + 1, ...both, 0], [0xd9, size, ...both], [0xc1]]) {
    assert.throws(() => decode(Buffer.from(bytes)), /bin object|MessagePack/, bytes.join());
  }
});

test('a head says how long each value is, or the record is none', () => {
  for (let at = 0; at < both.length; at++) {
    const isFirst = at < one!.length;
    const head = isFirst ? at : at - one!.length;
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(both);
      changed[at]! ^= 1 << bit;
      // any value is valid, and so is the bit that says whether a point is processed
      if (head >= 11 || (head === 0 && bit === 0)) assert.equal(decode(pack(changed)), changed);
      else {
        const why = new RegExp(`record ${isFirst ? 0 : 1} of the block is none`);
        assert.throws(() => decode(pack(changed)), why, `bit ${bit} of byte ${at}`);
      }
    }
  }
});

test('a head that says more than its lengths says what is true', () => {
  const time = '2024-02-29T12:00:00.000000+02:00';
  const good: RecordTexts = {
    ...{ id: '1'.repeat(16), status: 's'.repeat(130), comment: '', image: '', isProcessed: false },
    ...{ lat: '1.00000000', lon: '1.00000000', createdBy: '1'.repeat(16), tags: '' },
    ...{ createdAt: time, modifiedAt: time },
  };
  for (const comment of ['', 'c'.repeat(2 ** 14)]) {
    const stored = new UnstoredRecord({ ...good, comment }).store();
    assert.ok(isStored(stored, 0, stored.length));
    for (const key of ['id', 'createdBy'] as const) {
      const long = new UnstoredRecord({ ...good, comment, [key]: '1'.repeat(17) }).store();
      assert.not.ok(isStored(long, 0, long.length), key);
    }
    for (const flag of [8, 32, 64]) {
      const flagged = Buffer.from(stored);
      flagged[0]! |= flag;
      assert.not.ok(isStored(flagged, 0, flagged.length), `flag ${flag}`);
    }
    // the same length in eight bits
    const wide = Buffer.from(stored);
    wide.set([0x82, 0], 3);
    assert.not.ok(isStored(wide, 0, wide.length));
  }
});

test.run();
