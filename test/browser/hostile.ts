import * as assert from 'uvu/assert';
import { LIST } from '../support/client.js';
import { pluck } from '../support/uvu.js';
import { AROUND, drawn, HOSTILE, pageTest, withoutMap } from './shared.js';

pageTest('hostile records show as text, in pages and on the map', async (page, { site }) => {
  await page.goto(`${LIST}?${AROUND}`);
  const rows = await page.locator('tbody tr').all();
  for (const [i, row] of rows.entries()) {
    const cells = (await row.locator('td').allTextContents()).map((text) => text.trim());
    assert.equal(cells.slice(1, 5), Array(4).fill(HOSTILE[i]));
  }
  assert.is(rows.length, HOSTILE.length);
  await page.locator('#exchange > summary').click();
  const json = (await page.locator('pre.json').textContent())!;
  const { results } = JSON.parse(json.slice(json.indexOf('{')));
  assert.equal(pluck<{ comment: string }, 'comment'>(results, 'comment'), HOSTILE);
  // no hostile text became a link
  const links = await page.evaluate<string[]>('Array.from(document.links, ({ href }) => href)');
  for (const link of links) assert.ok(link.startsWith(`${site}/`), link);

  await drawn(page);
  await page.locator('#map canvas').press('Enter');
  const comments = page.locator('.map-popup article > [dir=auto]');
  await comments.first().waitFor();
  const shown = await comments.allTextContents();
  assert.equal(shown.toSorted(), HOSTILE.toSorted());

  // with one of them in the page, the others are a cluster at the same place
  await page.goto(`${LIST}?${AROUND}&page_size=1`);
  await drawn(page);
  await page.locator('#map canvas').press('Enter');
  await page.getByRole('button', { name: `Go closer to ${HOSTILE.length} points` }).waitFor();

  await page.goto(`${LIST}900001/`, { waitUntil: 'domcontentloaded' });
  await page.locator('pre.json').getByText(HOSTILE[0]!).first().waitFor({ state: 'attached' });
});

pageTest('hostile parameters show as text', async (page) => {
  await withoutMap(page);
  for (const text of HOSTILE) {
    const value = encodeURIComponent(text);
    const names = ['bbox', 'ordering', 'tags', 'polygon', 'created_at_after', value];
    await page.goto(`${LIST}?${names.map((name) => `${name}=${value}`).join('&')}`);
    assert.is(await page.locator('#f-bbox').inputValue(), text);
    assert.is(await page.locator('#f-tags').inputValue(), text);
    await page.locator('.field:has(#f-bbox) .error').waitFor();
  }
  const wild = encodeURIComponent(HOSTILE[1]!);
  for (const path of [`/rest/${wild}`, `${LIST}${wild}/?format=api`, `/rest/?format=${wild}`]) {
    const answer = await page.goto(path);
    assert.ok(answer!.status() >= 400, path);
    await page.locator('h1').waitFor();
  }
});
