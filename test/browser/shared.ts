import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { test } from 'uvu';
import { NO_BROWSER, openBrowser, type Visitor } from '../support/browser.js';
import { LIST } from '../support/client.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS } from '../support/service.js';
import { makeFolder, testUnless } from '../support/uvu.js';

/** What runs, or turns the page round, where a text becomes markup. */
export const HOSTILE: readonly string[] = [
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>'],
  ...['</textarea></pre></title><script>alert(3)</script>', 'javascript:alert(4)'],
  ...["' autofocus onfocus='alert(5)", '<svg/onload=alert(6)>&lt;b&gt;&#x202e;'],
  '\u202egnorw\u2067 \u2066<a href=javascript:alert(7)>x</a>',
];
/** Where the hostile records are: alone, and all on one spot. */
const [LAT, LON] = ['-45.5', '-120.25'];
export const AROUND: string = `coordinates=${LAT},${LON},1000`;

/** A record of a snapshot for each text, which has it wherever a record has text. */
const HOSTILE_RECORDS: readonly object[] = HOSTILE.map((text, index) => ({
  id: 900_001 + index,
  status: text,
  comment: text,
  image: text,
  tags: [text],
  lat: LAT,
  lon: LON,
  created_at: '2023-05-01T12:00:00Z',
}));

/** A list of few rows: the usual hundred cost as much as all else of a page without its map. */
export const FEW: string = `${LIST}?page_size=5`;

/** The service whose pages all tests of a file open, and which accepts points. */
export interface Site extends OwnService {
  /** Its scheme, host and port. */
  readonly site: string;
}

/** A test that needs a browser; skipped where there is none. All share a browser and a service. */
export function browserTest(
  name: string,
  run: (visitor: Visitor, service: Site) => Promise<void>,
): void {
  testUnless(NO_BROWSER, name, () => run(visitor, site));
}

/** The same for a test of one page, in a browser with these options. */
export function pageTest(
  name: string,
  look: (page: Page, service: Site) => Promise<void>,
  options?: BrowserContextOptions,
): void {
  browserTest(name, (visitor, service) =>
    visitor.visit([service.site], (page) => look(page, service), options),
  );
}

/** Takes the map from pages that are looked at for something else: half of what they cost. */
export function withoutMap(page: Page, which = 'true'): Promise<unknown> {
  return page.addInitScript(`if (${which}) HTMLCanvasElement.prototype.getContext = () => null`);
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
