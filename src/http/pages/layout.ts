import { NOTIFICATIONS_PATH, POINTS_PATH, ROOT_PATH, VIEWER_PATH } from '../request/addresses.js';
import { type Html, html } from './html.js';
import type { Site } from './site.js';
import type { Crumb } from './subject.js';

/** Addresses that every page leads to. */
const PLACES: readonly Crumb[] = [
  { label: 'Points', path: POINTS_PATH },
  { label: 'Notifications', path: NOTIFICATIONS_PATH },
  { label: 'Interface', path: VIEWER_PATH },
];

/** A page up to its content. */
export function pageHead(
  { assets, prefix }: Site,
  title: string,
  crumbs: readonly Crumb[],
  target: string,
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
${styles.map(
  (name) => html`<link rel="stylesheet" href="${url(name)}">
`,
)}${scripts.map((name) => html`<script type="module" src="${url(name)}"></script>\n`)}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${prefix}${ROOT_PATH}">Waypost</a>
<nav aria-label="Main"><ul>${PLACES.map(({ label, path }) => {
    const isHere = target.startsWith(path);
    return html`<li><a href="${prefix}${path}"${isHere && html` aria-current="true"`}>${label}</a></li>`;
  })}</ul></nav>
</header>
<main id="content" tabindex="-1">
<nav class="crumbs" aria-label="Breadcrumb"><ol>
${crumbs.map(({ label, path }) => html`<li><a href="${prefix}${path}">${label}</a></li>\n`)}<li aria-current="page"><bdi>${title}</bdi></li>
</ol></nav>
<h1><bdi>${title}</bdi></h1>
`;
}

/** What stands below the content of a page. */
export function pageFoot(smallPrint: Html): Html {
  return html`</main>
<footer class="foot">${smallPrint}</footer>
</body>
</html>
`;
}
