import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { MAX_BLOCK_POINTS } from '../../src/formats/block.js';
import { openSnapshot } from '../../src/formats/files/open.js';
import { contentsOf } from '../support/native.js';
import { assert, failure, makeFile, pluck, test } from '../support/uvu.js';

const VALID = { lat: '1', lon: '2', created_at: '2023-05-01T12:00Z' };

/** Lines of valid records with `more` fields each. */
function linesOf(count: number, more: object = {}): string {
  const records = Array.from({ length: count }, (_, i) => ({ ...VALID, id: i + 1, ...more }));
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

test('blocks end at the limit of points', async () => {
  const path = makeFile(linesOf(2 * MAX_BLOCK_POINTS + 1));
  assert.equal(await fullestOf(path), [MAX_BLOCK_POINTS, 2 * MAX_BLOCK_POINTS + 1]);
});

test('blocks end at the limit of bytes', async () => {
  const path = makeFile(linesOf(150, { comment: 'é'.repeat(125_000) }));
  assert.equal(await fullestOf(path), [67, 150]);
});

/** Runs drain-worker.ts; rejects when the worker's heap is full. */
async function drain(name: string): Promise<{ count: number; largestBatch: number }> {
  const worker = new Worker(new URL('../support/drain-worker.js', import.meta.url), {
    workerData: name,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 4 },
  });
  const [drained] = await once(worker, 'message');
  return drained;
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
  const line = (id: number): Buffer => gzipSync(`${JSON.stringify({ ...VALID, id })}\n`);
  // gzip files may be concatenated: 100 MB of blank lines between two records
  const blank = gzipSync(`${' '.repeat(99_999)}\n`.repeat(40));
  const file = Buffer.concat([line(1), ...Array(25).fill(blank), line(2)]);
  assert.ok(file.length < 1e6);
  assert.equal(await fullestOf(makeFile(file, 'points.gz')), [2, 2]);
});

/** Asserts that no block exceeds the limit of bytes; returns the most points of one, and of all. */
async function fullestOf(path: string): Promise<[most: number, all: number]> {
  const [blocks] = await contentsOf(await openSnapshot(path, {}));
  for (const { length, records } of blocks) {
    const bytes = length.reduce((sum, each) => sum + each, 0);
    assert.ok(records.length <= 16 * 1024 * 1024);
    assert.is(bytes, records.length);
  }
  const counts = pluck(blocks, 'count');
  return [Math.max(...counts), counts.reduce((sum, count) => sum + count)];
}

test.run();
