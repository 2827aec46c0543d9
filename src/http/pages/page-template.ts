import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { Budget } from '../../model/budget.js';
import {
  type BodyMemory,
  exportLink,
  FRESH_MEMORY,
  type ListFacts,
  type Page,
  withQuery,
} from '../formats/representation.js';
import {
  CHANGES_PATH,
  EXPORT_FORMATS,
  POINTS_PATH,
  TILE_PATH,
  templateOf,
} from '../request/addresses.js';
import { FILTER_PARAMETERS } from '../request/filters.js';
import type { Offer } from '../request/negotiation.js';
import { pathOf } from '../request/origin.js';
import type { Parameter } from '../request/parameter.js';
import { type Pair, parametersOf } from '../request/query-string.js';
import { recordTable } from './columns.js';
import { filters, type Problems } from './filter-form.js';
import { type Html, html, type KeyLink, readableJson } from './html.js';
import { PAGE_FIELD, type Posted, postForm } from './post-form.js';
import { PAGE_FOOT, pageHead, paging, type Site, type Subject } from './site.js';

export interface Shown extends Pick<Page, 'title' | 'list' | 'offered' | 'needsToken'> {
  readonly method: string;
  /** The request's path and query. */
  readonly target: string;
  readonly status: number;
  /** Headers of the answer but its length, which is not known before it is made. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The JSON of each record, or of what else the answer says. */
  readonly records: readonly string[];
  readonly alternatives: readonly Offer[];
  /** What was wrong with the request, by parameter or field; of the whole by `detail`. */
  readonly problems?: Problems;
  /** Address of the record that a form has made. */
  readonly made?: string;
  readonly posted?: Posted;
  /** Undefined of errors and of what was posted. */
  readonly snapshot?: string;
}

/** Nanoseconds a byte of a record, and more for one that is in the table, too. */
const BYTE = 15;
const BYTE_IN_TABLE = 10;
/** Characters of JSON that a page shows; it links to more. */
const MOST_JSON = 2 * 1024 * 1024;
/** Cells along the edge of a tile of the map: half the default. */
const MAP_GRID = '8';
const FILTERS: ReadonlySet<string> = new Set(FILTER_PARAMETERS.map(({ name }) => name));

export function renderPage(
  site: Site,
  subject: Subject,
  shown: Shown,
  memory: BodyMemory = FRESH_MEMORY,
  budget: Budget = new Budget(),
): Buffer<ArrayBuffer> {
  const { target, list, records, problems = {}, posted } = shown;
  const { crumbs, columns, isPoints } = subject;
  const isPost = shown.method === 'POST';
  const isGood = shown.status < 300;
  const hasTable = columns.length > 0 && records.length > 0 && isGood;
  const hasMap = isPoints && list !== undefined;
  const size = records.reduce((sum, { length }) => sum + length, 0);
  budget.charge(size * (hasTable ? BYTE + BYTE_IN_TABLE : BYTE));
  const path = ownPath(site, target);
  const pairs = parametersOf(target);
  const scripts = hasMap ? ['page.js', 'map.js'] : ['page.js'];
  const styles = hasMap ? ['page.css', 'map.css'] : ['page.css'];
  const offered = shown.offered?.() ?? {};
  const ofPost = isPost ? problems : {};
  const { text } = html`${[
    pageHead(site, shown.title ?? subject.name, crumbs, target, styles, scripts),
    introduction(subject, shown),
    !isPost && subject.parameters.length > 0 && filters(path, subject, pairs, problems, offered),
    list && listHead(path, pairs, list),
    html`<div class="${hasMap && hasTable ? 'split' : 'whole'}">\n`,
    hasMap && mapPlace(site, path, pairs),
    hasTable && recordTable(columns, records, site),
    html`</div>\n`,
    list && paging(path, pairs, list, 'Pages, again'),
    hasMap && list.count > 0 && exportLinks(site, pairs),
    isPoints &&
      (isPost || isGood) &&
      postForm(site.prefix + POINTS_PATH, site, nameOf(shown), posted, ofPost),
    exchange(path, pairs, shown, subject, !hasTable && !hasMap),
    PAGE_FOOT,
  ]}`;
  const body = memory.take(Buffer.byteLength(text));
  body.write(text);
  return body;
}

/**
 * Names the page that a form stands on, so that a form sent twice can be told from two: its
 * snapshot and count, the point that was made, the name in a refused form, or a new one.
 */
function nameOf({ posted, made, snapshot, list }: Shown): string {
  const state = snapshot && `${snapshot} ${list?.count ?? ''}`;
  return posted?.[PAGE_FIELD] ?? made ?? state ?? randomUUID();
}

/** The path of the page itself; behind two slashes or the like browsers would see another host. */
function ownPath({ prefix }: Site, target: string): string {
  const path = prefix + pathOf(target);
  return /^\/[/\\]/.test(path) ? `/.${path}` : path;
}

function introduction(subject: Subject, shown: Shown): Html {
  const { status, problems } = shown;
  if (status >= 400)
    return problem(problems ?? {}, shown.method === 'POST' ? [] : subject.parameters);
  if (shown.made !== undefined) {
    const link = html`<a href="${shown.made}">Open it</a>`;
    return html`<p role="status">The point is stored. ${link}, or add another.</p>`;
  }
  return html`<p>${subject.description}</p>\n${shown.needsToken && tokenHelp(shown.list)}`;
}

/** How to ask for what belongs to a user: a browser sends no token by itself. */
function tokenHelp(list: ListFacts | undefined): Html {
  return html`<p>No token came with this request: there is nothing to show but to the user of one.
Send it as a header:</p>
<pre tabindex="0">curl -H 'Authorization: Token …' '${list?.base}'</pre>
`;
}

/** A field that has a place in the form shows itself what is wrong with it. */
function problem(problems: Problems, parameters: readonly Parameter[]): Html {
  const texts = Object.entries(problems).flatMap(([name, all]) => {
    if (name === 'detail') return all.map((text) => html`<li><bdi>${text}</bdi></li>`);
    const own = parameters.find((one) => one.name === name);
    if (own !== undefined) {
      const { label = name } = own;
      return [html`<li>See what is wrong with <a href="#f-${name}">${label}</a>.</li>`];
    }
    return all.map((text) => html`<li><code>${name}</code>: <bdi>${text}</bdi></li>`);
  });
  return html`<div role="alert"><ul class="error">${texts}</ul></div>\n`;
}

function mapPlace(site: Site, path: string, pairs: readonly Pair[]): Html {
  const { prefix, tileUrl, hasImages, posting } = site;
  const set = pairs.filter(({ name }) => FILTERS.has(name));
  // all fields: the map needs places, and popups the rest, whatever the table shows
  const whole = pairs.filter(({ name }) => name !== 'fields');
  const points = inFormat('geojson', path, whole);
  const changes = withQuery(prefix + CHANGES_PATH, [...set, { name: 'fields', value: 'id' }]);
  const grid = { name: 'grid', value: MAP_GRID };
  const tiles = withQuery(prefix + templateOf(TILE_PATH), [...set, grid]);
  const followed = html` data-changes="${changes}"`;
  const options = html`${posting !== 'nobody' && followed}${hasImages && html` data-images`}${
    tileUrl !== undefined && html` data-tile-url="${tileUrl}"`
  }`;
  return html`<div id="map" data-tiles="${tiles}" data-points="${points}"${options}>
<noscript><p>The map needs JavaScript.</p></noscript></div>
`;
}

function listHead(path: string, pairs: readonly Pair[], list: ListFacts): Html {
  const { count, page, pageCount } = list;
  const matches = `${count.toLocaleString('en')} ${count === 1 ? 'match' : 'matches'}`;
  const place = `page ${page.toLocaleString('en')} of ${pageCount.toLocaleString('en')}`;
  return html`<div class="found"><h2 id="results">${matches}${pageCount > 1 && `, ${place}`}</h2>
${paging(path, pairs, list, 'Pages')}</div>
`;
}

function exportLinks({ prefix }: Site, pairs: readonly Pair[]): Html {
  const links = EXPORT_FORMATS.map(
    ({ name }) => html` <a href="${exportLink(prefix, name, pairs)}" download>${name}</a>`,
  );
  return html`<p>All matches as a file:${links}</p>\n`;
}

function inFormat(format: string, path: string, pairs: readonly Pair[]): string {
  const others = pairs.filter(({ name }) => name !== 'format');
  return withQuery(path, [...others, { name: 'format', value: format }]);
}

function actions(path: string, pairs: readonly Pair[], shown: Shown, subject: Subject): Html {
  return html`<div class="actions"><a class="button" href="${withQuery(path, pairs)}">GET</a>
${shown.alternatives.map(
  ({ parameter, mediaType }) =>
    html`<a class="button" href="${inFormat(parameter, path, pairs)}" type="${mediaType}">${parameter}</a>\n`,
)}${
  subject.options !== undefined &&
  html`<details class="options"><summary class="button">OPTIONS</summary>
<pre tabindex="0">${JSON.stringify(subject.options, null, 2)}</pre></details>
`
}</div>
`;
}

/** The request and its answer, as programs see them; open where nothing else is shown. */
function exchange(
  path: string,
  pairs: readonly Pair[],
  shown: Shown,
  subject: Subject,
  isOpen: boolean,
): Html {
  const { method, target, status, headers } = shown;
  const lines = Object.entries(headers).map(
    ([name, value]) => html`<b>${name}:</b> ${String(value)}\n`,
  );
  return html`<details class="box" id="exchange"${isOpen && html` open`}>
<summary>Request and answer, as programs see them</summary>
${actions(path, pairs, shown, subject)}
<pre class="request" tabindex="0"><b>${method}</b> ${target}</pre>
<pre class="json" tabindex="0"><b>HTTP ${status} ${STATUS_CODES[status] ?? ''}</b>
${lines}
${jsonOf(path, pairs, shown, subject.links)}</pre></details>
`;
}

/** Links of a list are this service's own: ASCII that begins with its origin. */
const LIST_LINKS: readonly KeyLink[] = ['next', 'previous'].map((key) => ({
  key,
  href: (value) => (/^https?:\/\//.test(String(value)) ? String(value) : undefined),
}));

function jsonOf(
  path: string,
  pairs: readonly Pair[],
  { list, records }: Shown,
  links: readonly KeyLink[],
): Html {
  if (list === undefined) return readableJson(records[0]!, links);
  const { next, previous } = list.links();
  const envelope = JSON.stringify({ count: list.count, next, previous, results: [] });
  const json = `${envelope.slice(0, -']}'.length)}${records.join()}]}`;
  if (json.length <= MOST_JSON) return readableJson(json, [...links, ...LIST_LINKS]);
  const alone = inFormat('json', path, pairs);
  return html`<a href="${alone}">Too long to be shown here: open it as JSON</a>`;
}
