import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { textOf } from '../../src/browser/shapes.js';
import { countOf, jsonPost, LIST } from '../support/client.js';
import { metricsOf } from '../support/operating.js';
import { until } from '../support/wait.js';
import { drawn, FEW, HOSTILE, pageTest, withoutMap } from './shared.js';

const CANVAS = '#map canvas';
/** Width of the world at zoom 0, in pixels. */
const WORLD = 512;

/** The numbers in the map's label: matches, clusters, single points, records of the page. */
async function summary(page: Page): Promise<number[]> {
  const label = (await page.getAttribute(CANVAS, 'aria-label'))!;
  return [...label.matchAll(/\d+/g)].map(Number);
}

interface View {
  readonly center: readonly [number, number];
  readonly zoom: number;
}

/** A map's view, as it is stored for the next page. */
async function viewOf(page: Page): Promise<View> {
  return JSON.parse(await page.evaluate<string>(`sessionStorage.getItem('waypost-map')`));
}

async function assertSameView(page: Page, before: View, what: string): Promise<void> {
  const { center, zoom } = await viewOf(page);
  const moved = [center[0] - before.center[0], center[1] - before.center[1], zoom - before.zoom];
  assert.ok(Math.max(...moved.map(Math.abs)) < 1e-6, `${what}: ${moved}`);
}

function matchesOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'match' : 'matches'}`;
}

/** Drags the pointer between two places, given as fractions of the map's size. */
async function drag(page: Page, from: readonly number[], to: readonly number[]): Promise<void> {
  await page.locator(CANVAS).scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await page.locator(CANVAS).boundingBox())!;
  await page.mouse.move(x + from[0]! * width, y + from[1]! * height);
  await page.mouse.down();
  await page.mouse.move(x + to[0]! * width, y + to[1]! * height, { steps: 4 });
  await page.mouse.up();
}

pageTest('a box, a circle and a polygon drawn on the map are filters', async (page, service) => {
  const count = (query: string): Promise<number> => countOf(service, query);

  await page.goto(`${FEW}&bbox=20,55,30,65`);
  await drawn(page);
  const [matches, clusters, , records] = await summary(page);
  assert.is(matches, await count('bbox=20,55,30,65'));
  assert.ok(clusters! > 0 && records === 5, `${clusters} clusters, ${records} records`);

  const bar = page.locator('.map-bar');
  const fieldOf = (name: string): Promise<string> => page.locator(`#f-${name}`).inputValue();
  // a drawn filter applies at once, and the map keeps its view
  const { zoom } = await viewOf(page);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await until('a nearer view', async () => (await viewOf(page)).zoom > zoom + 0.9);
  await drawn(page);
  const before = await viewOf(page);
  await bar.getByRole('button', { name: 'This view' }).click();
  await page.waitForURL(/bbox=(?!20%2C|20,)/);
  await drawn(page);
  await assertSameView(page, before, 'This view');
  const { searchParams } = new URL(page.url());
  await bar.getByRole('button', { name: 'Box' }).click();
  await drag(page, [0.45, 0.4], [0.55, 0.6]);
  await page.waitForURL((url) => url.searchParams.get('bbox') !== searchParams.get('bbox'));
  const drawnBox = (await fieldOf('bbox')).split(',').map(Number);
  const [left, bottom, right, top] = drawnBox as [number, number, number, number];
  assert.ok(20 < left && left < right && right < 30, drawnBox.join());
  assert.ok(55 < bottom && bottom < top && top < 65, drawnBox.join());
  const inBox = await count(`bbox=${drawnBox}`);
  assert.ok(inBox > 0 && inBox < matches!, String(inBox));
  await page.getByRole('heading', { name: matchesOf(inBox) }).waitFor();
  await drawn(page);
  assert.is((await summary(page))[0], inBox);
  await assertSameView(page, before, 'Box');

  // a circle by keyboard alone: first its centre, then its rim
  await bar.getByRole('button', { name: 'Clear' }).click();
  await page.waitForURL((url) => !url.search.includes('bbox'));
  await drawn(page);
  await assertSameView(page, before, 'Clear');
  await bar.getByRole('button', { name: 'Circle' }).press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await drawn(page);
  await page.keyboard.press('Enter');
  await page.waitForURL(/coordinates=/);
  await drawn(page);
  const circle = await fieldOf('coordinates');
  assert.match(circle, /^[\d.]+,[\d.]+,\d+$/);
  assert.is(await fieldOf('bbox'), '');

  await bar.getByRole('button', { name: 'Polygon' }).click();
  for (const place of [
    [0.3, 0.2],
    [0.7, 0.3],
    [0.5, 0.8],
  ])
    await drag(page, place, place);
  await bar.getByRole('button', { name: 'Finish' }).click();
  await page.waitForURL(/polygon=/);
  const polygon = await fieldOf('polygon');
  const both = await count(`coordinates=${circle}&polygon=${encodeURIComponent(polygon)}`);
  await page.getByRole('heading', { name: matchesOf(both) }).waitFor();
  // the map moves to a polygon that comes with the address
  await page.goto(`${FEW}&polygon=170,-40;-170,-40;-170,-30;170,-30`);
  await drawn(page);
  const fiji = await viewOf(page);
  assert.ok(Math.abs(fiji.center[0]) > 175 && fiji.zoom > 2, JSON.stringify(fiji));
});

pageTest('a box may be dragged beyond the edge of the map', async (page) => {
  await page.goto(`${FEW}&bbox=20,55,30,65`);
  await drawn(page);
  await page.getByRole('button', { name: 'Box' }).click();
  await drag(page, [0.5, 0.5], [0.55, 1.05]);
  await page.waitForURL(/bbox=(?!20%2C|20,)/);
});

pageTest(
  'two fingers zoom while a box is drawn, and set no corner',
  async (page) => {
    await page.goto(`${FEW}&bbox=20,55,30,65`);
    await drawn(page);
    await page.getByRole('button', { name: 'Box' }).click();
    await page.locator(CANVAS).scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await page.locator(CANVAS).boundingBox())!;
    const session = await page.context().newCDPSession(page);
    const touch = (
      type: 'Start' | 'Move' | 'End',
      ...places: readonly number[]
    ): Promise<unknown> =>
      session.send('Input.dispatchTouchEvent', {
        type: `touch${type}`,
        touchPoints: places.map((at, id) => ({ x: x + at * width, y: y + at * height, id })),
      });
    const tap = async (at: number): Promise<void> => {
      await touch('Start', at);
      await touch('End');
    };
    const { zoom } = await viewOf(page);
    await tap(0.3);
    await touch('Start', 0.4);
    await touch('Start', 0.4, 0.5);
    for (let step = 1; step < 8; step++) await touch('Move', 0.4 - step / 50, 0.5 + step / 50);
    await touch('End');
    await until('it has zoomed', async () => (await viewOf(page)).zoom > zoom + 0.1);
    await drawn(page);
    assert.ok(page.url().includes('bbox=20,55,30,65'), page.url());
    await tap(0.7);
    await page.waitForURL(/bbox=(?!20%2C|20,)/);
  },
  { hasTouch: true },
);

pageTest('Enter on the map opens the point in its middle', async (page) => {
  // the page has one record, in the middle, with one of its keys
  await page.goto(`${LIST}?coordinates=60.17,24.94,20000&page_size=1&fields=id`);
  await drawn(page);
  const [matches] = await summary(page);
  const popup = page.locator('.map-popup article').first();
  await page.locator(CANVAS).focus();
  await page.keyboard.press('Enter');
  await popup.waitFor();
  // the focus is back on the map
  await page.keyboard.press('Escape');
  await popup.waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  const id = await page.locator('tbody td').first().textContent();
  await popup.getByRole('link', { name: `Point ${id}` }).click();
  await page.waitForURL(`**${LIST}${id}/`, { waitUntil: 'commit' });
  assert.ok(matches! > 100);
});

pageTest('Enter goes to points of one place, and opens their list', async (page) => {
  await page.goto(`${LIST}?page_size=1`);
  await drawn(page);
  const view = { center: [-120.25, -45.5], zoom: 16, shapes: '  ' };
  await page.evaluate(`sessionStorage.setItem('waypost-map', '${JSON.stringify(view)}')`);
  await page.reload();
  await drawn(page);
  await page.locator(CANVAS).focus();
  for (const zoom of [18, 20]) {
    await page.keyboard.press('Enter');
    await until(`zoom ${zoom}`, async () => (await viewOf(page)).zoom === zoom);
    await drawn(page);
  }
  const { center } = await viewOf(page);
  assert.ok(Math.abs(center[1] + 45.5) < 1e-6, `${center}`);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: `${HOSTILE.length} points around here` }).waitFor();
  // the link has the focus
  await page.keyboard.press('Enter');
  await page.waitForURL(/coordinates=-45\.5/);
  await page.getByRole('heading', { name: matchesOf(HOSTILE.length) }).waitFor();
});

pageTest('a map says that tiles were refused, and asks for them again', async (page, service) => {
  const tiles = /\/tiles\/\d/;
  const refused: string[] = [];
  await page.route(tiles, (route) => {
    refused.push(route.request().url());
    return route.fulfill({ status: 503 });
  });
  await page.goto(`${FEW}&bbox=20,55,30,65`);
  await page.getByText('Some of the map could not be loaded').waitFor();
  // the library itself would go on with a coarser tile
  const again = page.waitForResponse((one) => one.url() === refused[0] && one.ok());
  await page.unroute(tiles);
  await again;
  const count = await countOf(service, 'bbox=20,55,30,65');
  await until('all are there', async () => (await summary(page))[0] === count);
});

pageTest('a posted point appears on the map without a reload', async (page, service) => {
  const post = async (lat: number, tags: readonly string[]): Promise<void> => {
    assert.is((await service.get(LIST, jsonPost({ lat, lon: 30, tags }))).status, 201);
  };
  await page.goto(`${LIST}?bbox=20,50,40,70&tags=fresh`);
  await drawn(page);
  await page.evaluate('window.isSamePage = true');
  const [before] = await summary(page);
  await post(60, ['fresh']);
  await until('it is there', async () => (await summary(page))[0] === before! + 1);
  await Promise.all([post(61, ['fresh']), post(62, ['stale']), post(80, ['fresh'])]);
  await until('and what fits the filters', async () => (await summary(page))[0] === before! + 2);
  assert.ok(await page.evaluate('window.isSamePage'));
  // a hidden tab has no stream, and catches up when it is shown again
  const streams = async (): Promise<number> => (await metricsOf(service)).value('waypost_streams');
  assert.is(await streams(), 1);
  const see = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
  await see(true);
  await until('the stream is closed', async () => (await streams()) === 0);
  await post(63, ['fresh']);
  await see(false);
  await until('it has caught up', async () => (await summary(page))[0] === before! + 3);
});

test('a long edge of a drawn polygon stays on its way', () => {
  const wide = [
    [-160, 70],
    [130, 70],
    [0, -50],
  ] as const;
  const text = textOf(
    'polygon',
    wide.map(([lon, lat]) => [lon, lat]),
  );
  // by the rule of the API an edge of more than 180 degrees would go the other way round
  assert.is(text, '-160,70;-15,70;130,70;0,-50');
});

test('a view of the whole world is a box of the whole world, wherever its middle is', () => {
  for (const middle of [0, 75.3, -180, 540]) {
    for (const half of [180 - 1e-9, 180, 180 + 1e-9]) {
      const text = textOf('bbox', [
        [middle - half, -80],
        [middle + half, 80],
      ]);
      assert.is(text, '-180,-80,180,80');
    }
  }
});

/** The channels of each pixel of the map. */
async function pixelsOf(page: Page) {
  const image = sharp(await page.locator(CANVAS).screenshot());
  return image.raw().toBuffer({ resolveWithObject: true });
}

pageTest('land around a city is grey, and the world is not repeated', async (page) => {
  await page.setViewportSize({ width: 1300, height: 600 });
  // no rows: the map is as wide as the page
  await page.goto(`${LIST}?bbox=-180,-85,180,85&status=NONE`);
  await drawn(page);
  for (let zoom = 0; zoom < 2; zoom++) {
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await drawn(page);
  }
  const world = await pixelsOf(page);
  const { width, height, channels } = world.info;
  assert.ok(width > WORLD, `${width} pixels`);
  // if the world were repeated, these two columns would be the same
  const column = (x: number): number[] =>
    Array.from({ length: height }, (_, y) => world.data[(y * width + x) * channels]!);
  assert.not.equal(column(4), column(4 + WORLD));
  await page.goto(`${LIST}?coordinates=60.17,24.94,2000&page_size=1`);
  await drawn(page);
  const [red, green, blue] = (await pixelsOf(page)).data;
  assert.ok(blue! <= red! && Math.abs(green! - red!) < 8, `${red} ${green} ${blue}`);
  // a window too small for the library to show the whole world
  await page.setViewportSize({ width: 100, height: 100 });
  await until('it is tiny', async () => (await page.locator(CANVAS).boundingBox())!.width < 100);
  await drawn(page);
});

pageTest('a browser without WebGL is told so, and has the table', async (page) => {
  await withoutMap(page);
  await page.goto(FEW);
  await page.getByText('There is no map: this browser offers no WebGL 2.').waitFor();
  assert.is(await page.locator('tbody tr').count(), 5);
});
