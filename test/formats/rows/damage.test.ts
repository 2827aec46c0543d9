// own process: readers take 19 MB at once, and Parquet what its heads announce, up to the bound

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Random } from '../../../src/cli/generate/random.js';
import { InputError } from '../../../src/model/quote.js';
import { type ParquetShape, parquetOf } from '../../support/parquet.js';
import { fixtureRecords, readAll, WRITERS } from '../../support/rows.js';
import { ROOT } from '../../support/service.js';
import { assert, IS_SOAK, makeFolder, test } from '../../support/uvu.js';

const SEED = 20;
const RECORDS = fixtureRecords(12);
const PARQUET = join(ROOT, 'test/fixtures/parquet');
/** As many as any of the Parquet files has. */
const MOST_POINTS = 60;

const SHAPES: readonly ParquetShape[] = [
  { codec: 'UNCOMPRESSED', rowGroupSize: 8, pageSize: 100 },
  { place: 'geometry' },
  { codec: 'GZIP' },
  { codec: 'ZSTD', place: 'both' },
];

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
    const whole = write(RECORDS);
    await readDamaged(name, RECORDS.length, (random, file) =>
      damage(file % 3 === 0 ? gzipSync(whole) : whole, random),
    );
  }
});

test('a flipped bit of Parquet is survived or refused', async () => {
  // with what this writer does not have: differences, split bytes, pages of version 1
  const others = readdirSync(PARQUET).map((file) => readFileSync(join(PARQUET, file)));
  const own = SHAPES.map((shape) => parquetOf(RECORDS, shape));
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
