import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { browserTest, type Site } from '../browser/shared.js';
import type { Visitor } from '../support/browser.js';
import { LIST } from '../support/client.js';
import { codeIn } from '../support/documents.js';
import { ROOT } from '../support/service.js';
import { startFileSite } from '../support/sockets.js';
import { decodeTile } from '../support/tiles.js';
import { ascending, assert, test } from '../support/uvu.js';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
};

interface Note {
  readonly id: number;
  readonly lon: string;
  readonly lat: string;
}

/** The JavaScript in a section of docs/maps.md, with addresses of this service. */
function snippets(title: string, { site }: Site): string[] {
  return codeIn('docs/maps.md', title, 'js', site);
}

/** The first snippet of a section: what draws one filter, and another one at once. */
function filtersIn(title: string, service: Site): string[] {
  return snippets(title, service)[0]!.split('// another filter, at once\n');
}

/** Opens a page, and serves the files of installed packages to it. */
async function visitPage(
  visitor: Visitor,
  { site }: Site,
  body: string,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const files = await startFileSite((path) => {
    if (path === '/') return { type: 'text/html', body };
    const ending = /\w+$/.exec(path)![0];
    const file = readFileSync(join(ROOT, 'node_modules', path));
    return { type: TYPES[ending] ?? 'application/octet-stream', body: file };
  });
  await visitor.visit([files, site], look);
}

/** A note that matches a query and has no other match within a kilometre. */
async function loneNote(service: Site, query: string): Promise<Note> {
  const { results } = (
    await service.get(`${LIST}?page_size=1000&fields=id,lon,lat&${query}`)
  ).json<{ results: Note[] }>();
  for (const note of results) {
    const near = await service.get(`${LIST}?coordinates=${note.lat},${note.lon},1000&${query}`);
    if (near.json<{ count: number }>().count === 1) return note;
  }
  throw new Error(`no note of ${query} is alone`);
}

/** Resolves once the page has the first tile with a filter. */
function tileOf(page: Page, site: string, filter: string): Promise<void> {
  const isTile = (url: string): boolean =>
    url.startsWith(`${site}/tiles/`) && url.endsWith(`?${filter}`);
  const answered = page
    .waitForResponse((one) => isTile(one.url()))
    .then((answer) => {
      assert.ok([200, 204].includes(answer.status()), `${answer.status()} ${answer.url()}`);
    });
  // a page that fails before this is awaited reports its own error
  answered.catch(() => {});
  return answered;
}

const OPEN = 'status=OPEN';
const NEW = 'status=NEW&tags=Lighting';

browserTest('the documented code for MapLibre draws tiles', async (visitor, service) => {
  const [first, next] = filtersIn('MapLibre', service);
  const html = MAPLIBRE.replace('// the code of the page', first!);
  await visitPage(visitor, service, html, async (page) => {
    await page.goto('/');
    for (const [drawn, filter] of [
      ['drawn', OPEN],
      [`(async () => { ${next}; await map.once('idle'); })()`, NEW],
    ] as const) {
      await page.evaluate(drawn);
      const { body } = await service.get(`/tiles/0/0/0.mvt?${filter}`);
      const { clusters, points } = decodeTile(body);
      const counts = ascending(
        clusters!.map(({ properties }) => Number(properties['point_count'])),
      );
      const ids = ascending(points!.map(({ id }) => Number(id)));
      assert.ok(counts.length > 3 && ids.length > 0, `${counts.length} and ${ids.length}`);
      assert.equal(await page.evaluate(DRAWN), { counts, ids });
    }
  });
});

/** A map of the whole world, covered by one tile. */
const MAPLIBRE = `<!doctype html>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="maplibre-gl/dist/maplibre-gl.css">
<div id="map" style="width: 512px; height: 512px"></div>
<script type="module">
import { Map } from './maplibre-gl/dist/maplibre-gl.mjs';
const style = { version: 8, sources: {}, layers: [] };
const map = new Map({ container: 'map', style, zoom: 0, renderWorldCopies: false });
const draw = async () => {
  // the code of the page
  await map.once('idle');
};
Object.assign(globalThis, { map, drawn: draw() });
</script>`;

/** What MapLibre has drawn: counts of clusters, and ids of single points. */
const DRAWN = `(() => {
  const shown = (layer) => map.queryRenderedFeatures({ layers: [layer] });
  const ascending = (values) => values.sort((a, b) => a - b);
  return {
    counts: ascending(shown('clusters').map(({ properties }) => properties.point_count)),
    ids: ascending(shown('points').map(({ id }) => id)),
  };
})()`;

browserTest('the documented code for Leaflet draws tiles', async (visitor, service) => {
  const [first, next] = filtersIn('Leaflet', service);
  const [open, other] = [await loneNote(service, OPEN), await loneNote(service, NEW)];
  await visitPage(visitor, service, LEAFLET, async (page) => {
    await page.goto('/');
    for (const [lines, note, filter] of [
      [first!, open, OPEN],
      [next!, other, NEW],
    ] as const) {
      const { lon, lat } = note;
      await page.evaluate(`map.setView([${lat}, ${lon}], 14, { animate: false })`);
      const answered = tileOf(page, service.site, filter);
      // the next snippet uses declarations of the first
      await page.addScriptTag({ content: lines });
      await page.waitForFunction('!layer.isLoading()');
      assert.equal(await page.evaluate(AT_CENTRE), { ids: [note.id], color: '194,65,12,255' });
      await answered;
    }
  });
});

const LEAFLET = `<!doctype html>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="leaflet/dist/leaflet.css">
<div id="map" style="width: 300px; height: 300px"></div>
<script src="leaflet/dist/leaflet.js"></script>
<script src="protomaps-leaflet/dist/protomaps-leaflet.js"></script>
<script>const map = L.map('map', { attributionControl: false });</script>`;

/** Ids of the notes in the middle of Leaflet's map, and the colour drawn there. */
const AT_CENTRE = `(() => {
  const { lat, lng } = map.getCenter();
  const found = [...layer.queryTileFeaturesDebug(lng, lat).values()].flat();
  const { x, y } = map.getContainer().getBoundingClientRect();
  const tiles = document.elementsFromPoint(x + 150, y + 150);
  const tile = [...document.querySelectorAll('canvas')].find((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left <= x + 150 && x + 150 < right && top <= y + 150 && y + 150 < bottom;
  });
  const { left, top, width } = tile.getBoundingClientRect();
  const [right, down] = [x + 150 - left, y + 150 - top].map((at) => (at * tile.width) / width);
  const pixel = tile.getContext('2d').getImageData(right, down, 1, 1).data;
  return { ids: found.map(({ feature }) => feature.props.id), color: pixel.join() };
})()`;

browserTest('the documented code for Leaflet draws the list', async (visitor, service) => {
  const [, code] = snippets('Leaflet', service);
  const [address] = /\/rest\/[^']+/.exec(code!)!;
  const { features } = (await service.get(address)).json<{ features: unknown[] }>();
  await visitPage(visitor, service, LEAFLET, async (page) => {
    await page.goto('/');
    await page.evaluate('map.setView([60.17, 24.95], 14)');
    await page.evaluate(`(async () => { ${code}; globalThis.list = list; })()`);
    assert.is(await page.evaluate('list.getLayers().length'), features.length);
    await page.evaluate('list.getLayers()[0].openTooltip()');
    assert.match((await page.textContent('.leaflet-tooltip'))!, /^(?:NEW|OPEN)$/);
  });
});

browserTest('the documented code for OpenLayers draws tiles', async (visitor, service) => {
  const [first, next] = filtersIn('OpenLayers', service);
  const [open, other] = [await loneNote(service, OPEN), await loneNote(service, NEW)];
  const html = OPENLAYERS.replace('// the code of the page', first!);
  await visitPage(visitor, service, html, async (page) => {
    const show = async ({ id, lon, lat }: Note): Promise<void> => {
      await page.evaluate(`map.getView().setCenter(fromLonLat([${lon}, ${lat}]))`);
      await page.waitForFunction(`async () => String(await ${UNDER_CENTRE}) === '${id}'`);
    };
    const [forOpen, forNew] = [OPEN, NEW].map((one) => tileOf(page, service.site, one));
    await page.goto('/');
    await show(open);
    await forOpen;
    await page.evaluate(next!);
    await show(other);
    await forNew;
  });
});

const OPENLAYERS = `<!doctype html>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="ol/ol.css">
<div id="map" style="width: 300px; height: 300px"></div>
<script type="importmap">{ "imports": {
  "ol/": "/ol/",
  "rbush": "/rbush/index.js",
  "quickselect": "/quickselect/index.js",
  "earcut": "/earcut/src/earcut.js",
  "pbf": "/pbf/index.js"
} }</script>
<script type="module">
import Map from 'ol/Map.js';
import View from 'ol/View.js';
import { fromLonLat } from 'ol/proj.js';
const map = new Map({ target: 'map', view: new View({ zoom: 14, center: [0, 0] }) });
// the code of the page
Object.assign(globalThis, { map, layer, fromLonLat });
</script>`;

/** Ids of the notes in the middle of OpenLayers' map. */
const UNDER_CENTRE = `layer
  .getFeatures([150, 150])
  .then((features) => features.map((feature) => feature.getId()))`;

test.run();
