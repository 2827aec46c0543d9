import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from 'msgpackr';
import { Random } from '../../src/cli/generate/random.js';
import { InputError } from '../../src/model/quote.js';
import {
  frame,
  framesOf,
  openPacked,
  readInPlace,
  refused,
  uint32,
  withSample,
} from '../support/native.js';
import { assert, makeFolder, test } from '../support/uvu.js';

test('a truncated file is refused by its two ends alone', () =>
  withSample(async (bytes, path) => {
    for (let length = 0; length < bytes.length; length++) {
      await refused(path, bytes.subarray(0, length), `cut at ${length}`);
      const isInput = (error: unknown) => error instanceof InputError;
      assert.throws(() => openPacked(path), isInput);
    }
  }));

const MAGIC = Buffer.from('a7776179706f7374', 'hex');
const MIB = 1024 * 1024;

function fileOf(...frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat([MAGIC, ...frames]);
}

/** Objects that are not maps, or claim more than they hold. */
const STRANGE: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  'a number': pack(1),
  'a list': pack([1, 2]),
  null: pack(null),
  'a list of 2^32 - 1 items': Buffer.from('ddffffffff', 'hex'),
  'a map of 2^32 - 1 items': Buffer.from('dfffffffff', 'hex'),
  'text of 4 GB': Buffer.from('dbffffffff', 'hex'),
  'bytes of 4 GB': Buffer.from('81a474797065c6ffffffff', 'hex'),
  'an extension of 4 GB': Buffer.from('c9ffffffff01', 'hex'),
  'the byte that is never used': Buffer.from('c1', 'hex'),
  'lists a million deep': Buffer.alloc(1_000_000, 0x91),
  'maps a million deep': Buffer.alloc(1_000_000, Buffer.from('81a161')),
  'two objects': Buffer.concat([pack({ type: 'columns' }), pack(1)]),
  'a record of another packer': pack(new Map([[new Date(), new Set([1])]])),
  'a list in notifications that lies': Buffer.concat([
    ...[Buffer.from('82', 'hex'), pack('type'), pack('notifications'), pack('items')],
    Buffer.from('ddffffffff', 'hex'),
  ]),
};

/** Each kind of damage, as files that have it and what was done to each. */
const DAMAGES: Readonly<
  Record<string, (file: Buffer, frames: readonly Buffer[]) => Iterable<[string, Buffer]>>
> = {
  *'a byte less'(file) {
    for (let at = 0; at < file.length; at++) {
      yield [`without byte ${at}`, Buffer.concat([file.subarray(0, at), file.subarray(at + 1)])];
    }
  },
  *'2,000 flipped bits'(file) {
    const random = new Random(20231101, 'point');
    for (let run = 0; run < 2000; run++) {
      const bit = random.int(file.length * 8);
      const damaged = Buffer.from(file);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      yield [`bit ${bit} flipped`, damaged];
    }
  },
  *'bytes after the footer'(file, frames) {
    for (const more of [Buffer.of(0), Buffer.from('\n'), frames.at(-1)!, file]) {
      yield [`${more.length} bytes more`, Buffer.concat([file, more])];
    }
  },
  *'frames left out, repeated or swapped'(_, frames) {
    for (const [a, one] of frames.entries()) {
      yield [`without frame ${a}`, fileOf(...frames.toSpliced(a, 1))];
      yield [`frame ${a} twice`, fileOf(...frames.toSpliced(a, 0, one))];
      for (let b = a + 1; b < frames.length; b++) {
        const swapped = frames.with(a, frames[b]!).with(b, one);
        yield [`frames ${a} and ${b} swapped`, fileOf(...swapped)];
      }
    }
  },
  *'wrong lengths'(file, frames) {
    for (const length of [2 ** 32 - 1, 2 ** 31, 2 ** 24, file.length, 0]) {
      for (const at of [0, 1, 2]) {
        const hostile = Buffer.from(frames[at]!);
        hostile.writeUInt32BE(length, 1);
        yield [`frame ${at}: ${length}`, fileOf(...frames.with(at, hostile))];
      }
    }
  },
  *'strange objects'(_, frames) {
    for (const [name, object] of Object.entries(STRANGE)) {
      for (const at of [0, 1, 5]) yield [name, fileOf(...frames.with(at, frame(object)))];
    }
  },
};

for (const [name, damage] of Object.entries(DAMAGES)) {
  test(`${name}: refused, without much memory`, () =>
    withSample(async (bytes, path) => {
      const before = process.memoryUsage().rss;
      for (const [what, damaged] of damage(bytes, framesOf(bytes))) {
        await refused(path, damaged, what);
      }
      assert.ok(process.memoryUsage().rss - before < 64 * MIB);
    }));
}

test('other files are refused, by name', async () => {
  const folder = makeFolder();
  const path = join(folder, 'x.waypost');
  await refused(path, Buffer.alloc(0), 'empty', /no native snapshot/);
  await refused(path, Buffer.from('{"id":1}\n'), 'text', /no native snapshot/);
  await refused(path, Buffer.alloc(5000, 0xce), 'marks', /no native snapshot/);
  await refused(path, MAGIC, 'the magic alone');
  await refused(path, fileOf(uint32(5)), 'a length');
  const missing = join(folder, 'missing.waypost');
  assert.throws(() => readInPlace(missing), /missing.waypost: cannot be read: there is no such/);
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  assert.throws(() => readInPlace(inner), /inner: cannot be read: it is a folder/);
});

test.run();
