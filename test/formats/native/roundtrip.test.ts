import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { MAX_BLOCK_POINTS, MAX_RECORD_BYTES, type PointBlock } from '../../../src/formats/block.js';
import { contentDigest } from '../../../src/formats/files/open.js';
import { sortBlocks } from '../../../src/formats/native/sort.js';
import { writeBlocks } from '../../../src/formats/native/write-blocks.js';
import { renderedLength } from '../../../src/formats/record-layout.js';
import type { Notification } from '../../../src/model/notification.js';
import { renderPoint } from '../../../src/model/point.js';
import * as native from '../../support/native.js';
import { CHARACTER } from '../../support/properties.js';
import { assert, failure, makeFolder, pluck, rounds, test } from '../../support/uvu.js';

const { blockOf, CREATED_AT, notification, point, readInPlace, readOnePass, writeNative } = native;

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
const records = fc.array(record, { minLength: 1, maxLength: 20 });
const blocks = fc.array(
  records.map((some) => blockOf(some.map(point))),
  { maxLength: 5 },
);
const wholeId = fc.maxSafeNat().map((id) => Math.max(id, 1));
const notice = fc
  .tuple(wholeId, fc.boolean(), wholeId, time, anyText)
  .map(([id, seen, user, created, comment]) => {
    const created_at = `${created.slice(0, -1)}000+00:00`;
    return { id, user, seen, comment: { id, user, created_at, comment, map_data_point: user } };
  });
const notifications = fc.array(notice, { maxLength: 5 });

const folder = makeFolder();
let files = 0;

/** Writes a file; asserts that one pass, the reading in place and the digest say the same of it. */
async function written(blocks: readonly PointBlock[], notes: Notification[] = []) {
  const path = join(folder, `${files++}.waypost`);
  const totals = writeNative(path, blocks, notes);
  const [one, report] = await readOnePass(path);
  same(one, blocks);
  assert.equal(report.notifications, notes);
  assert.is(report.points, totals.points);
  assert.is(report.createdAt, CREATED_AT);
  assert.is(totals.bytes, statSync(path).size);
  const [two, again] = readInPlace(path);
  same(two, blocks);
  assert.equal(again, report);
  assert.is(await contentDigest(path), report.digest);
  return { totals, report, path };
}

test('what is written is read back, in one pass and in place', async () => {
  const property = fc.asyncProperty(blocks, notifications, async (some, notes) => {
    await written(some, notes);
  });
  await fc.assert(property, { numRuns: rounds(300) });
  assert.is((await written([])).totals.points, 0);
});

test('the digest of a file is told by its ends, and the rest is read where it is of use', () =>
  native.withSample(async (bytes, path) => {
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

test('the largest block, and one point more', async () => {
  const one = blockOf([point({ id: 1 })]);
  assert.is((await written([repeat(one, MAX_BLOCK_POINTS), one])).totals.blocks, 2);
  unwritable([repeat(one, MAX_BLOCK_POINTS + 1)], [], /65536/);
});

test('points with more bytes than a block may have become several blocks', async () => {
  const empty = Buffer.byteLength(renderPoint(point({ id: 1 })));
  const long = blockOf([point({ id: 1, comment: 'x'.repeat(MAX_RECORD_BYTES - empty) })]);
  assert.is(renderedLength(long.records), MAX_RECORD_BYTES);
  const block = repeat(long, 257);
  unwritable([block], [], /at most 65536 points and 33554432 bytes/);
  const sorted = [...sortBlocks([block])];
  assert.equal(pluck(sorted, 'count'), [128, 128, 1]);
  assert.ok(Buffer.concat(sorted.map((each) => each.records)).equals(block.records));
  assert.is((await written(sorted)).totals.blocks, 3);
});

test('many notifications are many frames, and one longer than a frame is not written', async () => {
  const many = Array.from({ length: 66_000 }, (_, i) => notification(i + 1));
  const long = [notification(70_001, 'x'.repeat(9e6)), notification(70_002, 'y'.repeat(9e6))];
  await written([blockOf([point({ id: 1 })])], [...many, ...long]);
  const frame = 16 * 1024 * 1024;
  unwritable([], [notification(1, 'x'.repeat(frame - 100))], /notification 1 is too long/);
  await written([], [notification(1, 'x'.repeat(frame - 250))]);
});

test('half a surrogate pair, which has no UTF-8, becomes a replacement character', async () => {
  const path = join(folder, 'half.waypost');
  writeNative(path, [], [notification(1, 'a\ud83db')]);
  const [, report] = await readOnePass(path);
  assert.is(report.notifications[0]!.comment.comment, 'a\ufffdb');
});

test('the same points make the same bytes and the same digest, others do not', async () => {
  const [first, same, other] = [
    await written([blockOf([point({ id: 1 })])]),
    await written([blockOf([point({ id: 1 })])]),
    await written([blockOf([point({ id: 1, comment: '!' })])]),
  ];
  assert.ok(readFileSync(same.path).equals(readFileSync(first.path)));
  assert.is(same.report.digest, first.report.digest);
  assert.is.not(other.report.digest, first.report.digest);
  const block = blockOf([point({ id: 1 })]);
  unwritable([{ ...block, records: block.records.subarray(1) }], [], /add up/);
});

function unwritable(blocks: PointBlock[], notes: Notification[], why: RegExp): void {
  assert.throws(() => writeNative(join(folder, `${files++}`), blocks, notes), why);
}

function same(got: readonly PointBlock[], expected: readonly PointBlock[]): void {
  assert.is(got.length, expected.length);
  for (const [i, block] of got.entries()) {
    const other = expected[i]!;
    assert.is(block.count, other.count);
    for (const key of [...native.COLUMNS, 'records'] as const) {
      const [a, b] = [block[key], other[key]].map(({ buffer, byteOffset, byteLength }) =>
        Buffer.from(buffer, byteOffset, byteLength),
      );
      assert.ok(a!.equals(b!), `${key} of block ${i}`);
    }
  }
}

function repeat(block: PointBlock, times: number): PointBlock {
  const floats = (column: Float64Array): Float64Array => new Float64Array(times).fill(column[0]!);
  const { id, lat, lon, createdAt, modifiedAt } = block;
  return {
    count: times,
    ...{ id: floats(id), lat: floats(lat), lon: floats(lon) },
    ...{ createdAt: floats(createdAt), modifiedAt: floats(modifiedAt) },
    length: new Uint32Array(times).fill(block.length[0]!),
    records: Buffer.alloc(block.records.length * times, block.records),
  };
}

/** So many announced points that a thread writes the blocks. */
const MANY = { origin: 'a test', count: 1_000_000, createdAt: CREATED_AT };

async function* madeBlocks(bytes?: number): AsyncGenerator<PointBlock> {
  for (const id of [1, 2, 3]) {
    const block = blockOf([point({ id }), point({ id: id + 10, tags: ['\u00c4'] })]);
    yield { ...block, records: new Uint8Array(block.records).slice(0, bytes) };
  }
}

async function writing(path: string, blocks: AsyncIterable<PointBlock>): Promise<unknown> {
  const fd = openSync(path, 'w');
  try {
    const put = async (): Promise<void> => assert.unreachable('the thread writes');
    return await writeBlocks({ fd, put }, MANY, blocks, [notification(1)]);
  } finally {
    closeSync(fd);
  }
}

test('a thread writes the same bytes to a file as go to a stream', async () => {
  const parts: Uint8Array[] = [];
  const output = { put: async (bytes: Uint8Array) => void parts.push(bytes) };
  const totals = await writeBlocks(output, MANY, madeBlocks(), [notification(1)]);
  const path = join(folder, 'thread');
  assert.equal(await writing(path, madeBlocks()), totals);
  assert.ok(readFileSync(path).equals(Buffer.concat(parts)));
});

test('what goes wrong in the thread, or before it, reaches the caller', async () => {
  const path = join(folder, 'wrong');
  assert.match((await failure(writing(path, madeBlocks(9)))).message, /^the block's lengths add/);
  const full = await failure(writing('/dev/full', madeBlocks()));
  assert.is((full as NodeJS.ErrnoException).code, 'ENOSPC');
  async function* broken(): AsyncGenerator<PointBlock> {
    yield* madeBlocks();
    throw new Error('the blocks end here');
  }
  assert.is((await failure(writing(path, broken()))).message, 'the blocks end here');
});

test.run();
