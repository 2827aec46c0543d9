import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { browserTest } from '../browser/shared.js';
import { LIST } from '../support/client.js';
import { SNAPSHOT, startService } from '../support/service.js';
import { startFileSite } from '../support/site.js';
import { assert, test } from '../support/uvu.js';

const GREEN = await sharp({
  create: { width: 256, height: 256, channels: 3, background: '#00ff00' },
})
  .png()
  .toBuffer();

/** Opens the map of a list that matches nothing, and tells which share of it is green. */
async function greenShare(page: Page): Promise<number> {
  await page.goto(`${LIST}?bbox=24,60,25,61&status=NONE`);
  await page.waitForSelector('#map[data-state=idle]');
  assert.is(await page.getAttribute('#map', 'data-problem'), null);
  const { data } = await sharp(await page.locator('#map canvas').screenshot())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  let green = 0;
  for (let i = 0; i < data.length; i += 3) {
    if (data[i]! < 20 && data[i + 1]! > 235 && data[i + 2]! < 20) green += 1;
  }
  return green / (data.length / 3);
}

browserTest('the map shows tiles of the host that --tile-url names', async (visitor, shared) => {
  const asked: string[] = [];
  const tiles = await startFileSite((path) => {
    asked.push(path);
    return /^\/\d+\/\d+\/\d+\.png$/.test(path) ? { type: 'image/png', body: GREEN } : undefined;
  });
  const strangers: string[] = [];
  const other = await startFileSite((path) => {
    strangers.push(path);
    return { type: 'image/png', body: GREEN };
  });
  const service = await startService([
    ...['--snapshot', SNAPSHOT, '--tile-url', `${tiles.site}/{z}/{x}/{y}.png`],
  ]);
  const site = `http://127.0.0.1:${service.port}`;
  try {
    // without the setting, no request leaves for another host
    await visitor.visit([shared.site], async (page) => {
      assert.is(await greenShare(page), 0);
    });
    assert.equal(asked, []);

    await visitor.visit([site, tiles.site], async (page) => {
      const share = await greenShare(page);
      assert.ok(share > 0.8, `${share} of the map`);
    });
    assert.ok(asked.length > 0);

    let complaints = '';
    await visitor
      .visit([site, tiles.site, other.site], async (page) => {
        await page.goto(LIST);
        await page.evaluate(`Promise.allSettled([
          fetch('${other.site}/0/0/0.png'),
          Object.assign(new Image(), { src: '${other.site}/0/0/0.png' }).decode(),
        ])`);
      })
      .catch((error: { actual: unknown }) => {
        complaints = JSON.stringify(error.actual);
      });
    for (const directive of ['img-src', 'connect-src']) assert.match(complaints, directive);
    assert.equal(strangers, []);
  } finally {
    await Promise.all([service.stop(), tiles.stop(), other.stop()]);
  }
});

test.run();
