import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PointBlock } from '../../../src/formats/block.js';
import { NativeWriter } from '../../../src/formats/native/write.js';
import { writeBlocks } from '../../../src/formats/native/write-blocks.js';
import { failure } from '../../support/errors.js';
import { makeFolder } from '../../support/folder.js';
import { blockOf, CREATED_AT, notification } from '../../support/native.js';
import { pointOf, scatterNotes } from '../../support/notes.js';
import { assert, test } from '../../support/uvu.js';

const NOTIFICATIONS = [notification(1)];
const folder = makeFolder();

/** What is announced decides how blocks are written: many are written by a thread. */
const labelsOf = (count: number): ConstructorParameters<typeof NativeWriter>[1] => {
  return { origin: 'a test', count, createdAt: CREATED_AT };
};
const MANY = labelsOf(1_000_000);

function makeBlocks(): PointBlock[] {
  return [1, 2, 3].map((seed) => {
    const block = blockOf(scatterNotes(seed, 40).map(pointOf));
    return { ...block, records: new Uint8Array(block.records) };
  });
}

async function* oneByOne(blocks: readonly PointBlock[]): AsyncGenerator<PointBlock> {
  yield* blocks;
}

async function writing(path: string, blocks: AsyncIterable<PointBlock>): Promise<unknown> {
  const fd = openSync(path, 'w');
  try {
    return await writeBlocks(fd, MANY, blocks, NOTIFICATIONS);
  } finally {
    closeSync(fd);
  }
}

test('a thread writes the same bytes', async () => {
  const [path, other] = [join(folder, 'thread'), join(folder, 'direct')];
  const totals = await writing(path, oneByOne(makeBlocks()));
  const fd = openSync(other, 'w');
  const writer = new NativeWriter(fd, MANY);
  for (const block of makeBlocks()) writer.write(block);
  assert.equal(totals, writer.finish(NOTIFICATIONS));
  closeSync(fd);
  assert.ok(readFileSync(path).equals(readFileSync(other)));
});

test('what goes wrong in the thread, or before it, reaches the caller', async () => {
  const path = join(folder, 'wrong');
  const [block] = makeBlocks();
  const cut = { ...block!, records: new Uint8Array(1) };
  assert.match((await failure(writing(path, oneByOne([cut])))).message, /^the block's lengths add/);
  const full = await failure(writing('/dev/full', oneByOne(makeBlocks())));
  assert.is((full as NodeJS.ErrnoException).code, 'ENOSPC');
  async function* broken(): AsyncGenerator<PointBlock> {
    yield makeBlocks()[0]!;
    throw new Error('the blocks end here');
  }
  assert.is((await failure(writing(path, broken()))).message, 'the blocks end here');
});

test.run();
