import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { countOf } from '../support/client.js';
import { ROOT } from '../support/service.js';
import { browserTest } from './shared.js';

/** Numbers of drawn clusters, of the points in them, and of single points. */
interface Drawn {
  readonly clusters: number;
  readonly clustered: number;
  readonly singles: number;
}

const GONE = 'http://127.0.0.1:9';

const DRAWN = `(() => {
  const shown = (layer) => map.queryRenderedFeatures({ layers: [layer] });
  const counts = shown('clusters').map(({ properties }) => properties.point_count);
  const clustered = counts.reduce((sum, count) => sum + count, 0);
  return { clusters: counts.length, clustered, singles: shown('points').length };
})()`;

/** Changes the map, and waits until it is drawn. */
async function drawn(page: Page, change: () => Promise<unknown>): Promise<Drawn> {
  await page.evaluate(`document.body.dataset.state = 'changing'`);
  await change();
  await page.waitForSelector('[data-state=idle]');
  return page.evaluate(DRAWN);
}

browserTest(
  'the example draws, filters and opens clusters, and names a service that is gone',
  async (visitor, service) => {
    // served as by its own command
    const files = spawn(process.execPath, [join(ROOT, 'examples/serve.mjs'), '0']);
    const [line] = await once(files.stdout, 'data');
    const sites = [new URL(String(line)).origin, service.site, GONE];
    const look = async (page: Page): Promise<void> => {
      const all = await drawn(page, () => page.goto(`/map.html?service=${service.site}`));
      assert.ok(all.clusters > 5 && all.singles > 0, JSON.stringify(all));
      await page.getByText(/^3,0\d\d points/).waitFor();

      const open = await drawn(page, () => page.selectOption('select', 'OPEN'));
      const count = await countOf(service, 'status=OPEN');
      await page.getByText(`${count.toLocaleString('en')} points`).waitFor();
      assert.ok(open.clustered + open.singles <= count && open.clustered < all.clustered / 2);
      assert.ok(open.clusters > 3, JSON.stringify(open));

      const before = await page.evaluate('map.getZoom()');
      await drawn(page, async () => {
        const [x, y] = await page.evaluate<[number, number]>(`(() => {
        const [{ geometry }] = map.queryRenderedFeatures({ layers: ['clusters'] });
        const { x, y } = map.project(geometry.coordinates);
        return [x, y];
      })()`);
        await page.locator('canvas').click({ position: { x, y } });
      });
      assert.is(await page.evaluate('map.getZoom()'), Math.floor(Number(before)) + 2);

      const headers = { 'Access-Control-Allow-Origin': '*' };
      const answer = { status: 404, headers, body: 'no service' };
      await page.route(`${GONE}/**`, (route) => route.fulfill(answer));
      await page.goto(`/map.html?service=${GONE}`);
      await page.getByText(`no answer from ${GONE}`).waitFor();
    };
    try {
      await visitor.visit(sites, look);
    } finally {
      files.kill();
      await once(files, 'close');
    }
  },
);
