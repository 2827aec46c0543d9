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

/** Where systems have their Chromium. */
const PLACES = [
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  ...['/snap/bin/chromium', '/Applications/Chromium.app/Contents/MacOS/Chromium'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const CHROMIUM = [process.env['CHROMIUM'] ?? [], PLACES].flat().find((path) => existsSync(path));

/** Why no test can run in a browser here; undefined where one can. */
export const NO_BROWSER: string | undefined =
  CHROMIUM === undefined
    ? 'no Chromium was found: install the package chromium, or set CHROMIUM to its path'
    : undefined;

/** WebGL by the processor, for want of a graphics card; pages without it, at 2/3 of the cost. */
const FLAGS = [
  ...['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  ...['--disable-gpu-compositing', '--process-per-site', '--renderer-process-limit=1'],
  // pages of the browser's own window cost half of all that a page takes; the list of Playwright,
  // which this one takes the place of, has the others
  `--disable-features=${[
    ...['PreloadTopChromeWebUI', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'PaintHolding'],
    ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
    ...['HttpsFirstBalancedModeAutoEnable', 'AvoidCorsURLLoaderRestartOnRedirect', 'AimEnabled'],
    ...['ThirdPartyStoragePartitioning', 'OptimizationHints', 'NetworkTimeServiceQuerying'],
    ...['PreconnectToSearch', 'MediaRouter', 'LensOverlay'],
  ]}`,
];

/** Milliseconds for what a page is to show: the processor draws its map, and may have other work. */
const PATIENCE_MS = 90_000;

/** A browser that is told of its sites' mistakes. */
export interface Visitor {
  /**
   * Opens pages of the first site and lets `look` use them. Throws when something came to the
   * console, a script failed, the Content-Security-Policy refused something, or a request left for
   * another site than these.
   */
  visit(
    sites: readonly string[],
    look: (page: Page) => Promise<void>,
    options?: BrowserContextOptions,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Pages of the same options, which share what was loaded and compiled. */
interface Room {
  readonly context: BrowserContext;
  sites: readonly string[];
  complaints: string[];
}

/** Starts a browser without a window. */
export async function openBrowser(): Promise<Visitor> {
  // a third of a second, which nobody pays who has no browser
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: [...FLAGS] });
  const rooms = new Map<string, Promise<Room>>();
  return {
    async visit(sites, look, options = {}) {
      const key = JSON.stringify([sites[0], options]);
      if (!rooms.has(key)) rooms.set(key, openRoom(browser, { baseURL: sites[0]!, ...options }));
      const room = await rooms.get(key)!;
      Object.assign(room, { sites, complaints: [] });
      const page = await room.context.newPage();
      try {
        await look(page);
        assert.equal(room.complaints, []);
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
}

async function openRoom(browser: Browser, options: BrowserContextOptions): Promise<Room> {
  const context = await browser.newContext({
    reducedMotion: 'reduce',
    // a test looks at times, and a context of its own costs a second
    timezoneId: 'Europe/Helsinki',
    // the processor draws every pixel of a map
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

/** Whether a message tells of a mistake: not an answer's status, nor that drawing is slow. */
function isComplaint(message: ConsoleMessage): boolean {
  if (!['error', 'warning'].includes(message.type())) return false;
  const status = /^Failed to load resource: the server responded with a status of 4/;
  return !status.test(message.text()) && !message.text().includes('GPU stall due to ReadPixels');
}

/** A rule that a page breaks, and the elements that do. */
export type Fault = readonly [rule: string, ...elements: string[]];

/** What axe finds in a page that keeps people from using it. */
export async function seriousFaults(page: Page): Promise<Fault[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // the page lets no other script in: this one runs as those of a browser's own tools do
  await page.evaluate(readFileSync(axe, 'utf8'));
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html)]))`);
}
