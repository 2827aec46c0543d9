import type { Page, Response } from 'playwright-core';
import { LIST } from '../support/client.js';
import { assert, failure, test } from '../support/uvu.js';
import { browserTest, FEW, pageTest } from './shared.js';
// these files share a browser, which takes a second to start
import './example.js';
import './hostile.js';
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

test.run();
