// own process: what hostile files announce must not be taken, and readers take 19 MB at once
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FileMetaData, PageHeader } from 'hyparquet';
import { Random } from '../../../src/cli/generate/random.js';
import { checkPage, endOfThrift } from '../../../src/formats/rows/parquet-guard.js';
import { InputError } from '../../../src/model/quote.js';
import { changeMetadata, column, type ParquetShape, parquetOf } from '../../support/parquet.js';
import { fixtureRecords, readAll, WRITERS } from '../../support/rows.js';
import { ROOT } from '../../support/service.js';
import { assert, IS_SOAK, makeFile, makeFolder, refusal, test } from '../../support/uvu.js';

const RECORDS = fixtureRecords(20);
const WHOLE = parquetOf(RECORDS, { codec: 'UNCOMPRESSED' });

async function refuse(bytes: Uint8Array): Promise<string> {
  const path = makeFile(bytes);
  const message = (await refusal(readAll(path, { maxInvalid: 1e9 }))).replaceAll(path, 'FILE');
  assert.ok(process.memoryUsage().rss < 600e6, `${process.memoryUsage().rss} bytes of memory`);
  return message;
}

async function refuseWith(why: RegExp, change: (metadata: FileMetaData) => void): Promise<void> {
  assert.match(await refuse(changeMetadata(WHOLE, change)), why);
}

function withThrift(...parts: (string | Buffer)[]): Buffer {
  const thrift = Buffer.concat(
    parts.map((one) => (typeof one === 'string' ? Buffer.from(one, 'hex') : one)),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(thrift.length);
  return Buffer.concat([Buffer.from('PAR1'), thrift, length, Buffer.from('PAR1')]);
}

test('more rows, columns or bytes than there can be are refused', async () => {
  await refuseWith(/^FILE: announces 1000000000000 rows in \d+ bytes$/, (metadata) => {
    metadata.num_rows = metadata.row_groups[0]!.num_rows = 10n ** 12n;
  });
  await refuseWith(/^FILE: row group 1 has 20 rows, and announces 21$/, (metadata) => {
    metadata.row_groups[0]!.num_rows = 21n;
  });
  await refuseWith(/row group 1, column "comment", .* not in this file/, (metadata) => {
    metadata.row_groups[0]!.columns[2]!.meta_data!.total_compressed_size = 2n ** 62n;
  });
  await refuseWith(/column "status", at record 1: has values of INT64/, (metadata) => {
    const [, status, comment] = metadata.row_groups[0]!.columns;
    comment!.meta_data!.codec = 'LZO';
    status!.meta_data!.type = 'INT64';
  });
});

test('schemas that are nested, cut short or too wide are refused', async () => {
  const tooMany = /^FILE: it has \d+ columns and groups, at most 1000 are read$/;
  await refuseWith(tooMany, ({ schema, row_groups }) => {
    row_groups.length = 0;
    const inner = Array.from({ length: 1_000 }, () => ({ name: 'x', num_children: 1 }));
    schema.splice(1, 0, ...inner);
  });
  // the root's number of children, behind its name
  const short = Buffer.from(WHOLE);
  const root = short.lastIndexOf('schema');
  short[root + 'schema'.length + 1]! += 2;
  assert.match(await refuse(short), /^FILE: its metadata are damaged$/);
  await refuseWith(tooMany, ({ schema }) => {
    schema[0]!.num_children! += 2_000;
    for (let i = 0; i < 2_000; i++) schema.push({ name: `x${i}`, type: 'INT32' });
  });
});

test('Thrift that is nested, or announces more than it has, is refused', async () => {
  const hostile: readonly [RegExp, Buffer][] = [
    [/nested too deep/, withThrift('1c'.repeat(1_000), '00'.repeat(1_001))],
    [/nested too deep/, withThrift('19', '19'.repeat(1_000))],
    [/a list leads behind the end/, withThrift('19', 'fc', 'ffffffff07', '00')],
    [/a length leads behind the end/, withThrift('18', 'ffffffff0f', '00')],
    [/a number is too long/, withThrift('16', '80'.repeat(100_000), '00')],
    [/more than 2000000 values/, withThrift('19', 'fc', '80ade204', Buffer.alloc(10_000_001))],
    [/its metadata are damaged/, withThrift('00')],
    [/announces \d+ bytes of metadata/, Buffer.from('PAR1PAR1\xff\xff\xff\x7fPAR1', 'latin1')],
    [/does not end with PAR1/, Buffer.from('PAR1')],
  ];
  for (const [message, bytes] of hostile) assert.match(await refuse(bytes), message);
  assert.is(endOfThrift(Buffer.from('15021c150400000000', 'hex'), 0, 10), 7);
});

test('runs, levels and differences of more values than a page has are refused', () => {
  const page = (encoding: string, values = 10): PageHeader =>
    ({ type: 'DATA_PAGE', data_page_header: { num_values: values, encoding } }) as PageHeader;
  const check = (hex: string, encoding: string, definition = 0, values?: number): void =>
    checkPage(page(encoding, values), Buffer.from(hex, 'hex'), { repetition: 0, definition }, true);
  check('011401', 'RLE_DICTIONARY');
  check('01051122', 'RLE_DICTIONARY');
  const hostile: readonly [RegExp, Parameters<typeof check>][] = [
    [/announces -1 values/, ['', 'PLAIN', 0, -1]],
    [/announces 2147483647 values/, ['', 'PLAIN', 0, 2 ** 31 - 1]],
    [/a run of 1073741823 values/, ['01feffffff0701', 'RLE_DICTIONARY']],
    [/a run of 17179869176 values/, ['00ffffffff0f', 'RLE_DICTIONARY']],
    [/references of 255 bits/, ['ff1401', 'RLE_DICTIONARY']],
    [/levels of a page lead/, ['ffffff7f0000', 'PLAIN', 1]],
    [/ends before its levels/, ['ff', 'PLAIN', 1]],
    [/a run of 1073741823 values/, ['06000000feffffff0701', 'PLAIN', 1]],
    [/fewer levels than values/, ['020000000201', 'PLAIN', 1]],
    [/a run of 1073741823 values/, ['00000000feffffff0701', 'RLE']],
    [/blocks of 4294967168, in 1 parts/, ['80ffffff0f010a00', 'DELTA_BINARY_PACKED']],
    [/blocks of 128, in 0 parts/, ['8001000a00', 'DELTA_BINARY_PACKED']],
    [/a page has Infinity bytes/, ['8001040a01', 'DELTA_LENGTH_BYTE_ARRAY', 0, 1]],
  ];
  for (const [message, given] of hostile) assert.throws(() => check(...given), message);
  const noDictionary = (): void =>
    checkPage(page('PLAIN_DICTIONARY'), Buffer.alloc(9), { repetition: 0, definition: 0 }, false);
  assert.throws(noDictionary, /before its dictionary/);
});

test('a small file that holds very much is refused', async () => {
  const text = 'x'.repeat(200_000);
  const comment = column(
    { name: 'comment', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    () => text,
  );
  const records = Array.from({ length: 5_000 }, (_, row) => ({ ...RECORDS[0], id: row + 1 }));
  const bytes = parquetOf(records, { others: { comment } });
  assert.ok(bytes.length < 500_000);
  assert.match(await refuse(bytes), /holds more than 1024 times its bytes: damaged, or a trap$/);
});

test('a list that goes on for longer than a record may is refused before all memory has it', async () => {
  const tags = Array.from({ length: 300_000 }, () => 'a');
  for (const pageSize of [1_000, 1e6]) {
    const message = await refuse(parquetOf([{ ...RECORDS[0], tags }], { pageSize }));
    assert.match(message, /column "tags", at record 1: a list has more than 262144 values$/);
  }
});

test('a page that holds more than its head says is refused before it is', async () => {
  const zeros = Buffer.alloc(50e6);
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const bombs = {
    GZIP: gzipSync(zeros, { level: 1 }),
    BROTLI: brotliCompressSync(zeros.subarray(0, 10e6), fast),
  };
  for (const [codec, bomb] of Object.entries(bombs)) {
    const bytes = parquetOf(RECORDS, { codec: codec as 'GZIP', compress: () => bomb });
    assert.match(await refuse(bytes), /row group 1, column "id", at record 1: /);
  }
});

const SEED = 20;
const FEW = RECORDS.slice(0, 12);
const PARQUET = join(ROOT, 'test/fixtures/parquet');
/** As many as any of the Parquet files has. */
const MOST_POINTS = 60;

const SHAPES: readonly ParquetShape[] = [
  { codec: 'UNCOMPRESSED', rowGroupSize: 8, pageSize: 100 },
  { place: 'geometry' },
  { codec: 'GZIP' },
  { codec: 'ZSTD', place: 'both' },
];

/** What only errors about code say. */
const OF_CODE = /undefined|NaN|is not a function|Cannot read|typed array/;

/** Reads many damaged files of a kind: each is survived, or refused by an error that names it. */
async function readDamaged(
  what: string,
  most: number,
  damaged: (random: Random, file: number) => Uint8Array,
): Promise<void> {
  const path = join(makeFolder(), 'points');
  for (let file = 0; file < (IS_SOAK ? 1_500 : 10); file++) {
    writeFileSync(path, damaged(new Random(SEED + file, 'point'), file));
    try {
      const { blocks, report } = await readAll(path, { maxInvalid: 1e9 });
      const points = blocks.reduce((sum, block) => sum + block.count, 0);
      assert.is(points, report.points);
      assert.ok(points <= most);
    } catch (error) {
      const about = `${what}, file ${file}: ${(error as Error).stack}`;
      assert.instance(error, InputError, about);
      assert.match((error as Error).message, path, about);
      assert.not.match((error as Error).message, OF_CODE, about);
      assert.ok((error as Error).message.length < 1000, about);
    }
  }
}

/** A few bytes changed, taken out or put in, or the end cut off. */
function damage(whole: Uint8Array, random: Random): Buffer {
  let bytes = Buffer.from(whole);
  const times = 1 + random.int(4);
  for (let i = 0; i < times; i++) {
    const at = random.int(bytes.length);
    const kind = random.int(4);
    const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)];
    const inserted = ['"', '[', '}', '\n', '\0', '\xff', '{"', ',,'];
    if (kind === 0) bytes[at]! ^= 1 << random.int(8);
    else if (kind === 1) bytes = Buffer.concat([before, behind.subarray(1 + random.int(40))]);
    else if (kind === 2)
      bytes = Buffer.concat([before, Buffer.from(random.pick(inserted)), behind]);
    else bytes = bytes.subarray(0, Math.max(at, 1));
  }
  return bytes;
}

test('damage is survived or refused, and never more', async () => {
  for (const [name, write] of Object.entries(WRITERS)) {
    const whole = write(FEW);
    await readDamaged(name, FEW.length, (random, file) =>
      damage(file % 3 === 0 ? gzipSync(whole) : whole, random),
    );
  }
});

test('a flipped bit of Parquet is survived or refused', async () => {
  // with what this writer does not have: differences, split bytes, pages of version 1
  const others = readdirSync(PARQUET).map((file) => readFileSync(join(PARQUET, file)));
  const own = SHAPES.map((shape) => parquetOf(FEW, shape));
  for (const [index, whole] of [...own, ...others].entries()) {
    await readDamaged(`Parquet ${index}`, MOST_POINTS, (random) => {
      const bytes = Buffer.from(whole);
      bytes[4 + random.int(bytes.length - 4)]! ^= 1 << random.int(8);
      return bytes;
    });
    assert.ok(process.memoryUsage().rss < 1e9, `${process.memoryUsage().rss}`);
  }
});

test.run();
