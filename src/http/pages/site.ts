import { Assets } from '../assets/assets.js';
import { NOTIFICATIONS_PATH, POINTS_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import type { Parameter } from '../request/parameter.js';
import { type Html, html, type KeyLink } from './html.js';

export interface Site {
  readonly assets: Assets;
  /** What stands in front of all paths: a path without a slash at its end. */
  readonly prefix: string;
  /** Template of the tiles that the map shows below the points; its own outline of land without. */
  readonly tileUrl: string | undefined;
  readonly hasImages: boolean;
  /** Headers of every page, names and values in turn. */
  readonly headers: readonly string[];
}

interface SiteSettings {
  readonly publicUrl?: string | undefined;
  readonly tileUrl?: string | undefined;
  readonly media?: string | undefined;
}

/** What the pages of these settings have in common. */
export function createSite({ publicUrl, tileUrl, media }: SiteSettings): Site {
  // addresses without a host stay with the host that the page came from
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  return {
    assets: new Assets(prefix),
    prefix,
    tileUrl,
    hasImages: media !== undefined,
    headers: headersOf(tileUrl),
  };
}

/** A browser loads nothing from elsewhere but map tiles, and runs no script in the page. */
function headersOf(tileUrl: string | undefined): readonly string[] {
  // scheme and authority of the template: `{s}` or the like may stand only behind them
  const tiles = tileUrl === undefined ? '' : ` ${/^https?:\/\/[^/{}]+/.exec(tileUrl)![0]}`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' blob:${tiles}`,
    `connect-src 'self'${tiles}`,
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return [...['Content-Security-Policy', policy.join('; ')], ...['Referrer-Policy', 'same-origin']];
}

const PLACES = [
  { label: 'Points', path: POINTS_PATH },
  { label: 'Notifications', path: NOTIFICATIONS_PATH },
  { label: 'Interface', path: VIEWER_PATH },
];

/** A document up to its body. */
export function documentHead(
  assets: Assets,
  title: string,
  styles: readonly string[],
  scripts: readonly string[],
): Html {
  const url = (name: string): string => assets.named(name).url;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Waypost</title>
<link rel="icon" href="${url('icon.svg')}" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="${url(name)}">\n`)}${scripts.map(
  (name) => html`<script type="module" src="${url(name)}"></script>\n`,
)}</head>
`;
}

/** A page up to its content, with the map's scripts where it `hasMap`. */
export function pageHead(
  { assets, prefix }: Site,
  title: string,
  target: string,
  hasMap: boolean,
): Html {
  const styles = hasMap ? ['page.css', 'map.css'] : ['page.css'];
  const scripts = hasMap ? ['page.js', 'map.js'] : ['page.js'];
  return html`${documentHead(assets, title, styles, scripts)}<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${prefix}${ROOT_PATH}">Waypost</a>
<nav aria-label="Main"><ul>${PLACES.map(({ label, path }) => {
    const isHere = target.startsWith(path);
    return html`<li><a href="${prefix}${path}"${isHere && html` aria-current="true"`}>${label}</a></li>`;
  })}</ul></nav>
</header>
<main id="content" tabindex="-1">
<h1><bdi>${title}</bdi></h1>
`;
}

/** What the pages of an address are about. */
export interface Subject {
  readonly description: string;
  /** What may be asked for, a field of the form each; none where there is no form. */
  readonly parameters: readonly Parameter[];
  readonly links: readonly KeyLink[];
  /** Whether records are shown as a table, too. */
  readonly hasTable: boolean;
  /** Whether it is the list of points: with a map, and files of all matches. */
  readonly hasMap: boolean;
}

/** A subject that says the least: no form, no table, no links. */
export const PLAIN_SUBJECT: Subject = {
  description: '',
  parameters: [],
  links: [],
  hasTable: false,
  hasMap: false,
};
