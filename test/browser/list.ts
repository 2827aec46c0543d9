import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { seriousFaults } from '../support/axe.js';
import type { Envelope } from '../support/client.js';
import { browserTest, LIST } from './shared.js';

browserTest('the form filters, and pages lead forward and back', async (visitor, service) => {
  const { count } = (await service.get(`${LIST}?status=OPEN`)).json<Envelope>();
  await visitor.visit([service.site], async (page) => {
    await page.goto(LIST);
    await page.click('text=Add a filter');
    await page.getByLabel('status', { exact: true }).fill('OPEN');
    await page.getByLabel('page_size', { exact: true }).fill('7');
    await page.locator('#filters').getByRole('button', { name: 'Apply' }).click();
    // fields without a value are left out
    await page.waitForURL(`**${LIST}?status=OPEN&page_size=7`);
    const heading = page.getByRole('heading', { name: `${count} matches, page 1` });
    await heading.waitFor();
    const first = await page.locator('tbody a').first().textContent();
    await page.getByRole('link', { name: 'Next' }).first().click();
    await page.getByRole('heading', { name: 'page 2 of' }).waitFor();
    assert.is.not(await page.locator('tbody a').first().textContent(), first);
    await page.getByRole('link', { name: 'Previous' }).first().click();
    await heading.waitFor();
    assert.is(await page.locator('tbody a').first().textContent(), first);
  });
});

browserTest('the first screen has filters, count, map and rows', async (visitor, { site }) => {
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const) {
    const look = async (page: Page): Promise<void> => {
      await page.goto(`${LIST}?status=NEW`);
      await page.waitForSelector('#map[data-state=idle]');
      const boxOf = async (selector: string) =>
        (await page.locator(selector).first().boundingBox())!;
      const [chip, count, map, row] = [
        await boxOf('.chips li'),
        await boxOf('#results'),
        await boxOf('#map canvas'),
        await boxOf('tbody tr'),
      ];
      assert.ok(chip.y < count.y && count.y < map.y && map.y + 0.8 * map.height < height);
      assert.ok(row.y < height, `${row.y} of ${height}`);
      // beside it where there is room, else below
      assert.is(row.y < map.y + map.height, width === 1280);
      assert.is(row.x >= map.x + map.width, width === 1280);
      await page.getByRole('link', { name: 'Remove status NEW' }).click();
      await page.waitForURL(`**${LIST}`);
    };
    await visitor.visit([site], look, { viewport: { width, height } });
  }
});

browserTest('an image that is not there is its name', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    await page.goto(`${LIST}?has_image=true&page_size=5&created_at_before=2024-01-01T00:00Z`);
    const name = page.locator('td a[href^="/media/"]').first();
    await name.scrollIntoViewIfNeeded();
    await name.getByText(/\.jpg$/).waitFor();
  });
});

browserTest('what is wrong with a value stands beside its field', async (visitor, { site }) => {
  await visitor.visit([site], async (page) => {
    await page.goto(LIST);
    await page.click('text=Add a filter');
    await page.locator('#f-bbox').fill('25,60,24');
    await page.locator('#f-bbox').press('Enter');
    const field = page.locator('#f-bbox');
    await page.locator('#f-bbox[aria-invalid=true]').waitFor();
    assert.is(await field.inputValue(), '25,60,24');
    const beside = page.locator('.field:has(#f-bbox) .error');
    const [box, error] = [(await field.boundingBox())!, (await beside.boundingBox())!];
    assert.ok(Math.abs(error.y - box.y) < 120, `${error.y} beside ${box.y}`);
    assert.equal(await seriousFaults(page), []);
    await field.fill('24,59,26,61');
    await field.press('Enter');
    await page.getByRole('heading', { name: 'matches' }).waitFor();
  });
});

browserTest('pages are good in the dark and on a phone', async (visitor, { site }) => {
  const options = { colorScheme: 'dark', viewport: { width: 375, height: 667 } } as const;
  const look = async (page: Page): Promise<void> => {
    for (const path of ['/rest/', '/rest/notifications/', `${LIST}1/`, `${LIST}?page_size=20`]) {
      await page.goto(path);
      // nothing is wider than the screen, but what scrolls by itself
      assert.is(await page.evaluate('document.documentElement.scrollWidth'), 375, path);
    }
    const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    const [red] = String(back).match(/\d+/g)!.map(Number);
    assert.ok(red! < 60, String(back));
    assert.equal(await seriousFaults(page), []);
  };
  await visitor.visit([site], look, options);
});
