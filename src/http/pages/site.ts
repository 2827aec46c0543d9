import type { JsonObject } from '../../model/units.js';
import { type ListFacts, pageLink } from '../formats/representation.js';
import { NOTIFICATIONS_PATH, POINTS_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import type { Parameter } from '../request/parameter.js';
import type { Pair } from '../request/query-string.js';
import { Assets } from './assets.js';
import { type Html, html, type KeyLink, NOTHING } from './html.js';

export type PostingBy = 'anybody' | 'holders' | 'nobody';

export interface Site {
  readonly assets: Assets;
  /** What stands in front of all paths: a path without a slash at its end. */
  readonly prefix: string;
  /** Template of background tiles of the map; where undefined it shows outlines of land. */
  readonly tileUrl: string | undefined;
  readonly hasImages: boolean;
  readonly posting: PostingBy;
  readonly headers: Readonly<Record<string, string>>;
}

interface SiteSettings {
  readonly publicUrl?: string | undefined;
  readonly tileUrl?: string | undefined;
  readonly media?: string | undefined;
  readonly requireToken?: boolean;
}

/** `posts` says whether points can be posted. */
export function createSite(
  { publicUrl, tileUrl, media, requireToken }: SiteSettings,
  posts: boolean,
): Site {
  // addresses without a host stay with the host that the page came from
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  // in the template `{s}` or the like may stand only behind the host
  const tiles = tileUrl === undefined ? '' : ` ${new URL(tileUrl).origin}`;
  return {
    assets: new Assets(prefix),
    prefix,
    tileUrl,
    hasImages: media !== undefined,
    posting: !posts ? 'nobody' : requireToken ? 'holders' : 'anybody',
    headers: pageHeaders({
      'img-src': `'self' blob:${tiles}`,
      'connect-src': `'self'${tiles}`,
      'worker-src': "'self'",
      'form-action': "'self'",
    }),
  };
}

/** A browser loads nothing from elsewhere but what `sources` name, and runs no script in a page. */
export function pageHeaders(sources: Readonly<Record<string, string>>): Site['headers'] {
  const all = {
    ...{ 'default-src': "'none'", 'script-src': "'self'", 'style-src': "'self'" },
    ...{ 'base-uri': "'none'", 'frame-ancestors': "'none'", ...sources },
  };
  const policy = Object.entries(all).map(([what, from]) => `${what} ${from}`);
  return { 'Content-Security-Policy': policy.join('; '), 'Referrer-Policy': 'same-origin' };
}

const PLACES: readonly Crumb[] = [
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
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Waypost</title>
<link rel="icon" href="${assets.url('icon.svg')}" type="image/svg+xml">
${styles.map((name) => html`<link rel="stylesheet" href="${assets.url(name)}">\n`)}${scripts.map(
  (name) => html`<script type="module" src="${assets.url(name)}"></script>\n`,
)}</head>
`;
}

export function pageHead(
  { assets, prefix }: Site,
  title: string,
  crumbs: readonly Crumb[],
  target: string,
  styles: readonly string[],
  scripts: readonly string[],
): Html {
  return html`${documentHead(assets, title, styles, scripts)}<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${prefix}${ROOT_PATH}">Waypost</a>
<nav aria-label="Main"><ul>${PLACES.map(({ label, path }) => {
    const isHere = target.startsWith(path);
    const current = isHere && html` aria-current="true"`;
    return html`<li><a href="${prefix}${path}"${current}>${label}</a></li>`;
  })}</ul></nav>
</header>
<main id="content" tabindex="-1">
<nav class="crumbs" aria-label="Breadcrumb"><ol>
${crumbs.map(({ label, path }) => html`<li><a href="${prefix}${path}">${label}</a></li>\n`)}
<li aria-current="page"><bdi>${title}</bdi></li>
</ol></nav>
<h1><bdi>${title}</bdi></h1>
`;
}

export const PAGE_FOOT: Html = html`</main>
</body>
</html>
`;

export interface Crumb {
  readonly label: string;
  /** Without the prefix of the site. */
  readonly path: string;
}

export const HOME: Crumb = { label: 'Waypost', path: ROOT_PATH };

export interface Column {
  readonly label: string;
  /** Keys of a record that the column shows. */
  readonly keys: readonly string[];
  readonly cell: (record: JsonObject, site: Site) => Html;
}

export interface Subject {
  readonly name: string;
  readonly description: string;
  /** The breadcrumbs, without the page itself. */
  readonly crumbs: readonly Crumb[];
  /** Each is a field of the form; empty where there is no form. */
  readonly parameters: readonly Parameter[];
  readonly columns: readonly Column[];
  readonly links: readonly KeyLink[];
  /** Whether it is the list of points: with examples, a map, files, and a form for posts. */
  readonly isPoints: boolean;
  readonly options: object | undefined;
}

export const PLAIN_SUBJECT: Subject = {
  name: HOME.label,
  description: '',
  crumbs: [],
  parameters: [],
  columns: [],
  links: [],
  isPoints: false,
  options: undefined,
};

/** Pages that are linked on each side of the one that is shown. */
const NEIGHBOURS = 2;

export function paging(path: string, pairs: readonly Pair[], list: ListFacts, label: string): Html {
  const { page, pageCount } = list;
  const { next, previous } = list.links();
  if (pageCount <= 1) return NOTHING;
  const link = (number: number): string => pageLink(path, pairs, number);
  const near = Array.from({ length: 2 * NEIGHBOURS + 1 }, (_, i) => page - NEIGHBOURS + i);
  const shown = near.filter((number) => number >= 1 && number <= pageCount);
  const numbers = [...new Set([1, ...shown, pageCount])].map((number, i, all) => {
    const gap = i > 0 && number > all[i - 1]! + 1 && html`<li aria-hidden="true">…</li>`;
    if (number === page) {
      return html`${gap}<li><a aria-current="page" href="${link(number)}">${number}</a></li>`;
    }
    return html`${gap}<li><a href="${link(number)}" aria-label="Page ${number}">${number}</a></li>`;
  });
  return html`<nav class="paging" aria-label="${label}"><ul>
<li>${step('prev', '← Previous', previous)}</li>
${numbers}
<li>${step('next', 'Next →', next)}</li>
</ul></nav>
`;
}

function step(rel: string, label: string, href: string | null): Html {
  if (href === null) return html`<span class="off">${label}</span>`;
  return html`<a rel="${rel}" href="${href}">${label}</a>`;
}
