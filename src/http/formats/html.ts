import type { Exchange, Format, Page, Pieces } from './format.js';
import { afterRecords, beforeRecords } from './json.js';
import { shownRecords } from './projection.js';
import { ReadableJson } from './readable-json.js';

const COMMA = Buffer.from(',');
/** JSON that is written in one piece of work, which takes a third of a millisecond. */
const PIECE_BYTES = 64 * 1024;
/** JSON that a page for people may show: 10 ms of work in all. */
const MAX_BYTES = 2 * 1024 * 1024;

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
nav a { margin-right: 1rem; }
pre { background: #f4f5f7; border-radius: 6px; overflow-x: auto; padding: 1rem; }
@media (prefers-color-scheme: dark) {
  body { background: #16181d; color: #dfe2e8; }
  a { color: #8ab4f8; }
  pre { background: #21242b; }
}`;

/**
 * The page that a person sees in a browser: the request, the headers and the JSON of its answer,
 * readable.
 */
export const HTML: Format = {
  name: 'html',
  parameter: 'api',
  mediaType: 'text/html',
  contentType: 'text/html; charset=utf-8',
  // a page loads nothing from anywhere, and stands in no frame
  headers: [
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'Referrer-Policy',
    'same-origin',
  ],
  maxBytes: MAX_BYTES,
  encode(page, exchange) {
    // taken now: the rows that they are found by are the next query's then
    return render(page, exchange, shownRecords(page));
  },
};

function* render(
  { title, list }: Page,
  { target, headers }: Exchange,
  records: readonly Uint8Array[],
): Pieces<Buffer<ArrayBuffer>> {
  const writer = new ReadableJson();
  const { next = null, previous = null } = list?.links ?? {};
  writer.html(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Waypost</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<nav>${anchor('Previous', previous)}${anchor('Next', next)}</nav>
<pre><b>GET ${escapeHtml(target)}</b></pre>
<pre>HTTP 200 OK
${escapeHtml(headerLines(headers()))}

`);
  writer.json(Buffer.from(beforeRecords(list)));
  let written = 0;
  for (const [index, record] of records.entries()) {
    if (index > 0) writer.json(COMMA);
    writer.json(record);
    written += record.length;
    if (written >= PIECE_BYTES) {
      written = 0;
      yield;
    }
  }
  writer.json(Buffer.from(afterRecords(list)));
  writer.html('</pre>\n</body>\n</html>\n');
  return writer.finish();
}

function headerLines(headers: readonly string[]): string {
  const lines: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    // the length of the answer is not known before the answer is made
    if (headers[i + 1] !== '') lines.push(`${headers[i]}: ${headers[i + 1]}`);
  }
  return lines.join('\n');
}

function anchor(label: string, href: string | null): string {
  return href === null ? '' : `<a href="${escapeHtml(href)}">${label}</a>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
