import type { Page } from 'playwright-core';
import sharp from 'sharp';
import * as assert from 'uvu/assert';
import type { Envelope } from '../support/client.js';
import { browserTest, LIST } from './shared.js';

const CANVAS = '#map canvas';

async function drawn(page: Page): Promise<void> {
  await page.waitForSelector('#map[data-state=idle]');
}

/** What the map says of itself: matches, clusters, single points, records of the page. */
async function summary(page: Page): Promise<number[]> {
  const label = (await page.getAttribute(CANVAS, 'aria-label'))!;
  return [...label.matchAll(/\d+/g)].map(Number);
}

function matchesOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'match' : 'matches'}`;
}

browserTest('the map shows the matches, and a view of it is a filter', async (visitor, service) => {
  const count = async (query: string): Promise<number> =>
    (await service.get(`${LIST}?${query}`)).json<Envelope>().count;

  await visitor.visit([service.site], async (page) => {
    await page.goto(`${LIST}?coordinates=60.17,24.94,2000&bbox=20,50,40,70`);
    await drawn(page);
    assert.is((await summary(page))[0], await count('coordinates=60.17,24.94,2000'));
    await page.goto(`${LIST}?bbox=24.44,59.67,25.44,60.67`);
    await drawn(page);
    const [matches, clusters, , records] = await summary(page);
    assert.is(matches, await count('bbox=24.44,59.67,25.44,60.67'));
    assert.ok(clusters! > 0 && records === 100, `${clusters} clusters, ${records} records`);

    for (let zooms = 0; zooms < 4; zooms++) {
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await drawn(page);
    }
    await page.getByRole('button', { name: 'This view' }).click();
    await page.waitForURL(/bbox=(?!24.44)/);
    const box = (await page.locator('#f-bbox').inputValue()).split(',').map(Number);
    const [left, bottom, right, top] = box as [number, number, number, number];
    assert.ok(24.44 < left && left < right && right < 25.44, box.join());
    assert.ok(59.67 < bottom && bottom < top && top < 60.67, box.join());
    const inBox = await count(`bbox=${box}`);
    assert.ok(inBox > 0 && inBox < matches!, String(inBox));
    await page.getByRole('heading', { name: matchesOf(inBox) }).waitFor();
    await drawn(page);
    assert.is((await summary(page))[0], inBox);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL((url) => !url.search.includes('bbox'));
  });
});

browserTest('a point opens on the map, and a cluster flies apart', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    // the one record in the middle
    await page.goto(`${LIST}?coordinates=60.17,24.94,20000&page_size=1`);
    await drawn(page);
    const [matches] = await summary(page);
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Enter');
    const popup = page.locator('.map-popup article').first();
    const id = await page.locator('tbody td').first().textContent();
    await popup.getByRole('link', { name: `Point ${id}` }).click();
    await page.waitForURL(`**${LIST}${id}/`);
    assert.ok(matches! > 100);
  });
});

browserTest(
  'a city lies on neutral ground, and the world is there once',
  async (visitor, { site }) => {
    const size = { viewport: { width: 1280, height: 900 } };
    const look = async (page: Page): Promise<void> => {
      await page.goto(`${LIST}?page_size=1&ordering=created_at`);
      await drawn(page);
      await page.getByRole('button', { name: 'Zoom out' }).click();
      await drawn(page);
      const { width } = (await page.locator(CANVAS).boundingBox())!;
      assert.ok(width <= 512 * 2 ** Number(await page.getAttribute('#map', 'data-zoom')) + 1);
      await page.goto(`${LIST}?coordinates=60.17,24.94,2000&page_size=1`);
      await drawn(page);
      const { data } = await sharp(await page.locator(CANVAS).screenshot())
        .raw()
        .toBuffer({ resolveWithObject: true });
      const [red, green, blue] = data;
      assert.ok(blue! <= red! && Math.abs(green! - red!) < 8, `${red} ${green} ${blue}`);
    };
    await visitor.visit([site], look, size);
  },
);

browserTest('a browser without WebGL is told so, and has the table', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    await page.addInitScript('HTMLCanvasElement.prototype.getContext = () => null');
    await page.goto(`${LIST}?page_size=5`);
    await page.getByText('There is no map: this browser offers no WebGL 2.').waitFor();
    assert.is(await page.locator('tbody tr').count(), 5);
  });
});
