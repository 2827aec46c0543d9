import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
} from 'playwright-core';
import * as assert from 'uvu/assert';
import { inTime } from '../../src/model/turns.js';

const PLACES = [
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  ...['/snap/bin/chromium', '/Applications/Chromium.app/Contents/MacOS/Chromium'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const CHROMIUM = [process.env['CHROMIUM'] ?? [], PLACES].flat().find((path) => existsSync(path));

/** Why browser tests are skipped here; undefined where they can run. */
export const NO_BROWSER: string | undefined =
  CHROMIUM === undefined
    ? 'no Chromium was found: install the package chromium, or set CHROMIUM to its path'
    : undefined;

/** WebGL is drawn by the processor, for want of a graphics card; the rest saves a third of CPU. */
const FLAGS = [
  ...['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  ...['--disable-gpu-compositing', '--process-per-site', '--renderer-process-limit=1'],
  // the pages of the browser's own window would cost half of the CPU; this flag replaces
  // Playwright's, so its features are listed too
  `--disable-features=${[
    ...['PreloadTopChromeWebUI', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'PaintHolding'],
    ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
    ...['HttpsFirstBalancedModeAutoEnable', 'AvoidCorsURLLoaderRestartOnRedirect', 'AimEnabled'],
    ...['ThirdPartyStoragePartitioning', 'OptimizationHints', 'NetworkTimeServiceQuerying'],
    ...['PreconnectToSearch', 'MediaRouter', 'LensOverlay'],
  ]}`,
];

/** Timeout of each step; long, because a busy processor may have to draw a map. */
const PATIENCE_MS = 90_000;

/** Timeout of a visit: scripts in a page have none, nor has a page that opens or closes. */
const HANG_MS = 240_000;

/** A browser that reports mistakes of the sites it visits. */
export interface Visitor {
  /**
   * Opens pages of the first site and lets `look` use them. Throws on a warning in the console, a
   * failed script, a breach of the Content-Security-Policy, or a request to a site not in `sites`.
   */
  visit(
    sites: readonly string[],
    look: (page: Page) => Promise<void>,
    options?: BrowserContextOptions,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Pages with the same options, which share a cache of loaded and compiled files. */
interface Room {
  readonly context: BrowserContext;
  sites: readonly string[];
  complaints: string[];
}

export async function openBrowser(): Promise<Visitor> {
  // imported late: it takes a third of a second, wasted where there is no browser
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: [...FLAGS] });
  const rooms = new Map<string, Promise<Room>>();
  return {
    async visit(sites, look, options = {}) {
      let page: Page | undefined;
      const hangs = (): Error => new Error(`the browser hangs at ${page?.url() ?? 'a new page'}`);
      await inTime(HANG_MS, visitPage(), hangs);

      async function visitPage(): Promise<void> {
        const key = JSON.stringify([sites[0], options]);
        if (!rooms.has(key)) rooms.set(key, openRoom(browser, { baseURL: sites[0]!, ...options }));
        const room = await rooms.get(key)!;
        Object.assign(room, { sites, complaints: [] });
        page = await room.context.newPage();
        try {
          await look(page);
          assert.equal(room.complaints, []);
        } finally {
          await page.close();
        }
      }
    },
    close: () => browser.close(),
  };
}

async function openRoom(browser: Browser, options: BrowserContextOptions): Promise<Room> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    // for the test of local times: a context of its own would cost a second
    timezoneId: 'Europe/Helsinki',
    // small, because the processor draws every pixel
    viewport: { width: 800, height: 600 },
    deviceScaleFactor: 0.5,
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const room: Room = { context, sites: [], complaints: [] };
  context.on('console', (message) => {
    if (isComplaint(message)) room.complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => {
    room.complaints.push(`error: ${error.error().stack}`);
  });
  context.on('dialog', (dialog) => {
    room.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    const url = request.url();
    const isOwn = room.sites.some((site) => url.startsWith(`${site}/`));
    if (!isOwn && !/^(?:blob|data):/.test(url))
      room.complaints.push(`a request to another site: ${url}`);
  });
  return room;
}

/** Whether a message tells of a mistake; the status of an answer and slow drawing are none. */
function isComplaint(message: ConsoleMessage): boolean {
  if (!['error', 'warning'].includes(message.type())) return false;
  const status = /^Failed to load resource: the server responded with a status of 4/;
  return !status.test(message.text()) && !message.text().includes('GPU stall due to ReadPixels');
}

/** A rule of axe and the elements that break it. */
export type Fault = readonly [rule: string, ...elements: string[]];

/** The serious and critical faults of accessibility that axe finds in a page. */
export async function seriousFaults(page: Page): Promise<Fault[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // evaluated as the developer tools do: the page's policy allows no foreign script
  await page.evaluate(readFileSync(axe, 'utf8'));
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)]))`);
}
