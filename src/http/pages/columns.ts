import { cut } from '../../model/quote.js';
import { isObject, type JsonObject } from '../../model/units.js';
import { POINTS_PATH } from '../request/addresses.js';
import { type Html, html, type KeyLink, NOTHING } from './html.js';
import type { Column, Site } from './site.js';

/** Images that this service serves: nothing else is shown or linked, whatever a record says. */
const IMAGE = /^\/media\/map_data_points\/\d+\/(?!\.)[\p{L}\p{M}\p{N}_.-]+$/u;
/** Characters of a text that a table shows; the JSON has all of it. */
const MOST_SHOWN = 280;

function column(
  label: string,
  key: string,
  show: (value: unknown, site: Site) => Html = text,
): Column {
  return { label, keys: [key], cell: (record, site) => show(record[key], site) };
}

export const POINT_COLUMNS: readonly Column[] = [
  column('Id', 'id', pointLink),
  column('Image', 'image', thumbnail),
  column('Comment', 'comment', (comment) => html`<div class="long">${text(comment)}</div>`),
  column('Tags', 'tags', list),
  column('Status', 'status'),
  column('Processed', 'is_processed', yesOrNo),
  { label: 'Place', keys: ['lat', 'lon'], cell: ({ lat, lon }) => place(lat, lon) },
  column('Created', 'created_at', time),
  column('Modified', 'modified_at', time),
  column('By', 'created_by'),
];

export const NOTIFICATION_COLUMNS: readonly Column[] = [
  column('Id', 'id'),
  ofComment('Comment', 'comment'),
  ofComment('By', 'user'),
  ofComment('Created', 'created_at', time),
  ofComment('Point', 'map_data_point', pointLink),
];

function ofComment(label: string, key: string, show: typeof pointLink = text): Column {
  return column(label, 'comment', (comment, site) =>
    show(isObject(comment) ? comment[key] : undefined, site),
  );
}

export function pointLinks({ prefix, hasImages }: Site): readonly KeyLink[] {
  return [
    { key: 'id', href: (id) => pointPath(id, prefix) },
    { key: 'image', href: (path) => (hasImages ? imagePath(path, prefix) : undefined) },
  ];
}

export function notificationLinks({ prefix }: Site): readonly KeyLink[] {
  return [{ key: 'map_data_point', href: (id) => pointPath(id, prefix) }];
}

function pointPath(id: unknown, prefix: string): string | undefined {
  return Number.isSafeInteger(id) ? `${prefix}${POINTS_PATH}${id}/` : undefined;
}

function imagePath(path: unknown, prefix: string): string | undefined {
  return typeof path === 'string' && IMAGE.test(path) ? prefix + encodeURI(path) : undefined;
}

function pointLink(id: unknown, { prefix }: Site): Html {
  const path = pointPath(id, prefix);
  return path === undefined ? text(id) : html`<a href="${path}">${String(id)}</a>`;
}

function thumbnail(image: unknown, { prefix }: Site): Html {
  const path = imagePath(image, prefix);
  if (path === undefined) return text(image);
  const name = String(image).slice(String(image).lastIndexOf('/') + 1);
  const shown = html`<img src="${path}" alt="${name}" width="64" height="48" loading="lazy">`;
  return html`<a href="${path}">${shown}</a>`;
}

/** `<bdi>` ends the writing directions that a stranger's text sets. */
function text(value: unknown): Html {
  if (value === undefined || value === null || value === '') return NOTHING;
  const whole = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return html`<bdi>${cut(whole, MOST_SHOWN)}</bdi>`;
}

function list(values: unknown): Html {
  if (!Array.isArray(values)) return text(values);
  return html`${values.map((value) => html`<span class="tag">${text(value)}</span> `)}`;
}

function yesOrNo(value: unknown): Html {
  return typeof value === 'boolean' ? html`${value ? 'yes' : 'no'}` : text(value);
}

function place(lat: unknown, lon: unknown): Html {
  if (lat === undefined && lon === undefined) return NOTHING;
  return html`<span class="num">${text(lat)}<br>${text(lon)}</span>`;
}

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})[\d:.]*([+-]\d{2}:\d{2})$/;

/** To the minute; the JSON has the rest. */
function time(value: unknown): Html {
  const [, day, minute, offset] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  if (day === undefined) return text(value);
  return html`<time datetime="${String(value)}">${day} ${minute}<br>${offset}</time>`;
}

/** Shows the columns that any record has something for. */
export function recordTable(
  columns: readonly Column[],
  records: readonly string[],
  site: Site,
): Html {
  const all = records.map((record): JsonObject => JSON.parse(record));
  const shown = columns.filter((column) =>
    all.some((fields) => column.keys.some((key) => Object.hasOwn(fields, key))),
  );
  const rows = all.map(
    (fields) => html`<tr>${shown.map(({ cell }) => html`<td>${cell(fields, site)}</td>`)}</tr>\n`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-labelledby="table-label">
<table><caption id="table-label">Records of this page</caption>
<thead><tr>${shown.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
}
