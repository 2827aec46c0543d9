import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Envelope } from '../support/client.js';
import { read, section } from '../support/documents.js';
import { makeFolder } from '../support/folder.js';
import { withoutGdal } from '../support/gdal.js';
import { startService } from '../support/service.js';
import { assert, test, testUnless } from '../support/uvu.js';

const run = promisify(execFile);
const AREA = 'bbox=24.9,60.1,25,60.2';
const SINCE = '2023-05-01T00:00:00Z';
const SHOWN = 'http://127.0.0.1:8080';

/** The features that a description by ogrinfo counts, layer by layer. */
function countsIn(description: string): number[] {
  return [...description.matchAll(/^Feature Count: (\d+)$/gm)].map(([, count]) => Number(count));
}

testUnless(withoutGdal(), 'the lines for GDAL read what they say', async () => {
  const folder = makeFolder();
  const service = await startService();
  const [, lines] = /^```sh\n(.*?)^```/ms.exec(section(read('docs/maps.md'), 'GDAL'))!;
  const site = `http://127.0.0.1:${service.port}`;
  const script = `set -e\n${lines!.replaceAll(SHOWN, site)}`;
  const { stdout } = await run('sh', ['-c', script], { cwd: folder, maxBuffer: 2 ** 26 });
  const countOf = async (query: string): Promise<number> =>
    (await service.get(`/rest/map_data_points/?page_size=1&${query}`)).json<Envelope>().count;
  assert.equal(countsIn(stdout), [await countOf(''), await countOf('tags=Lighting')]);
  for (const [file, query] of [
    ['notes.gpkg', AREA],
    ['new.gpkg', `created_at_after=${SINCE}`],
    ['lighting.gpkg', `tags=Lighting&modified_at_after=${SINCE}`],
  ]) {
    const described = await run('ogrinfo', ['-so', '-al', file!], { cwd: folder });
    const count = await countOf(query!);
    assert.equal(countsIn(described.stdout), [count], file);
    assert.ok(count > 10, `${count} of ${query}`);
  }
  const clusters = await run('ogrinfo', ['-al', 'clusters.geojson'], { cwd: folder });
  assert.ok(countsIn(clusters.stdout)[0]! > 10);
  assert.match(clusters.stdout, /^ {2}point_count \(Integer\) = \d+$/m);
});

test.run();
