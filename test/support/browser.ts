import { existsSync } from 'node:fs';
import type { Browser, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import * as assert from 'uvu/assert';

/** Where systems have their Chromium. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const CHROMIUM = [process.env['CHROMIUM'] ?? [], PLACES].flat().find((path) => existsSync(path));

/** Why no test can run in a browser here; undefined where one can. */
export const NO_BROWSER: string | undefined =
  CHROMIUM === undefined
    ? 'no Chromium was found: install the package chromium, or set CHROMIUM to its path'
    : undefined;

/** WebGL drawn by the processor: a machine for tests has no graphics card. */
const FLAGS = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

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

/** Starts a browser without a window. */
export async function openBrowser(): Promise<Visitor> {
  // a third of a second, which nobody pays who has no browser
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: [...FLAGS] });
  return {
    visit: (sites, look, options) => visit(browser, sites, look, options),
    close: () => browser.close(),
  };
}

async function visit(
  browser: Browser,
  sites: readonly string[],
  look: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const context = await browser.newContext({
    baseURL: sites[0]!,
    reducedMotion: 'reduce',
    // the processor draws every pixel of a map
    viewport: { width: 800, height: 600 },
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (isComplaint(message)) complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => {
    complaints.push(`error: ${error.error().stack}`);
  });
  context.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    const url = request.url();
    if (/^(?:blob|data):/.test(url) || sites.some((site) => url.startsWith(`${site}/`))) return;
    complaints.push(`a request to another site: ${url}`);
  });
  try {
    const page = await context.newPage();
    await look(page);
    assert.equal(complaints, []);
  } finally {
    await context.close();
  }
}

/** Whether a message tells of a mistake; the status of an answer that is an error does not. */
function isComplaint(message: ConsoleMessage): boolean {
  if (!['error', 'warning'].includes(message.type())) return false;
  return !/^Failed to load resource: the server responded with a status of 4/.test(message.text());
}
