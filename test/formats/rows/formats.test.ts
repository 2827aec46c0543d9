import * as fs from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import type { PointBlock } from '../../../src/formats/block.js';
import { openSnapshot } from '../../../src/formats/files/open.js';
import { sniff } from '../../../src/formats/rows/detect.js';
import { PARSERS } from '../../../src/formats/rows/reader.js';
import { renderPoint } from '../../../src/model/point.js';
import { sha256 } from '../../support/folder.js';
import { blockOf, COLUMNS, contentsOf, point } from '../../support/native.js';
import { parquetOf } from '../../support/parquet.js';
import {
  type Fields,
  fixtureRecords,
  ndjson,
  readAll,
  rowsOf,
  valuesOf,
  WRITERS,
} from '../../support/rows.js';
import { assert, failure, makeFile, makeFolder, refusal, test } from '../../support/uvu.js';

const VALID = { lat: '1', lon: '2', created_at: '2023-05-01T12:00Z' };
const RECORDS: Fields[] = [
  ...fixtureRecords(150),
  { ...VALID, id: 2 ** 53 - 1, lat: '90', lon: '-180', created_by: 0 },
  { ...VALID, id: 1, comment: 'a\r\nb;"c",\t\ufffd\u2028' },
  { ...VALID, id: 2, lat: '0', lon: '0', tags: ['a;b', '"', '[x', 'é'] },
];

const EXPECTED: PointBlock = blockOf(RECORDS.map(point));

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name}: found from its first bytes, the same rows however they come, gzipped too`, async () => {
    const path = join(makeFolder(), 'points');
    const format = formatOf(name);
    assert.is(sniff(write(RECORDS)), format);
    for (const bytes of [write(RECORDS), gzipSync(write(RECORDS))]) {
      fs.writeFileSync(path, bytes);
      fs.utimesSync(path, 1_700_000_000, 1_700_000_000);
      const seen: number[] = [];
      const onProgress = (read: number, total: number): void => {
        assert.is(total, bytes.length);
        seen.push(read);
      };
      const { blocks, report } = await readAll(path, { onProgress });
      assert.is(blocks.length, 1);
      assertSame(blocks[0]!, EXPECTED);
      assert.is(seen.at(-1), bytes.length);
      assert.equal(report, {
        ...{ format, points: RECORDS.length, invalid: 0, problems: [], unknownKeys: {} },
        ...{ notifications: [], createdAt: 1_700_000_000_000 },
        digest: sha256(bytes),
      });
    }
    const last = write(RECORDS.slice(145));
    const whole = await rowsOf(PARSERS[format], last);
    assert.is(whole.length, RECORDS.length - 145);
    for (const size of [1, 2, 3, 7, 1000]) {
      assert.equal(await rowsOf(PARSERS[format], last, size), whole, `chunks of ${size}`);
    }
  });
}

test("msgpackr's own records are read, in a sequence and in an array", async () => {
  const packr = new Packr({ sequential: true });
  const sequence = Buffer.concat(RECORDS.map((record) => Buffer.from(packr.pack(record))));
  const array = new Packr().pack(RECORDS);
  for (const bytes of [sequence, array]) {
    assert.is(sniff(bytes), 'msgpack');
    for (const size of [1, 100, 1e6]) {
      const found = (await valuesOf(PARSERS.msgpack, bytes, size)) as Fields[];
      assert.equal(found.map(point).map(renderPoint), RECORDS.map(point).map(renderPoint));
    }
  }
});

test('native files are opened, too', async () => {
  const path = 'test/fixtures/native/sample.waypost';
  const reader = await openSnapshot(path, {});
  assert.is(reader.format, 'native');
  assert.ok('columns' in reader);
  reader.close();
  assert.is(sniff(fs.readFileSync(path)), 'native');
  const gzipped = makeFile(gzipSync(fs.readFileSync(path)), 'sample.waypost.gz');
  const { message } = await failure(openSnapshot(gzipped, {}));
  assert.match(message, /native snapshot .* gunzip it first/);
});

test('a list with nothing in it has no blocks and is no error', async () => {
  const path = join(makeFolder(), 'none');
  const none = [
    ...['[]', '{"results":[]}', '{"type":"FeatureCollection","features":[]}'],
    ...['id,lat,lon,created_at\n', Buffer.of(0x90), Buffer.of(0xdd, 0, 0, 0, 0)],
  ];
  for (const content of none) {
    fs.writeFileSync(path, content);
    const { blocks, report } = await readAll(path);
    assert.is(blocks.length, 0);
    assert.is(report.points, 0);
  }
});

test('a file is read once, and reported on when that is done', async () => {
  const path = makeFile(WRITERS['ndjson']!(RECORDS));
  const reader = await openSnapshot(path, {});
  assert.throws(() => reader.report(), /not been read to its end/);
  for await (const _ of reader.blocks());
  assert.is(reader.report().points, RECORDS.length);
  const { message } = await failure(reader.blocks()[Symbol.asyncIterator]().next());
  assert.match(message, /only once/);
  reader.close();
  reader.close();

  const unread = await openSnapshot(path, {});
  unread.close();
  unread.close();
});

test('a file that is written to while it is read is refused', async () => {
  const path = join(makeFolder(), 'points');
  for (const bytes of [WRITERS['ndjson']!(RECORDS), parquetOf(fixtureRecords(20))]) {
    fs.writeFileSync(path, bytes);
    const reader = await openSnapshot(path, {});
    fs.appendFileSync(path, '\n');
    assert.is(await refusal(contentsOf(reader)), `${path}: it changed while it was read`);
  }
});

function formatOf(name: string): 'ndjson' | 'json' | 'geojson' | 'csv' | 'msgpack' {
  if (name.startsWith('envelope')) return 'json';
  return /^\w+/.exec(name)![0] as 'ndjson';
}

function assertSame(block: PointBlock, expected: PointBlock): void {
  assert.is(Buffer.from(block.records).toString(), Buffer.from(expected.records).toString());
  assert.is(block.count, expected.count);
  for (const column of COLUMNS) {
    assert.is(block[column].join(), expected[column].join(), column);
  }
}

test('gzip data that is cut short, damaged or followed by something is refused', async () => {
  const path = join(makeFolder(), 'points');
  const refuse = async (content: Uint8Array): Promise<string> => {
    fs.writeFileSync(path, content);
    return (await refusal(readAll(path))).replaceAll(path, 'FILE');
  };
  const records = Array.from({ length: 5000 }, (_, id) => {
    return { ...VALID, id: id + 1, comment: `${id ** 3}` };
  });
  const bytes = gzipSync(ndjson(...records));
  for (const length of [bytes.length - 1, bytes.length - 8, bytes.length >> 1, 30, 12, 3]) {
    const message = await refuse(bytes.subarray(0, length));
    assert.match(message, /^FILE: the gzip data is cut short at byte \d+$/);
  }
  const damaged = Buffer.from(bytes);
  damaged[bytes.length - 6]! ^= 1;
  const incorrect = /^FILE: the gzip data is damaged behind byte \d+ \(incorrect data check\)$/;
  assert.match(await refuse(damaged), incorrect);
  const followed = await refuse(Buffer.concat([bytes, Buffer.from('\0\0')]));
  assert.match(followed, `the gzip data ends at byte ${bytes.length} of ${bytes.length + 2};`);
  // a byte alone, or very many, are taken for the beginning of a second stream
  for (const tail of ['x', 'x'.repeat(600_000)]) {
    const why = /^FILE: the gzip data is (?:cut short at byte \d+$|followed by something else)/;
    assert.match(await refuse(Buffer.concat([bytes, Buffer.from(tail)])), why);
  }
  // several streams in a row are one, as gzip says
  const two = Buffer.concat([bytes, gzipSync(ndjson({ ...VALID, id: 9999 }))]);
  fs.writeFileSync(path, two);
  assert.is((await readAll(path)).report.points, 5001);
});

test('a file that can be opened and not read is named, and let go of', async () => {
  // this file can be opened, but no memory is mapped where it begins
  const path = '/proc/self/mem';
  if (!fs.existsSync(path)) return;
  const open = fs.readdirSync('/proc/self/fd').length;
  for (let i = 0; i < 3; i++) {
    assert.match(await refusal(readAll(path)), /^\/proc\/self\/mem: cannot be read: EIO/);
  }
  // files of tests before this one may have been closed meanwhile
  assert.ok(fs.readdirSync('/proc/self/fd').length <= open);
});

test('a reader can be closed in the middle', async () => {
  // more bytes than a block has
  const comment = 'x'.repeat(200_000);
  const records = Array.from({ length: 180 }, (_, id) => ({ ...VALID, id: id + 1, comment }));
  const path = join(makeFolder(), 'points');
  const plain = Buffer.from(ndjson(...records));
  for (const content of [gzipSync(plain, { level: 1 }), plain]) {
    fs.writeFileSync(path, content);
    const reader = await openSnapshot(path, {});
    for await (const _ of reader.blocks()) break;
    reader.close();
    assert.throws(() => reader.report(), /not been read to its end/);
  }

  const closed = await openSnapshot(path, {});
  const used = (async () => {
    for await (const _ of closed.blocks()) closed.close();
  })();
  assert.match((await failure(used)).message, /close/);
});

test.run();
