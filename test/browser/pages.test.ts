import type { Page, Response } from 'playwright-core';
import { LIST } from '../support/client.js';
import { assert, test } from '../support/uvu.js';
import { browserTest, FEW, pageTest } from './shared.js';
// a browser takes a second to start: the tests of these files share one
import './example.js';
import './hostile.js';
import './list.js';
import './map.js';

pageTest(
  'the viewer shows the interface, asks it, is dark where the system is, and fits a phone',
  async (page, { site }) => {
    // each load takes two seconds of the processor
    await page.goto('/docs/#/rest/getPoint');
    const answerTo = async (operation: string): Promise<Response> => {
      const block = page.locator(`#operations-rest-${operation}`);
      await block.getByRole('button', { name: 'Try it out' }).click();
      const answered = page.waitForResponse((one) => one.url().startsWith(site + LIST));
      await block.getByRole('button', { name: 'Execute' }).click();
      return answered;
    };
    // the one of the address is open
    assert.is((await answerTo('getPoint')).url(), `${site}${LIST}1/`);
    await page.locator('#operations-rest-getPoint .opblock-summary').click();
    assert.is(await page.evaluate('document.documentElement.scrollWidth'), 375);
    assert.ok((await brightness(page, 'body', 'backgroundColor')) < 60);
    assert.ok((await brightness(page, '.opblock-summary-path', 'color')) > 180);
    await page.locator('#operations-rest-getPoints .opblock-summary').click();
    // a hundred records would take the viewer seconds to show
    await page.route(`**${LIST}?*`, (route) =>
      route.continue({ url: route.request().url().replace('page_size=100', 'page_size=1') }),
    );
    const answer = await answerTo('getPoints');
    assert.is(answer.status(), 200);
    // what has a default is filled in, and examples are not
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

/** The red of a colour, 0 to 255. */
async function brightness(page: Page, selector: string, property: string): Promise<number> {
  const colour = `getComputedStyle(document.querySelector('${selector}')).${property}`;
  return Number(/\d+/.exec(await page.evaluate<string>(colour))![0]);
}

browserTest('a page that does what it must not is noticed', async (visitor, { site }) => {
  let complaints: unknown;
  await visitor
    .visit([site], async (page) => {
      await page.goto(FEW);
      await page.evaluate(`
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>');
        setTimeout(() => { throw new Error('failed'); });
        console.error('no');
        alert('hello');
        new Promise((done) => setTimeout(done));
      `);
      await page.goto('http://localhost:1/').catch(() => {});
    })
    .catch((error: { actual: unknown }) => {
      complaints = error.actual;
    });
  for (const one of [
    /Security Policy/,
    /: failed/,
    /: no/,
    /: hello/,
    /site: http:..localhost:1/,
  ]) {
    assert.match(JSON.stringify(complaints), one);
  }
});

test.run();
