import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EXPORT_FORMATS } from '../../src/http/request/addresses.js';
import { makeFolder } from '../support/folder.js';
import { runCommand } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const POINTS = Number(process.env['ROUND_TRIP_POINTS'] ?? 1_000_000);
const folder = makeFolder();
const file = (name: string): string => join(folder, name);

async function waypost(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(args);
  assert.is(code, 0, stderr);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const original = file('original.waypost');
await waypost('generate', '--points', String(POINTS), '--seed', '7', '--out', original);
await waypost('export', original, file('original.ndjson'));
const digest = await digestOf(file('original.ndjson'));

for (const { name } of EXPORT_FORMATS) {
  test(`${POINTS} points exported as ${name} load again as they were`, async () => {
    const [exported, packed, again] = [
      file(`one.${name}`),
      file('two.waypost'),
      file('two.ndjson'),
    ];
    await waypost('export', original, exported);
    await waypost('pack', exported, packed);
    await waypost('export', packed, again);
    assert.is(await digestOf(again), digest);
    for (const path of [exported, packed, again]) await rm(path);
  });
}

test.run();
