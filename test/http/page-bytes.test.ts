import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_RECORD_BYTES } from '../../src/formats/block.js';
import { PointRecords } from '../../src/http/formats/representation.js';
import { HttpError, pageTooLarge } from '../../src/http/request/http-error.js';
import type { Dataset } from '../../src/index/dataset.js';
import { createPageCopier } from '../../src/index/record-page.js';
import { allocateRecords } from '../../src/index/records.js';
import { type Envelope, LIST } from '../support/client.js';
import { jsonOfPage } from '../support/documents.js';
import { makeFolder } from '../support/folder.js';
import { startOwnService } from '../support/own-service.js';
import { runCommand } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const LARGE = 40;
const snapshot = join(makeFolder(), 'points.ndjson');
// a page of small records in front of the large ones
const points = Array.from({ length: 2 * LARGE }, (_, i) => {
  const comment = i < LARGE ? 'small' : '<&>"'.repeat(43_000);
  return { id: i + 1, lat: '1', lon: '2', created_at: '2024-01-01T00:00:00Z', comment };
});
writeFileSync(snapshot, points.map((point) => `${JSON.stringify(point)}\n`).join(''));
const service = await startOwnService(['--snapshot', snapshot]);

/** The page size that the refusal of a page names as one that fits. */
async function fittingSize(path: string): Promise<number> {
  const reply = await service.get(path);
  assert.is(reply.status, 400, path);
  const isPage = reply.headers['content-type'] !== 'application/json';
  type Errors = Record<string, string[]>;
  const errors = isPage ? jsonOfPage<Errors>(reply.text) : reply.json<Errors>();
  assert.equal(Object.keys(errors), ['page_size']);
  assert.is(errors['page_size']!.length, 1);
  return Number(/Example: page_size=(\d+)$/.exec(errors['page_size']![0]!)![1]);
}

test('a page with too many bytes is refused, and told what fits', async () => {
  for (const query of ['?page_size=1000', '', '?page_size=40&page=2', '?page=last&page_size=79']) {
    if (query.startsWith('?page=last')) {
      // a single large record
      assert.is((await service.get(LIST + query)).status, 200);
      continue;
    }
    const size = await fittingSize(LIST + query);
    assert.ok(size >= 20 && size < LARGE, `${query}: ${size}`);
    for (let page = Math.ceil(LARGE / size) + 1; ; page++) {
      const { results, next } = (
        await service.get(`${LIST}?page_size=${size}&page=${page}`)
      ).json<Envelope>();
      assert.is(results[0]!['id'], (page - 1) * size + 1, 'no page is shorter than was asked for');
      if (next === null) break;
    }
  }
});

test('the page for people has a bound of its own', async () => {
  const size = await fittingSize(`${LIST}?page_size=40&page=2&format=api`);
  assert.ok(size >= 5 && size < 20, String(size));
  const fitting = `${LIST}?page_size=${size}&page=${Math.ceil(60 / size)}`;
  assert.is((await service.get(`${fitting}&format=api`)).status, 200);
  assert.is((await service.get(`${LIST}?page_size=20&page=3&format=api`)).status, 400);
  assert.is((await service.get(`${LIST}?page_size=20&page=3`)).status, 200);
});

test('the record alone is always shown', async () => {
  for (const path of [`${LIST}${2 * LARGE}/`, `${LIST}?page_size=1&page=last`]) {
    for (const format of ['json', 'api']) {
      const separator = path.includes('?') ? '&' : '?';
      const { status, text } = await service.get(`${path}${separator}format=${format}`);
      assert.is(status, 200);
      assert.ok(text.length > 172_000);
    }
  }
});

test('a list without the large ones is as ever', async () => {
  assert.is((await service.get(`${LIST}?page_size=${LARGE}`)).status, 200);
});

test('the bound may not be below a record', async () => {
  const flags = ['--snapshot', snapshot, '--max-page-bytes', '255KiB'];
  const { code, stderr } = await runCommand(['serve', '--port', '0', ...flags]);
  assert.is(code, 1);
  assert.match(stderr, '--max-page-bytes');
  assert.match(stderr, 'Expected 256KiB or more');
});

test('1,100 of the longest records: nothing is copied to find out', () => {
  const count = 1_100;
  const records = allocateRecords(new Uint32Array(count).fill(MAX_RECORD_BYTES));
  const rows = Uint32Array.from({ length: count }, (_, row) => row);
  const before = process.memoryUsage().arrayBuffers;
  const page = new PointRecords(
    { records, count } as Dataset,
    { rows, length: 1_000, delta: undefined },
    createPageCopier(),
  );
  const { count: found, size } = page;
  assert.is(size, 1_000 * MAX_RECORD_BYTES + 999);
  const limit = 8 * 1024 * 1024;
  const error = pageTooLarge(found, size, page.longest(), limit);
  assert.instance(error, HttpError);
  assert.is(error.status, 400);
  assert.match(JSON.stringify(error.body), 'any 32 of these records fit. Example: page_size=32');
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
});

test.run();
