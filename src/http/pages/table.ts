import { isObject } from '../../model/units.js';
import { POINTS_PATH } from '../request/addresses.js';
import { type Html, html, type KeyLink, NOTHING } from './html.js';
import type { Site } from './site.js';

type Fields = Readonly<Record<string, unknown>>;

/** Images that this service serves: nothing else is shown or linked, whatever a record says. */
const IMAGE = /^\/media\/map_data_points\/\d+\/(?!\.)[\p{L}\p{M}\p{N}_.-]+$/u;
/** Characters of a text that a table shows; the JSON has all of it. */
const MOST_SHOWN = 280;

export function pointLinks({ prefix, hasImages }: Site): readonly KeyLink[] {
  const imagePath = (path: string | number): string | undefined =>
    hasImages && IMAGE.test(String(path)) ? prefix + encodeURI(String(path)) : undefined;
  return [pointLink('id', prefix), { key: 'image', href: imagePath }];
}

export function notificationLinks({ prefix }: Site): readonly KeyLink[] {
  return [pointLink('map_data_point', prefix)];
}

function pointLink(key: string, prefix: string): KeyLink {
  const href = (id: string | number): string | undefined =>
    Number.isSafeInteger(id) ? `${prefix}${POINTS_PATH}${id}/` : undefined;
  return { key, href };
}

/**
 * The records as a table, with a column for each key that any of them has. `note` is told of each
 * row that is written.
 */
export function recordTable(
  records: readonly Uint8Array[],
  links: readonly KeyLink[],
  note: (record: Uint8Array) => void,
): Html[] {
  const all = records.map(parse);
  const keys = [...new Set(all.flatMap(Object.keys))];
  const head = html`<div class="table" tabindex="0" role="region" aria-labelledby="table-label">
<table><caption id="table-label">Records of this page</caption>
<thead><tr>${keys.map((key) => html`<th scope="col">${key}</th>`)}</tr></thead>
<tbody>
`;
  const rows = all.map((fields, index) => {
    note(records[index]!);
    const cells = keys.map((key) => html`<td>${cell(key, fields[key], links)}</td>`);
    return html`<tr>${cells}</tr>\n`;
  });
  return [head, ...rows, html`</tbody></table></div>\n`];
}

function cell(key: string, value: unknown, links: readonly KeyLink[]): Html {
  if (value === undefined || value === null || value === '') return NOTHING;
  if (Array.isArray(value)) {
    return html`${value.map((one) => html`<span class="tag">${text(one)}</span> `)}`;
  }
  const isPlain = typeof value === 'string' || typeof value === 'number';
  const href = isPlain ? links.find((link) => link.key === key)?.href(value) : undefined;
  if (href === undefined) return text(value);
  if (key !== 'image') return html`<a href="${href}">${value as string | number}</a>`;
  const name = String(value).slice(String(value).lastIndexOf('/') + 1);
  return html`<a href="${href}"><img src="${href}" alt="${name}" width="64" height="48" loading="lazy"></a>`;
}

/** A text of somebody else; whatever directions it sets end with it. */
function text(value: unknown): Html {
  const whole = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const isLong = whole.length > MOST_SHOWN;
  return html`<bdi>${whole.slice(0, MOST_SHOWN)}${isLong && '…'}</bdi>`;
}

/**
 * What a row says; the comment of a notification stands beside the rest. A record that is no JSON,
 * which a packed file may have, says nothing.
 */
function parse({ buffer, byteOffset, length }: Uint8Array): Fields {
  try {
    const value: unknown = JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
    if (!isObject(value)) return {};
    return isObject(value['comment']) ? { ...value['comment'], id: value['id'] } : value;
  } catch {
    return {};
  }
}
