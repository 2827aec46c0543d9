import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { renderPoint } from '../../src/model/point.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../../src/snapshot/block.js';
import { verifySnapshot } from '../../src/snapshot/files/verify.js';
import { MAX_SORTED_POINTS, type SortOptions, sortNative } from '../../src/snapshot/native/sort.js';
import type { NativeTotals } from '../../src/snapshot/native/write.js';
import { isKdSorted, kdSorted } from '../support/kd-order.js';
import {
  blockOf,
  notification,
  point,
  readOnePass,
  withFolder,
  writeNative,
} from '../support/native.js';
import { pointOf, scatterNotes } from '../support/notes.js';

const SEED = 37;
const NOTIFICATIONS = [notification(1), notification(2)];

/** Sorts the file in place, with a scratch file beside it. */
async function sort(path: string, options: SortOptions = {}): Promise<NativeTotals | undefined> {
  const fd = openSync(path, 'r+');
  const scratches: number[] = [];
  const openScratch = (): number => {
    const name = `${path}.scratch`;
    scratches.push(openSync(name, 'wx+'));
    rmSync(name);
    return scratches.at(-1)!;
  };
  try {
    return await sortNative(fd, path, openScratch, options);
  } finally {
    for (const one of [fd, ...scratches]) closeSync(one);
  }
}

const LARGEST = 2 * MAX_BLOCK_POINTS + 500;
const POINTS = scatterNotes(SEED, LARGEST).map(pointOf);

/** The first `count` seeded points, in blocks of `blockPoints`. */
function blocks(count: number, blockPoints: number): PointBlock[] {
  const points = POINTS.slice(0, count);
  const made: PointBlock[] = [];
  for (let from = 0; from < count; from += blockPoints) {
    made.push(blockOf(points.slice(from, from + blockPoints)));
  }
  return made;
}

function places(read: readonly PointBlock[]): { lon: number; lat: number }[] {
  return read.flatMap(({ lon, lat }) =>
    Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! })),
  );
}

/** Where a record lies: its block, its place there, and its first byte. */
interface RecordPlace {
  readonly block: PointBlock;
  readonly index: number;
  readonly start: number;
}

/** Every record by its id: ids are unique. */
function recordsOf(read: readonly PointBlock[]): Map<number, RecordPlace> {
  const places = new Map<number, RecordPlace>();
  for (const block of read) {
    let start = 0;
    for (let index = 0; index < block.count; index++) {
      places.set(block.id[index]!, { block, index, start });
      start += block.length[index]!;
    }
  }
  return places;
}

const COLUMNS = ['id', 'lat', 'lon', 'createdAt', 'modifiedAt', 'length'] as const;

/** Asserts that both hold the same records with the same columns, in whatever order. */
function assertSameRecords(
  before: readonly PointBlock[],
  after: readonly PointBlock[],
  label: string,
): void {
  const old = recordsOf(before);
  const now = recordsOf(after);
  assert.is(now.size, old.size, label);
  for (const [id, { block, index, start }] of now) {
    const was = old.get(id);
    const isSame =
      was !== undefined &&
      COLUMNS.every((column) => block[column][index] === was.block[column][was.index]) &&
      bytesOf(block.records, start, block.length[index]!).equals(
        bytesOf(was.block.records, was.start, was.block.length[was.index]!),
      );
    if (!isSame) throw new Error(`${label}: record ${id} is another`);
  }
}

function bytesOf({ buffer, byteOffset }: Uint8Array, start: number, length: number): Buffer {
  return Buffer.from(buffer, byteOffset + start, length);
}

test('all points are still there, in order, in blocks that are full', () =>
  withFolder(async (folder) => {
    for (const [count, blockPoints] of [
      [18, 5],
      [5_000, 333],
      [MAX_BLOCK_POINTS + 1, 30_000],
      [LARGEST, 65_000],
    ] as const) {
      const path = join(folder, `${count}.waypost`);
      writeNative(path, blocks(count, blockPoints), NOTIFICATIONS);
      const [before, told] = await readOnePass(path);
      const totals = await sort(path);
      const [after, report] = await readOnePass(path);
      assert.ok(isKdSorted(places(after)), `${count} points`);
      assertSameRecords(before, after, `${count} points`);
      const full = Math.ceil(count / MAX_BLOCK_POINTS);
      const bytes = readFileSync(path).length;
      assert.equal(totals, { points: count, blocks: full, notifications: 2, bytes });
      assert.is(after.length, full);
      assert.equal(report.notifications, told.notifications);
      assert.is(report.createdAt, told.createdAt);
      const verified = await verifySnapshot(path, {});
      assert.equal(verified.reasons, []);
      assert.is(verified.origin, 'a test');
    }
  }));

test('the same file makes the same bytes, and a sorted one stays as it is', () =>
  withFolder(async (folder) => {
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    for (const path of [a, b]) {
      writeNative(path, blocks(20_000, 3_000), NOTIFICATIONS);
      assert.ok((await sort(path)) !== undefined);
    }
    const sorted = readFileSync(a);
    assert.ok(sorted.equals(readFileSync(b)));
    assert.is(await sort(a), undefined);
    assert.ok(sorted.equals(readFileSync(a)));
  }));

test('a file that another writer put in order stays as it is, whatever its blocks', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'ordered');
    const notes = kdSorted(scatterNotes(SEED, 4_000));
    const parts = [0, 1, 700, 4_000].map((to, i, all) => notes.slice(all[i - 1] ?? 0, to));
    writeNative(
      path,
      parts.filter(({ length }) => length > 0).map((part) => blockOf(part.map(pointOf))),
    );
    const before = readFileSync(path);
    assert.is(await sort(path), undefined);
    assert.ok(before.equals(readFileSync(path)));
  }));

test('none, one and points all in one place need no sorting', () =>
  withFolder(async (folder) => {
    const same = Array.from({ length: 300 }, (_, i) => point({ id: i + 1 }));
    for (const points of [[], same.slice(0, 1), same]) {
      const path = join(folder, `${points.length}`);
      writeNative(path, points.length === 0 ? [] : [blockOf(points)]);
      assert.is(await sort(path), undefined);
    }
  }));

test('a block ends before its records are more than the format allows', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'long');
    const long = Array.from({ length: 300 }, (_, i) =>
      point({ id: i + 1, lon: (i * 77) % 180, lat: i % 90, comment: 'x'.repeat(262_142 - 250) }),
    );
    writeNative(path, [blockOf(long)]);
    const [before] = await readOnePass(path);
    const totals = await sort(path);
    const [after] = await readOnePass(path);
    assert.is(totals?.blocks, 3);
    assert.ok(isKdSorted(places(after)));
    assertSameRecords(before, after, 'long records');
    const record = Buffer.byteLength(renderPoint(long[0]!));
    assert.ok(after[0]!.count >= Math.floor(2 ** 25 / (record + 2)), `${after[0]!.count}`);
  }));

test('more points than the limit keep their order', () =>
  withFolder(async (folder) => {
    assert.is(MAX_SORTED_POINTS, 16_777_216);
    const path = join(folder, 'many');
    writeNative(path, blocks(1_000, 600));
    const before = readFileSync(path);
    assert.is(await sort(path, { maxPoints: 999 }), undefined);
    assert.ok(before.equals(readFileSync(path)));
    assert.ok((await sort(path, { maxPoints: 1_000 })) !== undefined);
  }));

test('it tells how far it is, and stops when it is told to', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'file');
    const steps: number[] = [];
    const onProgress = (done: number, total: number): void => {
      assert.is(total, 5_000);
      steps.push(done);
    };
    writeNative(path, blocks(5_000, 500));
    await sort(path, { onProgress });
    assert.equal(steps, [250, 500, 750, 1000, 1250, 1500, 1750, 2000, 2250, 2500, 5000]);

    // before it begins, while it takes points apart, and while it writes them
    for (const after of [0, 4, 11]) {
      rmSync(path);
      writeNative(path, blocks(5_000, 500));
      const stop = new AbortController();
      const reason = new Error('interrupted');
      let left = after;
      if (left === 0) stop.abort(reason);
      const stopping = (): void => {
        if (--left === 0) stop.abort(reason);
      };
      const error = await sort(path, { onProgress: stopping, signal: stop.signal }).catch(
        (thrown: unknown) => thrown,
      );
      assert.is(error, reason, `after ${after} steps`);
      assert.equal(readdirSync(folder), ['file']);
    }
  }));

test.run();
