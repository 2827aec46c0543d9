import fc from 'fast-check';
import { pack } from 'msgpackr';
import { readMsgpack } from '../../../src/formats/rows/msgpack.js';
import { BrokenRows, MAX_RAW_BYTES } from '../../../src/formats/rows/row.js';
import { brokenBy, outcomes, rowsOf } from '../../support/rows.js';
import { assert, rounds, test } from '../../support/uvu.js';

/** Why the file is broken. */
function broken(content: Uint8Array): Promise<string> {
  return brokenBy(readMsgpack, content, 3);
}

async function values(content: Uint8Array, size?: number): Promise<unknown[]> {
  return (await rowsOf(readMsgpack, content, size)).map((row) => row.problem ?? row.value);
}

/** An array header of each width. */
function array(count: number, width: 1 | 3 | 5): Buffer {
  if (width === 1) return Buffer.of(0x90 + count);
  const header = Buffer.alloc(width, 0);
  header[0] = width === 3 ? 0xdc : 0xdd;
  header.writeUIntBE(count, 1, width - 1);
  return header;
}

test('a sequence, and arrays of every width', async () => {
  const records = [{ id: 1, tags: ['ä', []] }, { id: 2 ** 40, lat: -1.5, x: null }, {}];
  const body = Buffer.concat(records.map((record) => pack(record)));
  assert.equal(await values(body), records);
  for (const width of [1, 3, 5] as const) {
    const bytes = Buffer.concat([array(3, width), body]);
    for (const size of [1, 2, 5, 1000]) assert.equal(await values(bytes, size), records);
  }
  // what is no map is for the validator to refuse
  assert.equal(await values(Buffer.concat([pack({}), pack([1]), pack(5)])), [{}, [1], 5]);
});

test('integers of 64 bits are numbers, too large ones not exact', async () => {
  const id = (hex: string): Buffer => Buffer.from(`81a26964${hex}`, 'hex');
  assert.equal(await values(id('cf001fffffffffffff')), [{ id: Number.MAX_SAFE_INTEGER }]);
  assert.equal(await values(id('d3ffffffffffffffff')), [{ id: -1 }]);
  const [record] = (await values(id('cf0020000000000001'))) as { id: number }[];
  assert.not.ok(Number.isSafeInteger(record!.id));
});

test('timestamps become ISO text, exact to the microsecond', async () => {
  const time = async (hex: string): Promise<string> => {
    const [record] = await values(Buffer.from(`81a174${hex}`, 'hex'));
    return (record as { t: string }).t;
  };
  // 2023-05-01T12:00:00Z
  assert.is(await time('d6ff644fa9c0'), '2023-05-01T12:00:00.000000+00:00');
  const nanos = Buffer.alloc(8);
  nanos.writeBigUInt64BE((123_456_789n << 34n) | 0x644fa9c0n);
  assert.is(await time(`d7ff${nanos.toString('hex')}`), '2023-05-01T12:00:00.123456+00:00');
  const past = Buffer.alloc(12);
  past.writeUInt32BE(999_999_999, 0);
  past.writeBigInt64BE(-1n, 4);
  assert.is(await time(`c70cff${past.toString('hex')}`), '1969-12-31T23:59:59.999999+00:00');
  past.writeBigInt64BE(2n ** 62n, 4);
  assert.match(
    await time(`c70cff${past.toString('hex')}`),
    /^a timestamp of 4611686018427388000 s/,
  );
  assert.match(await time('c703ff000000'), /^a timestamp of NaN/);
  const [packed] = await values(pack({ t: new Date(1234567) }));
  assert.equal(packed, { t: '1970-01-01T00:20:34.567000+00:00' });
});

test('text that is no UTF-8 is a problem of its record', async () => {
  const bad = Buffer.concat([
    Buffer.of(0x81, 0xa1, 0x61, 0xa3),
    Buffer.from('\xe9\xe9x', 'latin1'),
  ]);
  const good = pack({ a: 'a\ufffdb', b: ['\ufffd'] });
  const rows = await rowsOf(readMsgpack, Buffer.concat([good, bad, good]));
  assert.equal(outcomes(rows), ['1: ok', '2: record: is not valid UTF-8', '3: ok']);
});

test('a file that is cut short is refused, wherever it is cut', async () => {
  const records = [
    { id: 1, c: 'x'.repeat(40) },
    { id: 2, t: ['ä'], u: 2 ** 40 },
  ];
  const body = Buffer.concat(records.map((record) => pack(record)));
  const ends = [0, pack(records[0]).length, body.length];
  for (let length = 1; length < body.length; length++) {
    if (ends.includes(length)) continue;
    const [record, at] = length < ends[1]! ? [1, 0] : [2, ends[1]];
    assert.is(
      await broken(body.subarray(0, length)),
      `broken in record ${record}, at byte ${at}: the file is cut short inside it`,
    );
  }
  for (const width of [1, 3, 5] as const) {
    const bytes = Buffer.concat([array(2, width), body]);
    for (let length = 1; length < bytes.length; length++) {
      assert.match(await broken(bytes.subarray(0, length)), /cut short/, `${length} of ${width}`);
    }
  }
});

test('nothing may follow an array', async () => {
  assert.is(
    await broken(Buffer.concat([array(1, 3), pack({}), pack({})])),
    'byte 6: nothing may follow the array of 1 values',
  );
  assert.match(await broken(Buffer.of(0x90, 0xc0)), /byte 1: nothing may follow the array of 0/);
});

test('what cannot be decoded breaks the file, with its place', async () => {
  const after = (...bytes: number[]): Buffer =>
    Buffer.concat([pack({ id: 1 }), Buffer.of(...bytes)]);
  assert.match(
    await broken(after(0x81, 0xa1, 0x61, 0xd4, 0x01, 0x00)),
    /^broken in record 2, at byte 7: /,
  );
  assert.match(await broken(after(0x81, 0x80, 0xc0)), /^broken in record 2, at byte 7: /);
  assert.match(await broken(Buffer.alloc(200_000, 0x91)), /^broken in record|cut short/);
});

test('a value that never ends is refused before it takes memory', async () => {
  const endless = Buffer.concat([
    Buffer.of(0x81, 0xa1, 0x61, 0xdb, 0x7f, 0xff, 0xff, 0xff),
    Buffer.alloc(MAX_RAW_BYTES),
  ]);
  assert.match(await broken(endless), /^broken in record 1, at byte 0: is longer than \d+ bytes/);
  // an array that claims four thousand million values gets no memory for them
  await broken(Buffer.of(0x81, 0xa1, 0x61, 0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0));
});

test('random bytes are read or refused, and nothing else', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 });
  const likely = fc.array(
    fc.constantFrom(
      0x81,
      0x91,
      0xa1,
      0xc0,
      0xc1,
      0xd4,
      0xd5,
      0xd6,
      0xd7,
      0xc7,
      0x72,
      0x40,
      0xff,
      0x62,
      0x65,
      0x69,
      0x70,
      0x74,
      0x78,
      0,
      1,
    ),
    { minLength: 1, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        bytes,
        likely.map((list) => Uint8Array.from(list)),
      ),
      async (content) => {
        try {
          for (const row of await rowsOf(readMsgpack, content, 9)) assert.is.not(row, undefined);
        } catch (error) {
          assert.instance(error, BrokenRows, String((error as Error).stack));
        }
      },
    ),
    { numRuns: rounds(5000) },
  );
});

test.run();
