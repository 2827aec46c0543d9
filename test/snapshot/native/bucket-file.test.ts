import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/generate/random.js';
import { BucketFile } from '../../../src/snapshot/native/bucket-file.js';
import { withFolder } from '../../support/native.js';

const SEED = 23;

test('each bucket gives back what was put in, in that order, however little is buffered', () =>
  withFolder((folder) => {
    const random = new Random(SEED, 'point');
    for (let round = 0; round < 200; round++) {
      random.restart(round + 1);
      const buckets = 1 + random.int(9);
      const puts = Array.from({ length: random.int(60) }, () => ({
        bucket: random.int(buckets),
        bytes: Buffer.alloc(random.int(40), random.int(256)),
      }));
      const expected = Array.from({ length: buckets }, (_, bucket) =>
        Buffer.concat(puts.filter((put) => put.bucket === bucket).map((put) => put.bytes)),
      );
      const fd = openSync(join(folder, String(round)), 'wx+');
      const sizes = expected.map((bytes) => bytes.length);
      const file = new BucketFile(fd, sizes, random.pick([1, 30, 100, 10_000]));
      for (const { bucket, bytes } of puts) {
        const padded = Buffer.concat([Buffer.of(1, 2), bytes, Buffer.of(3)]);
        file.put(bucket, padded, 2, 2 + bytes.length);
      }
      // a copy: the memory is used again
      const contents = Array.from(file.contents(), (bytes) => Buffer.from(bytes));
      assert.ok(
        contents.every((bytes, bucket) => bytes.equals(expected[bucket]!)),
        `seed ${SEED}, round ${round}`,
      );
      assert.is(contents.length, buckets);
      assert.is(fstatSync(fd).size, Buffer.concat(expected).length);
      closeSync(fd);
    }
  }));

test('a bucket that was not filled is a mistake', () =>
  withFolder((folder) => {
    const fd = openSync(join(folder, 'short'), 'wx+');
    const file = new BucketFile(fd, [5, 3]);
    file.put(0, Buffer.alloc(5), 0, 5);
    file.put(1, Buffer.alloc(2), 0, 2);
    assert.throws(() => [...file.contents()], /Bucket 1 is not full/);
    closeSync(fd);
  }));

test.run();
