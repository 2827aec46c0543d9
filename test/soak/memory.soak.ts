import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { MAX_BLOCK_POINTS } from '../../src/formats/block.js';
import { openSnapshot } from '../../src/formats/files/open.js';
import { assert, failure, makeFolder, test } from '../support/uvu.js';

const VALID = { lat: '1', lon: '2', created_at: '2023-05-01T12:00Z' };

test('blocks end at the limit of points', async () => {
  const path = join(makeFolder(), 'points');
  const count = 2 * MAX_BLOCK_POINTS + 1;
  const fd = openSync(path, 'w');
  for (let id = 1; id <= count; id++) writeSync(fd, `${JSON.stringify({ ...VALID, id })}\n`);
  closeSync(fd);
  assert.equal(await countsOf(path), [MAX_BLOCK_POINTS, MAX_BLOCK_POINTS, 1]);
});

test('blocks end at the limit of bytes', async () => {
  const path = join(makeFolder(), 'points');
  const comment = 'é'.repeat(125_000);
  const lines = Array.from({ length: 150 }, (_, id) =>
    JSON.stringify({ ...VALID, id: id + 1, comment }),
  );
  writeFileSync(path, lines.join('\n'));
  assert.equal(await countsOf(path), [67, 67, 16]);
});

/** Runs drain-worker.ts; rejects when the worker's heap is full. */
function drain(name: string): Promise<{ count: number; largestBatch: number }> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../support/drain-worker.js', import.meta.url), {
      workerData: name,
      resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 4 },
    });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Rows beyond 100,000, by kind of file. */
const RESTS = { ndjson: 0, json: 1, 'json envelope': 1, geojson: 1, csv: 0, msgpack: 0 };
for (const [name, rest] of Object.entries({ ...RESTS, 'msgpack array': 0 })) {
  test(`${name}: 100,000 records pass through a heap that holds few of them`, async () => {
    const { count, largestBatch } = await drain(name);
    assert.is(count, 100_000 + rest);
    // a batch holds the rows of a chunk
    assert.ok(largestBatch <= 201, `${largestBatch} at once`);
  });
}

test('JSON beside the records takes no memory, but is limited', async () => {
  const { message } = await failure(drain('json with much beside its list'));
  assert.match(message, /^what it has beside its records is longer than/);
});

test('a gzip file that expands to far more than its size is read in pieces', async () => {
  const path = join(makeFolder(), 'points.gz');
  const line = (id: number): Buffer => gzipSync(`${JSON.stringify({ ...VALID, id })}\n`);
  // gzip files may be concatenated: 100 MB of blank lines between two records
  const blank = gzipSync(`${' '.repeat(99_999)}\n`.repeat(40));
  writeFileSync(path, Buffer.concat([line(1), ...Array(25).fill(blank), line(2)]));
  assert.ok(statSync(path).size < 1e6);
  assert.equal(await countsOf(path), [2]);
});

/** Asserts that each block is within the limit of bytes; returns its number of points. */
async function countsOf(path: string): Promise<number[]> {
  const counts: number[] = [];
  const reader = await openSnapshot(path, {});
  for await (const block of reader.blocks()) {
    assert.ok(block.records.length <= 16 * 1024 * 1024);
    assert.is(
      block.length.reduce((sum, bytes) => sum + bytes, 0),
      block.records.length,
    );
    counts.push(block.count);
  }
  reader.close();
  return counts;
}

test.run();
