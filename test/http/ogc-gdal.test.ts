import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allItems, startOgc } from '../support/ogc.js';
import { testUnless } from '../support/skip.js';

const run = promisify(execFile);
const ITEMS = '/ogc/collections/points/items';

const formats = spawnSync('ogrinfo', ['--formats'], { encoding: 'utf8' });
const missing =
  formats.error !== undefined
    ? 'there is no ogrinfo here (apt-get install gdal-bin)'
    : formats.stdout.includes('OAPIF')
      ? undefined
      : 'this GDAL has no OAPIF driver';

const app = await startOgc(1_500);
app.accept(40);

test.after(() => app.close());

/** The ids that GDAL reads, in its order. */
function read(...options: string[]): Promise<number[]> {
  return readFrom('', options);
}

async function readFrom(query: string, options: readonly string[] = []): Promise<number[]> {
  const source = `OAPIF:http://127.0.0.1:${app.port}/ogc${query}`;
  const asked = ['-ro', '-al', '-geom=NO', '-oo', 'PAGE_SIZE=500', ...options, source];
  const { stdout, stderr } = await run('ogrinfo', asked);
  assert.is(stderr, '');
  return [...stdout.matchAll(/^OGRFeature\(points\):(\d+)$/gm)].map(([, id]) => Number(id));
}

async function items(query: string): Promise<number[]> {
  return (await allItems(app.get, `${ITEMS}?limit=1000&${query}`)).map(({ id }) => id);
}

testUnless(missing, 'GDAL reads all features, page by page', async () => {
  assert.equal(await read(), await items(''));
});

testUnless(missing, 'GDAL reads the features of a box and of a time', async () => {
  const inBox = await read('-spat', '20', '50', '30', '70');
  assert.equal(inBox, await items('bbox=20,50,30,70'));
  assert.ok(inBox.length > 10);
  const where = "created_at >= '2021-01-01T00:00:00Z' AND created_at <= '2022-01-01T00:00:00Z'";
  const inYear = await read('-where', where);
  assert.equal(inYear, await items('datetime=2021-01-01T00:00:00Z/2022-01-01T00:00:00Z'));
  assert.ok(inYear.length > 10);
});

testUnless(missing, 'GDAL keeps the filters of its address from page to page', async () => {
  const query = 'is_processed=false&modified_at_after=2020-06-01T00:00:00Z';
  const filtered = await items(query);
  assert.ok(filtered.length > 500, String(filtered.length));
  assert.equal(await readFrom(`?${query}`), filtered);
});

test.run();
