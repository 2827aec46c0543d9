import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { read, section } from '../support/documents.js';
import { ROOT } from '../support/service.js';
import { browserTest } from './shared.js';

const PACKAGE = join(ROOT, 'node_modules/maplibre-gl/dist');

browserTest('the map of the page on clients draws notes', async (visitor, { site }) => {
  const [, shown] = /^```html\n(.*?)^```/ms.exec(section(read('docs/clients.md'), 'MapLibre'))!;
  const own = shown!.replaceAll('http://127.0.0.1:8080', site);
  // the test asks the map what it has drawn
  const body = own.replace('  map.on(', '  globalThis.map = map;\n  map.on(');
  assert.is.not(body, own);
  const size = { viewport: { width: 300, height: 300 } };
  await visitor.visit(
    [site],
    async (page) => {
      await page.route('**/clients/*', (route) => {
        const [file] = /[^/]+$/.exec(new URL(route.request().url()).pathname)!;
        if (file === 'map.html') return route.fulfill({ body, contentType: 'text/html' });
        return route.fulfill({ path: join(PACKAGE, file) });
      });
      await page.goto('/clients/map.html');
      await page.evaluate(`new Promise((idle) => map.once('idle', idle))`);
      const drawn = `map.queryRenderedFeatures({ layers: ['clusters', 'points'] }).length`;
      assert.ok((await page.evaluate<number>(drawn)) > 3);
    },
    size,
  );
});
