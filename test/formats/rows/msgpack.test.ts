import fc from 'fast-check';
import { Packr, pack } from 'msgpackr';
import { readMsgpack } from '../../../src/formats/rows/msgpack.js';
import { PieceBuilder } from '../../../src/formats/rows/piece.js';
import { BrokenRows, MAX_RAW_BYTES } from '../../../src/formats/rows/row.js';
import { openTimeZone } from '../../../src/model/time-zone.js';
import { brokenBy, outcomes, rowsOf, valuesOf } from '../../support/rows.js';
import { assert, IS_SOAK, rounds, test } from '../../support/uvu.js';

function broken(content: Uint8Array, size = 3): Promise<string> {
  return brokenBy(readMsgpack, content, size);
}

const values = (content: Uint8Array, size?: number): Promise<unknown[]> =>
  valuesOf(readMsgpack, content, size);

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
  // the validator refuses what is no map
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
  const past = (seconds: bigint): string => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(999_999_999, 0);
    bytes.writeBigInt64BE(seconds, 4);
    return `c70cff${bytes.toString('hex')}`;
  };
  const nanos = Buffer.alloc(8);
  nanos.writeBigUInt64BE((123_456_789n << 34n) | 0x644fa9c0n);
  const cases: [hex: string, time: RegExp][] = [
    ['d6ff644fa9c0', /^2023-05-01T12:00:00\.000000\+00:00$/],
    [`d7ff${nanos.toString('hex')}`, /^2023-05-01T12:00:00\.123456\+00:00$/],
    [past(-1n), /^1969-12-31T23:59:59\.999999\+00:00$/],
    [past(2n ** 62n), /^a timestamp of 4611686018427388000 s/],
    ['c703ff000000', /^a timestamp of NaN/],
  ];
  for (const [hex, time] of cases) {
    const [record] = await values(Buffer.from(`81a174${hex}`, 'hex'));
    assert.match((record as { t: string }).t, time);
  }
  const [packed] = await values(pack({ t: new Date(1234567) }));
  assert.equal(packed, { t: '1970-01-01T00:20:34.567000+00:00' });
});

const TIMES = ['created_at', 'modified_at'] as const;

/** In another order than exports have; behind it, all is decoded. */
const FOREIGN = { created_at: '2024-01-01T00:00:00Z', lat: 1, lon: 2, id: 999_999 };
const zone = await openTimeZone('UTC');
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** What is read of records, without {@link FOREIGN}, or that the file is broken. */
async function whatIsRead(content: Uint8Array): Promise<unknown> {
  const builder = new PieceBuilder(zone);
  try {
    for (const row of await rowsOf(readMsgpack, content, 1_000)) builder.add(row);
  } catch (error) {
    assert.instance(error, BrokenRows);
    return 'broken';
  }
  const { blocks, problems, unknownKeys } = builder.take();
  const points = blocks.flatMap(({ id, lat, lon, createdAt, modifiedAt, length, records }) => {
    let end = 0;
    return Array.from(id, (id, i) => {
      const record = Buffer.from(records.subarray(end, end + length[i]!)).toString('latin1');
      end += length[i]!;
      return [id, lat[i], lon[i], createdAt[i], modifiedAt[i], record];
    });
  });
  return {
    points: points.filter(([id]) => id !== FOREIGN.id),
    problems: problems.map(([, own]) => own),
    unknown: unknownKeys,
  };
}

test('records as exports write them are read as the decoder reads them', async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('', 'NEW', 'a"b', 'C:\\x', 'ä\n', '\0', '\ufeffä', '\ufffd', 'x'.repeat(300)),
  );
  const times = [
    '2024-02-29T23:59:59.123456+03:00',
    '2024-05-01T12:00:00Z',
    ' 2024-02-29T23:59:59.123456+03:00',
  ];
  const often = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: other });
  const time = often(fc.constant(times[0]!), fc.constantFrom(...times));
  const degrees = often(
    fc.constantFrom('60.12345678', '-0.00000000'),
    fc.constantFrom('90.00000001', '1.5', ''),
  );
  const whole = often(
    fc.constantFrom(1, 127, 128, 255, 256, 65_536, 2 ** 32 - 1),
    fc.constantFrom(0, -1, 1.5, 2 ** 53),
  );
  const record = fc.record(
    {
      id: fc.oneof(fc.integer({ min: 1, max: 2 ** 32 - 1 }), whole),
      status: text,
      comment: text,
      image: text,
      ...{ lat: degrees, lon: degrees },
      is_processed: often(fc.boolean(), fc.constantFrom(0, null)),
      created_by: whole,
      tags: fc.array(often(fc.constantFrom('Repair', 'ä b'), text), { minLength: 1, maxLength: 3 }),
      ...{ created_at: time, modified_at: time },
    },
    { requiredKeys: ['id', 'status', 'comment', 'lat', 'lon', 'is_processed', ...TIMES] },
  );
  const compare = async (bytes: Buffer): Promise<void> => {
    const decoded = await whatIsRead(Buffer.concat([packr.pack(FOREIGN), bytes]));
    assert.equal(await whatIsRead(bytes), decoded);
  };
  const place = { lat: '1.00000000', lon: '2.00000000' };
  const common = { is_processed: true, created_at: times[0], modified_at: times[0] };
  const plain = { id: 1, status: 'NEW', comment: 'x'.repeat(32), ...place, ...common };
  const good = packr.pack(plain);
  const at = good.indexOf('\xd9\x20x', 0, 'latin1');
  // nil instead of the head of a text, and a member more than there are
  await compare(Buffer.concat([good.subarray(0, at), Buffer.of(0xc0), good.subarray(at + 2)]));
  await compare(Buffer.concat([Buffer.of(good[0]! + 1), good.subarray(1)]));
  // behind a structure of msgpackr's, 64 is no number
  const structure = new Packr({ structures: [] }).pack({ id: 1, lat: 2 });
  const last = packr.pack({ ...plain, id: 64 });
  await compare(Buffer.concat([...Array<Buffer>(40).fill(good), structure, last]));
  const change = fc.tuple(fc.nat(), fc.nat(255));
  const some = fc.array(record, { maxLength: 4 });
  const property = fc.asyncProperty(some, fc.option(change), async (records, changed) => {
    const bytes = Buffer.concat(records.map((one) => packr.pack(one)));
    // not the first byte, which may make an array of the file
    if (changed !== null && bytes.length > 0) {
      bytes[1 + (changed[0] % (bytes.length - 1))] = changed[1];
    }
    await compare(bytes);
  });
  await fc.assert(property, { numRuns: IS_SOAK ? 5_000 : 500 });
});

test('text that is no UTF-8 is a problem of its record', async () => {
  const bad = Buffer.from('\x81\xa1\x61\xa3\xe9\xe9x', 'latin1');
  const good = pack({ a: 'a\ufffdb', b: ['\ufffd'] });
  const rows = await rowsOf(readMsgpack, Buffer.concat([good, bad, good]));
  assert.equal(outcomes(rows), ['1: ok', '2: record: is not valid UTF-8', '3: ok']);
});

test('a value that the decoder reads is read, however deep', async () => {
  const deep = Buffer.concat([Buffer.from('81a178', 'hex'), Buffer.alloc(2_500, 0x91), pack(1)]);
  assert.equal(outcomes(await rowsOf(readMsgpack, Buffer.concat([deep, pack({})]))), [
    '1: ok',
    '2: ok',
  ]);
});

test('a byte order mark that begins a text stays, however the bytes come', async () => {
  const [long, tags] = ['é'.repeat(100), [`\ufeff${'ä'.repeat(60)}`]];
  const records = [
    { id: 1, comment: `\ufeff${long}`, status: '', tags },
    { id: 2, comment: '\ufeff', status: long },
  ];
  const bytes = Buffer.concat(records.map((record) => pack(record)));
  for (const size of [1, 50, 1000]) assert.equal(await values(bytes, size), records);
});

test('an extension that goes back breaks the file', async () => {
  const bytes = Buffer.from('a0a0c70462fffffffb01', 'hex');
  assert.match(await broken(bytes, 100), /ends before it begins/);
});

test('a file that is cut short is refused, wherever it is cut', async () => {
  const first = pack({ id: 1, c: 'x'.repeat(40) });
  const body = Buffer.concat([first, pack({ id: 2, t: ['ä'], u: 2 ** 40 })]);
  for (let length = 1; length < body.length; length++) {
    if (length === first.length) continue;
    const [record, at] = length < first.length ? [1, 0] : [2, first.length];
    const why = `broken in record ${record}, at byte ${at}: the file is cut short inside it`;
    assert.is(await broken(body.subarray(0, length)), why);
  }
  for (const width of [1, 3, 5] as const) {
    const bytes = Buffer.concat([array(2, width), body]);
    for (let length = 1; length < bytes.length; length++) {
      assert.match(await broken(bytes.subarray(0, length)), /cut short/, `${length} of ${width}`);
    }
  }
});

test('what cannot be decoded, or never ends, breaks the file, with its place', async () => {
  const after = (hex: string): Buffer => Buffer.concat([pack({ id: 1 }), Buffer.from(hex, 'hex')]);
  const endless = Buffer.from(`81a161db7fffffff${'00'.repeat(MAX_RAW_BYTES)}`, 'hex');
  const twoInOne = Buffer.concat([array(1, 3), pack({}), pack({})]);
  const cases: [content: Buffer, reason: RegExp][] = [
    [twoInOne, /^byte 6: nothing may follow the array of 1 values$/],
    [Buffer.of(0x90, 0xc0), /byte 1: nothing may follow the array of 0/],
    [after('81a161d40100'), /^broken in record 2, at byte 7: /],
    [after('81c4026964c0'), /^broken in record 2, at byte 7: a key is no text$/],
    [after('8180c0'), /^broken in record 2, at byte 7: /],
    [Buffer.alloc(200_000, 0x91), /^broken in record|cut short/],
    // refused before it takes memory
    [endless, /^broken in record 1, at byte 0: is longer than \d+ bytes/],
    // an array that claims four thousand million values gets no memory for them
    [Buffer.from('81a161ddffffffffc0', 'hex'), /cut short/],
  ];
  for (const [content, reason] of cases) {
    assert.match(await broken(content, content.length > 1e6 ? 4_096 : 3), reason);
  }
});

test('random bytes are read or refused, and nothing else', async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 });
  const marks = Buffer.from('8191a1c0c1d4d5d6d7c77240ff6265697074780001', 'hex');
  const likely = fc.array(fc.constantFrom(...marks), { minLength: 1, maxLength: 30 });
  const property = fc.asyncProperty(fc.oneof(bytes, likely), async (content) => {
    try {
      const rows = await rowsOf(readMsgpack, Uint8Array.from(content), 9);
      assert.not.ok(rows.includes(undefined as never));
    } catch (error) {
      assert.instance(error, BrokenRows, String((error as Error).stack));
    }
  });
  await fc.assert(property, { numRuns: rounds(5000) });
});

test.run();
