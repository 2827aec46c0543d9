import type { BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { browserTest, fillForm } from '../browser/shared.js';
import { seriousFaults } from '../support/browser.js';
import { countOf, LIST } from '../support/client.js';
import { codeIn } from '../support/documents.js';
import { withoutGdal } from '../support/gdal.js';
import { startService } from '../support/service.js';
import { startFileSite } from '../support/sockets.js';
import { assert, makeFolder, test, testUnless } from '../support/uvu.js';
import { run } from '../support/wait.js';

/** Every kind of page, and how to open it. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'the resources': (page) => page.goto('/rest/'),
  'the list': (page) => page.goto(`${LIST}?page_size=20`),
  'a point': (page) => page.goto(`${LIST}1/`),
  notifications: (page) => page.goto('/rest/notifications/'),
  'a value that is wrong': (page) => page.goto(`${LIST}?bbox=25,60,24&ordering=up`),
  'nothing there': (page) => page.goto('/rest/nowhere/'),
  'a point that is not there': (page) => page.goto(`${LIST}999999999/`),
  'a form that is wrong': async (page) => {
    const form = await fillForm(page, 'north', 'nowhere');
    await form.getByRole('button', { name: 'POST' }).first().click();
    await form.locator('.field:has(#p-lon) .error').waitFor();
  },
  'the list with all that opens open': async (page) => {
    await page.goto(`${LIST}?page_size=20`);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = true))`);
    await page.waitForSelector('#map[data-state=idle]');
  },
};

const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  'in the light': { colorScheme: 'light' },
  'in the dark, on a phone': { colorScheme: 'dark', viewport: { width: 375, height: 667 } },
};

for (const [screen, options] of Object.entries(SCREENS)) {
  browserTest(`no page keeps people out, ${screen}`, async (visitor, { site }) => {
    await visitor.visit(
      [site],
      async (page) => {
        for (const [name, open] of Object.entries(PAGES)) {
          await open(page);
          assert.equal(await seriousFaults(page), [], name);
        }
      },
      options,
    );
  });
}

/** Rules that Swagger UI 5 breaks: pale texts, nested buttons, a select without a label. */
const OF_THE_VIEWER = ['color-contrast', 'nested-interactive', 'select-name'];

browserTest('the viewer is as accessible as its package', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    await page.goto('/docs/');
    await page.locator('.opblock').first().waitFor();
    const faults = await seriousFaults(page);
    const others = faults.filter(([rule]) => !OF_THE_VIEWER.includes(rule));
    assert.equal(others, []);
  });
});

/** CPU seconds that a page of `points` takes; wall time would include other processes. */
async function secondsToShow(page: Page, points: number): Promise<number> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('Performance.setTimeDomain', { timeDomain: 'threadTicks' });
  await tools.send('Performance.enable');
  await page.goto(`${LIST}?page_size=${points}`);
  assert.is(await page.locator('tbody tr').count(), points);
  await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  const { metrics } = await tools.send('Performance.getMetrics');
  await tools.detach();
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

browserTest('a page of 1,000 points is no burden', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    const [few, many] = [await secondsToShow(page, 100), await secondsToShow(page, 1000)];
    // usually 1 to 2.5 s, in tasks below 0.1 s; a ratio, because a slow machine slows both
    assert.ok(few > 0 && many < 15 * few, `${few} and ${many} s`);
  });
});

const GREEN = await sharp({
  create: { width: 256, height: 256, channels: 3, background: '#00ff00' },
})
  .png()
  .toBuffer();

/** Opens the map of a list without matches; returns the share of its pixels that is green. */
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
  const service = await startService(['--tile-url', `${tiles}/{z}/{x}/{y}.png`]);
  const site = `http://127.0.0.1:${service.port}`;
  // without the setting, no request goes to another host
  await visitor.visit([shared.site], async (page) => {
    assert.is(await greenShare(page), 0);
  });
  assert.equal(asked, []);

  await visitor.visit([site, tiles], async (page) => {
    const share = await greenShare(page);
    assert.ok(share > 0.8, `${share} of the map`);
  });
  assert.ok(asked.length > 0);

  let complaints = '';
  await visitor
    .visit([site, tiles, other], async (page) => {
      await page.goto(LIST);
      await page.evaluate(`Promise.allSettled([
        fetch('${other}/0/0/0.png'),
        Object.assign(new Image(), { src: '${other}/0/0/0.png' }).decode(),
      ])`);
    })
    .catch((error: { actual: unknown }) => {
      complaints = JSON.stringify(error.actual);
    });
  for (const directive of ['img-src', 'connect-src']) assert.match(complaints, directive);
  assert.equal(strangers, []);
});

const AREA = 'bbox=24.9,60.1,25,60.2';
const SINCE = '2023-05-01T00:00:00Z';

/** Feature counts by layer, from ogrinfo's output. */
function countsIn(description: string): number[] {
  return [...description.matchAll(/^Feature Count: (\d+)$/gm)].map(([, count]) => Number(count));
}

testUnless(withoutGdal(), 'the lines for GDAL read what they say', async () => {
  const folder = makeFolder();
  const service = await startService();
  const [script] = codeIn('docs/maps.md', 'GDAL', 'sh', `http://127.0.0.1:${service.port}`);
  const { stdout } = await run('sh', ['-ec', script!], { cwd: folder, maxBuffer: 2 ** 26 });
  const counts = [await countOf(service), await countOf(service, 'tags=Lighting')];
  assert.equal(countsIn(stdout), counts);
  for (const [file, query] of [
    ['notes.gpkg', AREA],
    ['new.gpkg', `created_at_after=${SINCE}`],
    ['lighting.gpkg', `tags=Lighting&modified_at_after=${SINCE}`],
  ]) {
    const described = await run('ogrinfo', ['-so', '-al', file!], { cwd: folder });
    const count = await countOf(service, query);
    assert.equal(countsIn(described.stdout), [count], file);
    assert.ok(count > 10, `${count} of ${query}`);
  }
  const clusters = await run('ogrinfo', ['-al', 'clusters.geojson'], { cwd: folder });
  assert.ok(countsIn(clusters.stdout)[0]! > 10);
  assert.match(clusters.stdout, /^ {2}point_count \(Integer\) = \d+$/m);
});

test.run();
