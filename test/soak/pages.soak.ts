import type { BrowserContextOptions, Page } from 'playwright-core';
import { browserTest } from '../browser/shared.js';
import { seriousFaults } from '../support/browser.js';
import { LIST } from '../support/client.js';
import { assert, test } from '../support/uvu.js';

/** Every kind of page, and what brings it about. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'the resources': (page) => page.goto('/rest/'),
  'the list': (page) => page.goto(`${LIST}?page_size=20`),
  'a point': (page) => page.goto(`${LIST}1/`),
  notifications: (page) => page.goto('/rest/notifications/'),
  'a value that is wrong': (page) => page.goto(`${LIST}?bbox=25,60,24&ordering=up`),
  'nothing there': (page) => page.goto('/rest/nowhere/'),
  'a point that is not there': (page) => page.goto(`${LIST}999999999/`),
  'a form that is wrong': async (page) => {
    await page.goto(LIST);
    const form = page.locator('#add');
    await form.locator('summary').first().click();
    await form.getByLabel('lat').fill('north');
    await form.getByLabel('lon').fill('nowhere');
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

/**
 * Rules that elements of Swagger UI 5 break: pale texts, buttons in buttons, the choice of a server
 * without a label.
 */
const OF_THE_VIEWER = ['color-contrast', 'nested-interactive', 'select-name'];

browserTest('the viewer has no faults but those of its package', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    await page.goto('/docs/');
    await page.locator('.opblock').first().waitFor();
    const faults = await seriousFaults(page);
    assert.equal(
      faults.filter(([rule]) => !OF_THE_VIEWER.includes(rule)),
      [],
    );
  });
});

/** Seconds of the processor that a page of so many points takes; the clock goes on while others work. */
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
    // 1 to 2.5, in tasks of a tenth at most; a slower machine is slower for both
    assert.ok(few > 0 && many < 15 * few, `${few} and ${many} s`);
  });
});

test.run();
