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
      assert.throws(
        () => openPacked(path),
        (error: unknown) => error instanceof InputError,
      );
    }
  }));

test('a file without one of its bytes is refused', () =>
  withSample(async (bytes, path) => {
    for (let at = 0; at < bytes.length; at++) {
      const lost = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
      await refused(path, lost, `without byte ${at}`);
    }
  }));

test('2,000 flipped bits are refused', () =>
  withSample(async (bytes, path) => {
    const random = new Random(20231101, 'point');
    for (let run = 0; run < 2000; run++) {
      const bit = random.int(bytes.length * 8);
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      await refused(path, damaged, `bit ${bit} flipped`);
    }
  }));

test('bytes after the footer are refused', () =>
  withSample(async (bytes, path) => {
    const footer = framesOf(bytes).at(-1)!;
    for (const more of [Buffer.of(0), Buffer.from('\n'), footer, bytes]) {
      await refused(path, Buffer.concat([bytes, more]), `${more.length} bytes more`);
    }
  }));

test('frames swapped, repeated or left out are refused', () =>
  withSample(async (bytes, path) => {
    const frames = framesOf(bytes);
    const magic = bytes.subarray(0, 8);
    for (let a = 0; a < frames.length; a++) {
      const without = frames.filter((_, i) => i !== a);
      await refused(path, Buffer.concat([magic, ...without]), `without frame ${a}`);
      const twice = [...frames.slice(0, a + 1), ...frames.slice(a)];
      await refused(path, Buffer.concat([magic, ...twice]), `frame ${a} twice`);
      for (let b = a + 1; b < frames.length; b++) {
        const swapped = [...frames];
        [swapped[a], swapped[b]] = [frames[b]!, frames[a]!];
        await refused(path, Buffer.concat([magic, ...swapped]), `frames ${a} and ${b} swapped`);
      }
    }
  }));

test('wrong lengths take no memory', () =>
  withSample(async (bytes, path) => {
    const [header, columns, records, ...rest] = framesOf(bytes);
    const magic = bytes.subarray(0, 8);
    const before = process.memoryUsage().rss;
    for (const length of [2 ** 32 - 1, 2 ** 31, 2 ** 24, bytes.length, 0]) {
      for (const [i, hostile] of [header, columns, records].entries()) {
        const changed = Buffer.from(hostile!);
        changed.writeUInt32BE(length, 1);
        const frames = [header!, columns!, records!];
        frames[i] = changed;
        await refused(path, Buffer.concat([magic, ...frames, ...rest]), `frame ${i}: ${length}`);
      }
    }
    assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
  }));

test('objects that are not maps, or claim more than they hold, are refused', () =>
  withSample(async (bytes, path) => {
    const frames = framesOf(bytes);
    const before = process.memoryUsage().rss;
    const objects = {
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
    for (const [name, object] of Object.entries(objects)) {
      for (const at of [0, 1, 5]) {
        const changed = [...frames];
        changed[at] = frame(object);
        await refused(path, Buffer.concat([bytes.subarray(0, 8), ...changed]), name);
      }
    }
    assert.ok(process.memoryUsage().rss - before < 128 * 1024 * 1024);
  }));

test('other files are refused, by name', async () => {
  const folder = makeFolder();
  const path = join(folder, 'x.waypost');
  await refused(path, Buffer.alloc(0), 'empty', /no native snapshot/);
  await refused(path, Buffer.from('{"id":1}\n'), 'text', /no native snapshot/);
  await refused(path, Buffer.alloc(5000, 0xce), 'marks', /no native snapshot/);
  const magic = Buffer.from('a7776179706f7374', 'hex');
  await refused(path, magic, 'the magic alone');
  await refused(path, Buffer.concat([magic, uint32(5)]), 'a length');
  const missing = join(folder, 'missing.waypost');
  assert.throws(() => readInPlace(missing), /missing.waypost: cannot be read: there is no such/);
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  assert.throws(() => readInPlace(inner), /inner: cannot be read: it is a folder/);
});

test.run();
