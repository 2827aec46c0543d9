import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { test } from 'uvu';
import { NO_BROWSER, openBrowser, type Visitor } from '../support/browser.js';
import { LIST } from '../support/client.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS } from '../support/service.js';
import { makeFolder, testUnless } from '../support/uvu.js';

/** Texts that would run a script or reverse the page's writing where they became markup. */
export const HOSTILE: readonly string[] = [
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>'],
  ...['</textarea></pre></title><script>alert(3)</script>', 'javascript:alert(4)'],
  ...["' autofocus onfocus='alert(5)", '<svg/onload=alert(6)>&lt;b&gt;&#x202e;'],
  '\u202egnorw\u2067 \u2066<a href=javascript:alert(7)>x</a>',
];
/** Place of all hostile records, far from other points. */
const [LAT, LON] = ['-45.5', '-120.25'];
export const AROUND: string = `coordinates=${LAT},${LON},1000`;

/** A record for each text, which stands in every field that may hold a text. */
const HOSTILE_RECORDS: readonly object[] = HOSTILE.map((text, index) => ({
  ...{ id: 900_001 + index, lat: LAT, lon: LON, created_at: '2023-05-01T12:00:00Z' },
  ...{ status: text, comment: text, image: text, tags: [text] },
}));

/** A short list: 100 rows cost as much as the rest of a page without its map. */
export const FEW: string = `${LIST}?page_size=5`;

/** The service that all browser tests share; it accepts points. */
export interface Site extends OwnService {
  /** Scheme, host and port. */
  readonly site: string;
}

/** Adds a test that is skipped where there is no browser. All share a browser and a service. */
export function browserTest(
  name: string,
  run: (visitor: Visitor, service: Site) => Promise<void>,
): void {
  testUnless(NO_BROWSER, name, () => run(visitor, site));
}

/** As {@link browserTest}, with one page of these options. */
export function pageTest(
  name: string,
  look: (page: Page, service: Site) => Promise<void>,
  options?: BrowserContextOptions,
): void {
  browserTest(name, (visitor, service) =>
    visitor.visit([service.site], (page) => look(page, service), options),
  );
}

/** Removes the map, which is half of a page's cost, from tests of other things. */
export function withoutMap(page: Page, which = 'true'): Promise<unknown> {
  return page.addInitScript(`if (${which}) HTMLCanvasElement.prototype.getContext = () => null`);
}

/** Resolves once the map of a page is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForSelector('#map[data-state=idle]');
}

/** Opens a list, and fills in the form for a point. */
export async function fillForm(page: Page, lat: string, lon: string): Promise<Locator> {
  await page.goto(FEW);
  const form = page.locator('#add');
  await form.locator('summary').first().click();
  await form.getByLabel('lat').fill(lat);
  await form.getByLabel('lon').fill(lon);
  return form;
}

const home = makeFolder();
let visitor: Visitor;
let site: Site;

test.before(async () => {
  if (NO_BROWSER !== undefined) return;
  const media = join(home, 'media');
  const snapshot = join(home, 'points.ndjson');
  mkdirSync(media);
  const hostile = HOSTILE_RECORDS.map((record) => `${JSON.stringify(record)}\n`);
  writeFileSync(snapshot, readFileSync(FIXTURE_POINTS, 'utf8') + hostile.join(''));
  const flags = ['--snapshot', snapshot, '--media', media];
  const [service, browser] = await Promise.all([startOwnService(flags), openBrowser()]);
  site = { ...service, site: `http://127.0.0.1:${service.port}` };
  visitor = browser;
});

test.after(async () => {
  await visitor?.close();
  await site?.stop();
});
