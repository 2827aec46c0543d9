// own process: each reader takes 19 MB at once, which makes the collector go over the heap of other tests

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { InputError } from '../../../src/model/quote.js';
import { makeFolder } from '../../support/folder.js';
import { fixtureRecords, readAll, WRITERS } from '../../support/rows.js';
import { IS_SOAK } from '../../support/soak.js';

const SEED = 20;
const RECORDS = fixtureRecords(12);

/**
 * Reads `files` damaged files of a kind: each is survived or refused, by an error that names it.
 */
async function readDamaged(write: (typeof WRITERS)[string], files: number): Promise<void> {
  const folder = makeFolder();
  const path = join(folder, 'points');
  const whole = write(RECORDS);
  for (let file = 0; file < files; file++) {
    const random = new Random(SEED + file, 'point');
    const damaged = damage(file % 3 === 0 ? gzipSync(whole) : whole, random);
    writeFileSync(path, damaged);
    try {
      const { blocks, report } = await readAll(path, { maxInvalid: 1e9 });
      assert.is(
        blocks.reduce((sum, block) => sum + block.count, 0),
        report.points,
      );
      assert.ok(report.points <= RECORDS.length);
    } catch (error) {
      const about = `file ${file}: ${(error as Error).stack}`;
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
    if (kind === 0) {
      bytes[at]! ^= 1 << random.int(8);
    } else if (kind === 1) {
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.int(40))]);
    } else if (kind === 2) {
      const inserted = Buffer.from(['"', '[', '}', '\n', '\0', '\xff', '{"', ',,'][random.int(8)]!);
      bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
    } else {
      bytes = bytes.subarray(0, Math.max(at, 1));
    }
  }
  return bytes;
}

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name}: damage is survived or refused, and never more`, () =>
    readDamaged(write, IS_SOAK ? 1_500 : 20));
}

test.run();
