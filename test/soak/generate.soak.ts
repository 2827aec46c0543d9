import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolder } from '../support/folder.js';
import { generate, recordsOf } from '../support/generated.js';
import { isKdSorted } from '../support/kd-order.js';
import { readOnePass } from '../support/native.js';

test('native, NDJSON and gzipped NDJSON hold the same points, native ones sorted', async () => {
  const folder = makeFolder();
  // more than one block
  const options = { points: 66_000, seed: 3 };
  const lines = await generate(folder, 'p.ndjson', options);
  const zipped = await generate(folder, 'p.ndjson.gz', options);
  assert.ok(gunzipSync(zipped).equals(lines));

  await generate(folder, 'p.waypost', options);
  const [blocks, report] = await readOnePass(join(folder, 'p.waypost'));
  assert.is(report.points, options.points);
  const places = blocks.flatMap(({ lon, lat }) =>
    Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! })),
  );
  assert.ok(isKdSorted(places));
  const expected = lines.toString().trimEnd().split('\n').sort();
  assert.ok(blocks.flatMap(recordsOf).sort().join('\n') === expected.join('\n'));
});

test.run();
