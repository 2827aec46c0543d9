import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page, Response } from 'playwright-core';
import { countOf, LIST } from '../support/client.js';
import { ROOT } from '../support/service.js';
import { assert, failure, pluck, test } from '../support/uvu.js';
import { AROUND, browserTest, drawn, FEW, HOSTILE, pageTest, withoutMap } from './shared.js';
// these files share a browser, which takes a second to start
import './list.js';
import './map.js';

pageTest(
  'the viewer shows the API, calls it, follows dark mode, and fits a phone',
  async (page, { site }) => {
    // loaded once: a load takes two seconds of CPU
    await page.goto('/docs/#/rest/getPoint');
    const answerTo = async (operation: string): Promise<Response> => {
      const block = page.locator(`#operations-rest-${operation}`);
      await block.getByRole('button', { name: 'Try it out' }).click();
      const answered = page.waitForResponse((one) => one.url().startsWith(site + LIST));
      await block.getByRole('button', { name: 'Execute' }).click();
      return answered;
    };
    // the address opens this operation
    assert.is((await answerTo('getPoint')).url(), `${site}${LIST}1/`);
    await page.locator('#operations-rest-getPoint .opblock-summary').click();
    assert.is(await page.evaluate('document.documentElement.scrollWidth'), 375);
    assert.ok((await brightness(page, 'body', 'backgroundColor')) < 60);
    assert.ok((await brightness(page, '.opblock-summary-path', 'color')) > 180);
    await page.locator('#operations-rest-getPoints .opblock-summary').click();
    // the viewer would need seconds to show 100 records
    await page.route(`**${LIST}?*`, (route) =>
      route.continue({ url: route.request().url().replace('page_size=100', 'page_size=1') }),
    );
    const answer = await answerTo('getPoints');
    assert.is(answer.status(), 200);
    // the viewer fills in defaults, but no examples
    const names = [...new URL(answer.url()).searchParams.keys()];
    assert.equal(names, ['page', 'page_size']);
    await page
      .locator('.live-responses-table')
      .getByText(/"count": 3/)
      .waitFor();
  },
  { colorScheme: 'dark', viewport: { width: 375, height: 667 } },
);

pageTest(
  'without scripts the viewer leads to the document',
  async (page) => {
    await page.goto('/docs/');
    const link = page.locator('noscript a');
    assert.is(await link.getAttribute('href'), '/openapi.json');
    assert.ok(await link.isVisible());
  },
  { javaScriptEnabled: false },
);

/** The red channel of a colour, 0 to 255. */
async function brightness(page: Page, selector: string, property: string): Promise<number> {
  const colour = `getComputedStyle(document.querySelector('${selector}')).${property}`;
  return Number(/\d+/.exec(await page.evaluate<string>(colour))![0]);
}

browserTest('the visitor notices every kind of mistake of a page', async (visitor, { site }) => {
  const visiting = visitor.visit([site], async (page) => {
    await page.goto(FEW);
    await page.evaluate(`
      document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>');
      setTimeout(() => { throw new Error('failed'); });
      console.error('no');
      alert('hello');
      new Promise((done) => setTimeout(done));
    `);
    await page.goto('http://localhost:1/').catch(() => {});
  });
  const { actual } = (await failure(visiting)) as Error & { actual?: unknown };
  const kinds = [/Security Policy/, /: failed/, /: no/, /: hello/, /site: http:..localhost:1/];
  for (const one of kinds) assert.match(JSON.stringify(actual), one);
});

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
async function drawnAfter(page: Page, change: () => Promise<unknown>): Promise<Drawn> {
  await page.evaluate(`document.body.dataset.state = 'changing'`);
  await change();
  await page.waitForSelector('[data-state=idle]');
  return page.evaluate(DRAWN);
}

browserTest('the example draws and filters; a gone service is named', async (visitor, service) => {
  // served as by its own command
  const files = spawn(process.execPath, [join(ROOT, 'examples/serve.mjs'), '0']);
  const [line] = await once(files.stdout, 'data');
  const sites = [new URL(String(line)).origin, service.site, GONE];
  const look = async (page: Page): Promise<void> => {
    const all = await drawnAfter(page, () => page.goto(`/map.html?service=${service.site}`));
    assert.ok(all.clusters > 5 && all.singles > 0, JSON.stringify(all));
    await page.getByText(/^3,0\d\d points/).waitFor();

    const open = await drawnAfter(page, () => page.selectOption('select', 'OPEN'));
    const count = await countOf(service, 'status=OPEN');
    await page.getByText(`${count.toLocaleString('en')} points`).waitFor();
    assert.ok(open.clustered + open.singles <= count && open.clustered < all.clustered / 2);
    assert.ok(open.clusters > 3, JSON.stringify(open));

    const before = await page.evaluate('map.getZoom()');
    await drawnAfter(page, async () => {
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
});

pageTest('hostile records show as text, in pages and on the map', async (page, { site }) => {
  await page.goto(`${LIST}?${AROUND}`);
  const rows = await page.locator('tbody tr').all();
  for (const [i, row] of rows.entries()) {
    const cells = (await row.locator('td').allTextContents()).map((text) => text.trim());
    assert.equal(cells.slice(1, 5), Array(4).fill(HOSTILE[i]));
  }
  assert.is(rows.length, HOSTILE.length);
  await page.locator('#exchange > summary').click();
  const json = (await page.locator('pre.json').textContent())!;
  const { results } = JSON.parse(json.slice(json.indexOf('{')));
  assert.equal(pluck<{ comment: string }, 'comment'>(results, 'comment'), HOSTILE);
  // no hostile text became a link
  const links = await page.evaluate<string[]>('Array.from(document.links, ({ href }) => href)');
  for (const link of links) assert.ok(link.startsWith(`${site}/`), link);

  await drawn(page);
  await page.locator('#map canvas').press('Enter');
  const comments = page.locator('.map-popup article > [dir=auto]');
  await comments.first().waitFor();
  const shown = await comments.allTextContents();
  assert.equal(shown.toSorted(), HOSTILE.toSorted());

  // with one of them in the page, the others are a cluster at the same place
  await page.goto(`${LIST}?${AROUND}&page_size=1`);
  await drawn(page);
  await page.locator('#map canvas').press('Enter');
  await page.getByRole('button', { name: `Go closer to ${HOSTILE.length} points` }).waitFor();

  await page.goto(`${LIST}900001/`, { waitUntil: 'domcontentloaded' });
  await page.locator('pre.json').getByText(HOSTILE[0]!).first().waitFor({ state: 'attached' });
});

pageTest('hostile parameters show as text', async (page) => {
  await withoutMap(page);
  for (const text of HOSTILE) {
    const value = encodeURIComponent(text);
    const names = ['bbox', 'ordering', 'tags', 'polygon', 'created_at_after', value];
    await page.goto(`${LIST}?${names.map((name) => `${name}=${value}`).join('&')}`);
    assert.is(await page.locator('#f-bbox').inputValue(), text);
    assert.is(await page.locator('#f-tags').inputValue(), text);
    await page.locator('.field:has(#f-bbox) .error').waitFor();
  }
  const wild = encodeURIComponent(HOSTILE[1]!);
  for (const path of [`/rest/${wild}`, `${LIST}${wild}/?format=api`, `/rest/?format=${wild}`]) {
    const answer = await page.goto(path);
    assert.ok(answer!.status() >= 400, path);
    await page.locator('h1').waitFor();
  }
});

test.run();
