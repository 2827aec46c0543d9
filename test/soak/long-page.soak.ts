import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { browserTest, LIST } from '../browser/shared.js';

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
