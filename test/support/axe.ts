import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A rule that a page breaks, and the elements that do. */
export type Fault = readonly [rule: string, ...elements: string[]];

/** What axe finds in a page that keeps people from using it. */
export async function seriousFaults(page: Page): Promise<Fault[]> {
  // the page lets no other script in: this one runs as those of a browser's own tools do
  await page.evaluate(AXE);
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)]))`);
}
