import type { AnswerHead } from '../answer/answer.js';
import type { PageLinks } from './links.js';

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
 * The page that a person sees in a browser: the request, the headers and the JSON of its answer, readable,
 * with links to the neighbouring pages.
 */
export function browsable(
  title: string,
  target: string,
  { headers }: AnswerHead,
  json: Uint8Array,
  links: PageLinks = { next: null, previous: null },
): Buffer {
  const pretty = JSON.stringify(JSON.parse(Buffer.from(json).toString()), null, 2);
  const headerLines: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    // the length of the answer is not known before it is made
    if (headers[i + 1] !== '') headerLines.push(`${headers[i]}: ${headers[i + 1]}`);
  }
  return Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Waypost</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<nav>${anchor('Previous', links.previous)}${anchor('Next', links.next)}</nav>
<pre><b>GET ${escapeHtml(target)}</b></pre>
<pre>HTTP 200 OK
${escapeHtml(headerLines.join('\n'))}

${escapeHtml(pretty)}</pre>
</body>
</html>
`);
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
