import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { MAX_BLOCK_POINTS, MAX_RECORD_BYTES, type PointBlock } from '../../../src/formats/block.js';
import { contentDigest } from '../../../src/formats/files/open.js';
import { sortBlocks } from '../../../src/formats/native/sort.js';
import { readPoint, renderPoint } from '../../../src/model/point.js';
import { CHARACTER } from '../../support/characters.js';
import {
  blockOf,
  COLUMNS,
  CREATED_AT,
  notification,
  point,
  readInPlace,
  readOnePass,
  withSample,
  writeNative,
} from '../../support/native.js';
import { assert, makeFolder, pluck, rounds, test } from '../../support/uvu.js';

const degrees = (limit: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.constantFrom(0, -0, limit, -limit),
    fc.double({ min: -limit, max: limit, noNaN: true }),
  );
const time = fc
  .date({ min: new Date('1700-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const anyText = fc
  .string({ unit: CHARACTER, maxLength: 40 })
  .map((text) => text.replaceAll('\0', ''));
const record = fc.record(
  {
    id: fc.oneof(fc.constantFrom(1, Number.MAX_SAFE_INTEGER), fc.integer({ min: 1 })),
    lat: degrees(90),
    lon: degrees(180),
    created_at: time,
    modified_at: time,
    comment: anyText,
    status: fc.constantFrom('NEW', 'DONE'),
    image: fc.constantFrom('a.jpg', 'https://example.org/b.png'),
    is_processed: fc.boolean(),
    created_by: fc.nat(),
    tags: fc.array(fc.constantFrom('Noise', 'Näkymä', '景色'), { maxLength: 4 }),
  },
  { requiredKeys: ['id', 'lat', 'lon', 'created_at'] },
);
const blocks = fc.array(
  fc
    .array(
      record.map((fields) => point(fields)),
      { minLength: 1, maxLength: 20 },
    )
    .map(blockOf),
  { maxLength: 5 },
);
const wholeId = fc.maxSafeNat().map((id) => Math.max(id, 1));
const notifications = fc.array(
  fc
    .tuple(wholeId, fc.boolean(), wholeId, time, anyText)
    .map(([id, seen, user, created, comment]) => {
      const created_at = `${created.slice(0, -1)}000+00:00`;
      return { id, user, seen, comment: { id, user, created_at, comment, map_data_point: user } };
    }),
  { maxLength: 5 },
);

test('what is written is read back, in one pass and in place', async () => {
  const folder = makeFolder();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(blocks, notifications, async (written, notes) => {
      const path = join(folder, `${run++}.waypost`);
      const totals = writeNative(path, written, notes);
      const [one, report] = await readOnePass(path);
      same(one, written);
      assert.equal(report.notifications, notes);
      assert.is(report.points, totals.points);
      assert.is(report.createdAt, CREATED_AT);
      assert.is(totals.bytes, readFileSync(path).length);
      const [two, again] = readInPlace(path);
      same(two, written);
      assert.equal(again, report);
      assert.is(await contentDigest(path), report.digest);
    }),
    { numRuns: rounds(300) },
  );
});

test('the digest of a file is told by its ends, and the rest is read where it is of use', () =>
  withSample(async (bytes, path) => {
    const digest = await contentDigest(path);
    const damaged = Buffer.from(bytes);
    damaged[bytes.length >> 1]! ^= 1;
    writeFileSync(path, damaged);
    const asked: string[] = [];
    const isWanted = (found: string): boolean => asked.push(found) > 1;
    assert.is(await contentDigest(path, isWanted), digest);
    const error = await contentDigest(path, isWanted).catch(String);
    assert.match(error, /broken at byte/);
    assert.equal(asked, [digest, digest]);
  }));

test('a snapshot of no points is one', async () => {
  const path = join(makeFolder(), 'empty.waypost');
  writeNative(path, []);
  assert.equal((await readOnePass(path))[0], []);
  assert.equal(readInPlace(path)[0], []);
  assert.is(readInPlace(path)[1].points, 0);
});

test('the largest block, and one point more', async () => {
  const folder = makeFolder();
  const path = join(folder, 'full.waypost');
  const one = blockOf([point({ id: 1 })]);
  const full = repeat(one, MAX_BLOCK_POINTS);
  assert.equal(writeNative(path, [full, one]).blocks, 2);
  same((await readOnePass(path))[0], [full, one]);
  same(readInPlace(path)[0], [full, one]);
  assert.throws(() => writeNative(join(folder, 'x'), [repeat(one, MAX_BLOCK_POINTS + 1)]), /65536/);
});

test('points with more bytes than a block may have become several blocks', async () => {
  const folder = makeFolder();
  const path = join(folder, 'long.waypost');
  const empty = Buffer.byteLength(renderPoint(point({ id: 1 })));
  const long = blockOf([point({ id: 1, comment: 'x'.repeat(MAX_RECORD_BYTES - empty) })]);
  assert.is(long.length[0], MAX_RECORD_BYTES);
  const block = repeat(long, 257);
  assert.throws(
    () => writeNative(join(folder, 'x'), [block]),
    /at most 65536 points and 33554432 bytes/,
  );
  const sorted: PointBlock[] = [];
  for await (const each of sortBlocks([block])) sorted.push(each);
  assert.is(writeNative(path, sorted).blocks, 3);
  const [read] = readInPlace(path);
  assert.equal(pluck(read, 'count'), [128, 128, 1]);
  assert.ok(Buffer.concat(read.map((each) => each.records)).equals(block.records));
  same((await readOnePass(path))[0], read);
});

test('many notifications are many frames', async () => {
  const path = join(makeFolder(), 'told.waypost');
  const many = Array.from({ length: 70_000 }, (_, i) => notification(i + 1));
  const long = [notification(70_001, 'x'.repeat(9e6)), notification(70_002, 'y'.repeat(9e6))];
  writeNative(path, [blockOf([point({ id: 1 })])], [...many, ...long]);
  assert.equal((await readOnePass(path))[1].notifications, [...many, ...long]);
});

test('a notification longer than a frame is not written', async () => {
  const folder = makeFolder();
  const long = notification(1, 'x'.repeat(16 * 1024 * 1024 - 100));
  assert.throws(() => writeNative(join(folder, 'x'), [], [long]), /notification 1 is too long/);
  const most = notification(1, 'x'.repeat(16 * 1024 * 1024 - 250));
  writeNative(join(folder, 'most'), [], [most]);
  assert.equal(readInPlace(join(folder, 'most'))[1].notifications, [most]);
});

test('half a surrogate pair, which has no UTF-8, becomes a replacement character', async () => {
  const path = join(makeFolder(), 'half.waypost');
  writeNative(path, [], [notification(1, 'a\ud83db')]);
  const [, report] = await readOnePass(path);
  assert.is(report.notifications[0]!.comment.comment, 'a\ufffdb');
});

test('the same points make the same bytes and the same digest, others do not', async () => {
  const folder = makeFolder();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => join(folder, name)) as [string, string, string];
  writeNative(a, [blockOf([point({ id: 1 })])]);
  writeNative(b, [blockOf([point({ id: 1 })])]);
  writeNative(c, [blockOf([point({ id: 1, comment: '!' })])]);
  assert.ok(readFileSync(a).equals(readFileSync(b)));
  const [first, same, other] = [a, b, c].map((path) => readInPlace(path)[1].digest);
  assert.is(same, first);
  assert.is.not(other, first);
});

test('blocks that contradict themselves are not written', async () => {
  const folder = makeFolder();
  const block = blockOf([point({ id: 1 })]);
  const short = { ...block, records: block.records.subarray(1) };
  assert.throws(() => writeNative(join(folder, 'x'), [short]), /add up/);
});

test('the records are the text the API serves', async () => {
  const path = join(makeFolder(), 'j.waypost');
  const written = point({ id: 5, comment: 'työ "1"\n', tags: ['a'] });
  writeNative(path, [blockOf([written])]);
  const [read] = await readOnePass(path);
  const json: unknown = JSON.parse(Buffer.from(read[0]!.records).toString());
  assert.equal(readPoint(json, assert.unreachable), written);
});

function same(got: readonly PointBlock[], expected: readonly PointBlock[]): void {
  assert.is(got.length, expected.length);
  for (const [i, block] of got.entries()) {
    const other = expected[i]!;
    assert.is(block.count, other.count);
    for (const key of [...COLUMNS, 'records'] as const) {
      const [a, b] = [block[key], other[key]];
      assert.ok(
        Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
          Buffer.from(b.buffer, b.byteOffset, b.byteLength),
        ),
        `${key} of block ${i}`,
      );
    }
  }
}

function repeat(block: PointBlock, times: number): PointBlock {
  const floats = (column: Float64Array): Float64Array => new Float64Array(times).fill(column[0]!);
  return {
    count: times,
    id: floats(block.id),
    lat: floats(block.lat),
    lon: floats(block.lon),
    createdAt: floats(block.createdAt),
    modifiedAt: floats(block.modifiedAt),
    length: new Uint32Array(times).fill(block.length[0]!),
    records: Buffer.alloc(block.records.length * times, block.records),
  };
}

test.run();
