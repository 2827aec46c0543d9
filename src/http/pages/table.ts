import { type Html, html } from './html.js';
import type { Site } from './site.js';
import type { Column } from './subject.js';
import type { PageWriter } from './writer.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Writes the records as a table, with the columns that any of them has something for. Records are
 * parsed once for their keys and once more for their row: objects that live until the last row
 * would be moved by several garbage collections. `note` is told of each row that is written.
 */
export function recordTable(
  writer: PageWriter,
  columns: readonly Column[],
  records: readonly Uint8Array[],
  site: Site,
  note: (record: Uint8Array) => void,
): void {
  const keys = new Set<string>();
  const isShown = (column: Column): boolean => column.keys.some((key) => keys.has(key));
  for (const record of records) {
    for (const key in parse(record)) keys.add(key);
    if (columns.every(isShown)) break;
  }
  const shown = columns.filter(isShown);
  writer.html(html`<div class="table" tabindex="0" role="region" aria-labelledby="table-label">
<table><caption id="table-label">Records of this page</caption>
<thead><tr>${shown.map(({ label }) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>
`);
  for (const record of records) {
    note(record);
    writer.html(rowOf(parse(record), shown, site));
  }
  writer.html(html`</tbody></table></div>\n`);
}

function rowOf(fields: Fields, columns: readonly Column[], site: Site): Html {
  return html`<tr>${columns.map(({ cell }) => html`<td>${cell(fields, site)}</td>`)}</tr>\n`;
}

/** A record that is no JSON, which a packed file may have, shows nothing in the table. */
function parse(record: Uint8Array): Fields {
  try {
    const bytes = Buffer.from(record.buffer, record.byteOffset, record.length);
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}
