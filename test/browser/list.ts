import * as assert from 'uvu/assert';
import { seriousFaults } from '../support/browser.js';
import { countOf, LIST } from '../support/client.js';
import { JPEG } from '../support/images.js';
import { gate } from '../support/wait.js';
import { drawn, FEW, fillForm, pageTest, withoutMap } from './shared.js';

pageTest('the form filters, and pages link to their neighbours', async (page, service) => {
  const count = await countOf(service, 'status=OPEN');
  await withoutMap(page);
  // parameters that the form does not know stay
  await page.goto(`${FEW}&foo=&foo=1`);
  await page.click('text=Add a filter');
  await page.getByLabel('Status', { exact: true }).fill('OPEN');
  await page.getByLabel('Rows a page', { exact: true }).fill('7');
  await page.locator('#filters').getByRole('button', { name: 'Apply' }).click();
  // empty fields are left out
  await page.waitForURL(`**${LIST}?foo=&foo=1&status=OPEN&page_size=7`);
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

pageTest('the first screen has filters, count, map and rows', async (page) => {
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(`${FEW}&status=NEW`);
    await drawn(page);
    const boxOf = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
    const [chip, count] = [await boxOf('.chips li'), await boxOf('#results')];
    const [map, row] = [await boxOf('#map canvas'), await boxOf('tbody tr')];
    assert.ok(chip.y < count.y && count.y < map.y && map.y + 0.8 * map.height < height);
    assert.ok(row.y < height, `${row.y} of ${height}`);
    // the rows are beside the map where there is room, else below
    assert.is(row.y < map.y + map.height, width === 1280);
    assert.is(row.x >= map.x + map.width, width === 1280);
    const remove = page.getByRole('link', { name: 'Remove Status NEW' });
    // a page costs a second
    if (width === 1280) await remove.click({ trial: true });
    else await remove.click();
  }
  await page.waitForURL(`**${FEW}`, { waitUntil: 'commit' });
});

pageTest('days and times are picked, tags suggested after commas', async (page) => {
  await withoutMap(page);
  await page.goto(FEW);
  await page.click('text=Add a filter');
  await page.getByLabel('Created since', { exact: true }).fill('2023-01-15');
  await page.getByLabel('Created until', { exact: true }).fill('2023-06-30');
  await page.getByLabel('Changed since, time').fill('08:30');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('#f-modified_at_after:invalid').waitFor();
  assert.ok(page.url().endsWith(FEW), page.url());
  await page.getByLabel('Changed since', { exact: true }).fill('2023-06-01');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('heading', { name: 'matches' }).waitFor();
  const { searchParams } = new URL(page.url());
  assert.equal(Object.fromEntries(searchParams), {
    created_at_after: '2023-01-15T00:00:00+02:00',
    created_at_before: '2023-06-30T23:59:59.999999+03:00',
    modified_at_after: '2023-06-01T08:30+03:00',
    page_size: '5',
  });
  // the page shows times in the browser's zone and keeps them
  await page.click('text=Add a filter');
  assert.is(await page.getByLabel('Created until, time').inputValue(), '23:59');
  const field = page.getByLabel('Any of the tags', { exact: true });
  const offered = (): Promise<string[]> =>
    field.evaluate((one: HTMLInputElement) => [...one.list!.options].map(({ value }) => value));
  const all = await offered();
  await field.pressSequentially('Muu,');
  const behind = all.map((one) => `Muu,${one}`);
  assert.equal(await offered(), behind);
  await field.fill('a\\,');
  assert.equal(await offered(), all, 'this comma is of a tag');
  await field.fill('');
  const before = page.url();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('heading', { name: 'matches' }).waitFor();
  assert.is(page.url(), before);
  // a new day keeps the seconds, which no picker shows
  await page.click('text=Add a filter');
  await page.getByLabel('Created until', { exact: true }).fill('2023-07-01');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/created_at_before=2023-07-01T23%3A59%3A59\.999999%2B03%3A00/);
  // without its day it filters no more
  await page.click('text=Add a filter');
  await page.getByLabel('Created until', { exact: true }).fill('');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL((url) => !url.search.includes('created_at_before'));
  // a page that is gone back to shows what it filters by, not what was chosen on it
  await page.goto(FEW);
  await page.click('text=Add a filter');
  await page.locator('#f-has_image').selectOption('true');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/has_image=true/);
  await page.goBack();
  await page.getByRole('heading', { name: 'matches' }).waitFor();
  assert.is(await page.locator('#f-has_image').inputValue(), '');
  // what lacks a time stays as it was written, beside what is wrong with it
  for (const wrong of ['2023-05-01', '2023-02-30T10:00:00Z']) {
    await page.goto(`${LIST}?created_at_after=${wrong}`);
    const after = page.locator('#f-created_at_after[aria-invalid=true]');
    assert.is(await after.inputValue(), wrong);
    assert.is.not(await after.getAttribute('type'), 'date');
  }
});

pageTest('a missing image is replaced by its name', async (page) => {
  await withoutMap(page);
  await page.goto(`${LIST}?has_image=true&page_size=5&created_at_before=2024-01-01T00:00Z`);
  const name = page.locator('td a[href^="/media/"]').first();
  await name.scrollIntoViewIfNeeded();
  await name.getByText(/\.jpg$/).waitFor();
});

pageTest('an error stands beside its field', async (page) => {
  await withoutMap(page);
  const long = Array.from({ length: 100 }, (_, i) => `${i / 10},${i % 7}`).join(';');
  await page.goto(`${LIST}?polygon=${long}`);
  const { height } = (await page.locator('.chips li').boundingBox())!;
  assert.ok(height < 130, `what filters stands in ${height} pixels`);
  await page.goto(FEW);
  await page.click('text=Add a filter');
  const field = page.locator('#f-bbox');
  await field.fill('25,60,24');
  await field.press('Enter');
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

pageTest('a point with an image, posted by the form, is on page and map', async (page) => {
  await withoutMap(page, `!location.search.includes('bbox')`);
  const form = await fillForm(page, '-54.8', 'nowhere');
  await form.getByLabel('comment').fill('<b>lighthouse</b>');
  await form.getByLabel('tags').fill('Sea, Nature');
  const post = form.getByRole('button', { name: 'POST' }).first();
  await post.click();
  await form.locator('.field:has(#p-lon) .error').waitFor();
  assert.is(await form.getByLabel('comment').inputValue(), '<b>lighthouse</b>');
  await form.getByLabel('lon').fill('-68.3');
  await form.getByLabel('image').setInputFiles({
    name: 'photo.jpg',
    mimeType: 'image/jpeg',
    buffer: JPEG,
  });
  await post.click();
  await page.getByText('The point is stored.').waitFor();

  await page.goto(`${LIST}?bbox=-69,-55,-68,-54&tags=Sea`);
  const row = page.locator('tbody tr').first();
  await row.getByText('<b>lighthouse</b>').waitFor();
  const width = await row.locator('img').evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    return image.naturalWidth;
  });
  assert.is(width, 64);
  await drawn(page);
  await page.locator('#map canvas').focus();
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await drawn(page);
  const map = await page.getAttribute('#map canvas', 'aria-label');
  assert.match(String(map), 'Map of 1 matches');
  assert.equal(await seriousFaults(page), []);
});

pageTest(
  'a form clicked twice posts once',
  async (page, service) => {
    let posts = 0;
    const stored = gate();
    await page.route(`**${LIST}`, async (route) => {
      if (route.request().method() !== 'POST' || ++posts > 1) return route.continue();
      // the point is stored, but its answer never comes
      await route.fetch();
      stored.open();
    });
    const form = await fillForm(page, '-75.1', '123.3');
    const button = form.getByRole('button', { name: 'POST' }).first();
    await button.scrollIntoViewIfNeeded();
    const { x, y } = (await button.boundingBox())!;
    const click = (): Promise<void> => page.mouse.click(x + 5, y + 5);
    await click();
    await stored.opened;
    await click();
    await page.getByText('The point is stored.').waitFor();
    assert.is(posts, 2);
    assert.is(await countOf(service, 'bbox=123,-76,124,-75'), 1);
  },
  { javaScriptEnabled: false },
);

pageTest(
  'pages are legible in dark mode and on a phone',
  async (page) => {
    for (const path of ['/rest/', '/rest/notifications/', `${LIST}1/`, `${LIST}?page_size=20`]) {
      await page.goto(path);
      // the page does not scroll sideways
      assert.is(await page.evaluate('document.documentElement.scrollWidth'), 375, path);
    }
    const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    const [red] = String(back).match(/\d+/g)!.map(Number);
    assert.ok(red! < 60, String(back));
    assert.equal(await seriousFaults(page), []);
  },
  { colorScheme: 'dark', viewport: { width: 375, height: 667 } },
);
