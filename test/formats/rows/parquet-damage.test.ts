// own process: a page takes as much memory as its head announces, up to the bound

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { InputError } from '../../../src/model/quote.js';
import { makeFolder } from '../../support/folder.js';
import { type ParquetShape, parquetOf } from '../../support/parquet.js';
import { fixtureRecords, readAll } from '../../support/rows.js';
import { IS_SOAK } from '../../support/soak.js';

const FLIPS = IS_SOAK ? 1_000 : 20;
const RECORDS = fixtureRecords(12);
const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/parquet', import.meta.url));

const SHAPES: readonly ParquetShape[] = [
  { codec: 'UNCOMPRESSED', rowGroupSize: 8, pageSize: 100 },
  { place: 'geometry' },
  { codec: 'GZIP' },
  { codec: 'ZSTD', place: 'both' },
];

const FILES: Readonly<Record<string, Buffer>> = {
  ...Object.fromEntries(SHAPES.map((shape) => [JSON.stringify(shape), parquetOf(RECORDS, shape)])),
  // with what this writer does not have: differences, split bytes, pages of version 1
  ...Object.fromEntries(
    readdirSync(FIXTURES).map((name) => [name, readFileSync(join(FIXTURES, name))]),
  ),
};

for (const [index, [name, whole]] of Object.entries(FILES).entries()) {
  test(`${FLIPS} flipped bits, ${name}: survived or refused`, async () => {
    const folder = makeFolder();
    const path = join(folder, 'points');
    for (let file = 0; file < FLIPS; file++) {
      const random = new Random(1_000 * index + file, 'point');
      const bytes = Buffer.from(whole);
      bytes[4 + random.int(bytes.length - 4)]! ^= 1 << random.int(8);
      writeFileSync(path, bytes);
      try {
        const { report } = await readAll(path, { maxInvalid: 1e9 });
        assert.ok(report.points <= 60);
      } catch (error) {
        const about = `file ${file}: ${(error as Error).stack}`;
        assert.instance(error, InputError, about);
        assert.match((error as Error).message, path, about);
        assert.ok((error as Error).message.length < 1000, about);
      }
    }
    assert.ok(process.memoryUsage().rss < 1e9, `${process.memoryUsage().rss}`);
  });
}

test.run();
