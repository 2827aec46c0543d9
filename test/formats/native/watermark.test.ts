import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packSnapshot } from '../../../src/cli/pack.js';
import { verify } from '../../../src/cli/verify.js';
import { openSnapshot } from '../../../src/formats/files/open.js';
import { makeFolder } from '../../support/folder.js';
import { readInPlace, readOnePass } from '../../support/native.js';

const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures', import.meta.url));
const WATERMARK = { journal: '0123456789abcdef', sequence: 2 ** 40 + 7 };
const NONE = { journal: 'fedcba9876543210', sequence: 0 };
const OTHER = { journal: 'fedcba9876543210', sequence: 9 };
const print = (): void => {};

test('a header says up to which post of a journal the file goes', async () => {
  const path = join(FIXTURES, 'native/watermark.waypost');
  const [[block], report] = await readOnePass(path);
  assert.equal([block!.count, report.watermark], [1, WATERMARK]);
  assert.equal(readInPlace(path)[1].watermark, WATERMARK);
  const reader = await openSnapshot(path, {});
  assert.equal(reader.watermark, WATERMARK);
  reader.close();
  const [, without] = await readOnePass(join(FIXTURES, 'native/one.waypost'));
  assert.not.ok('watermark' in without);
});

test('pack writes a watermark, keeps it through sorting, and keeps that of a native input', async () => {
  const folder = makeFolder();
  const many = join(FIXTURES, 'points.ndjson');
  const [first, second, third, plain] = ['1', '2', '3', '4'].map((name) => join(folder, name));
  await packSnapshot(many, first!, { watermark: NONE, print });
  assert.equal((await readOnePass(first!))[1].watermark, NONE);
  await packSnapshot(many, second!, { watermark: WATERMARK, print });
  assert.equal((await readOnePass(second!))[1].watermark, WATERMARK);
  await packSnapshot(second!, third!, { print });
  assert.equal((await readOnePass(third!))[1].watermark, WATERMARK);
  await packSnapshot(second!, third!, { print, watermark: OTHER });
  assert.equal((await readOnePass(third!))[1].watermark, OTHER);

  await packSnapshot(many, plain!, { print });
  assert.not.ok('watermark' in (await readOnePass(plain!))[1]);
  const lines: string[] = [];
  await verify(second!, { print: (line) => lines.push(line) });
  assert.ok(
    lines.includes('  journal        0123456789abcdef up to 1,099,511,627,783'),
    lines.join('\n'),
  );
  assert.not.equal(readFileSync(second!), readFileSync(plain!));
});

test.run();
