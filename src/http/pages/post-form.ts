import { field, type Problems } from './fields.js';
import { type Html, html } from './html.js';
import type { PostingBy, Site } from './site.js';

/** What was posted by a form, by the name of a field. */
export type Posted = Readonly<Record<string, string>>;

/**
 * Fields of the forms alone: tags with commas between them, a record as JSON, and what names the
 * page that a form stands on.
 */
export const TAGS_FIELD = '_tags';
export const JSON_FIELD = '_content';
export const PAGE_FIELD = '_page';

const EXAMPLE = '{\n  "lat": "60.16986",\n  "lon": "24.93837",\n  "comment": ""\n}';

/**
 * The forms for a new point: one of fields and one of raw JSON, with what was posted before and
 * what was wrong with it. `page` names the page that they stand on.
 */
export function postForm(
  path: string,
  { posting, hasImages }: Pick<Site, 'posting' | 'hasImages'>,
  page: string | undefined,
  posted: Posted | undefined,
  problems: Problems,
): Html {
  const isOpen = posted !== undefined || Object.keys(problems).length > 0;
  return html`<details class="box" id="add"${isOpen && html` open`}>
<summary>Add a point</summary>
${posting === 'anybody' ? forms(path, hasImages, page, posted ?? {}, problems) : refusal(path, posting)}
</details>
`;
}

function forms(
  path: string,
  hasImages: boolean,
  page: string | undefined,
  posted: Posted,
  problems: Problems,
): Html {
  const raw = posted[JSON_FIELD];
  const from =
    page !== undefined && html`<input type="hidden" name="${PAGE_FIELD}" value="${page}">\n`;
  // what is wrong with raw JSON is told beside it
  const [ofFields, ofJson]: [Problems, Problems] =
    raw === undefined ? [problems, {}] : [{}, problems];
  const text = (name: string, hint: string, from = name): Html =>
    field(
      `p-${name}`,
      html`${name}`,
      (described) =>
        html`<input id="p-${name}" name="${from}" value="${posted[from] ?? ''}" autocomplete="off"${described}>`,
      html`${hint}`,
      ofFields[name] ?? [],
    );
  const known = new Set(['lat', 'lon', 'comment', 'tags', 'image']);
  const others = Object.entries(ofFields).filter(([name]) => !known.has(name));
  return html`<form method="post" action="${path}" enctype="multipart/form-data">
${from}${alerts(others)}
<div class="fields">
${text('lat', 'latitude in degrees, within ±90; required')}
${text('lon', 'longitude in degrees, within ±180; required')}
${text('tags', 'none, one, or several with commas between them; \\, is a comma within a tag', TAGS_FIELD)}
${hasImages && imageField(ofFields['image'] ?? [])}
${field(
  'p-comment',
  html`comment`,
  (described) =>
    html`<textarea id="p-comment" name="comment" rows="3"${described}>\n${posted['comment'] ?? ''}</textarea>`,
  undefined,
  ofFields['comment'] ?? [],
)}
</div>
<p class="buttons"><button type="submit">POST</button></p>
</form>
<details class="raw"${raw !== undefined && html` open`}>
<summary>As raw JSON</summary>
<form method="post" action="${path}">
${from}${alerts(Object.entries(ofJson))}
<div class="field"><label for="p-json">JSON</label>
<textarea id="p-json" name="${JSON_FIELD}" rows="8" spellcheck="false">\n${raw ?? EXAMPLE}</textarea></div>
<p class="buttons"><button type="submit">POST</button></p>
</form>
</details>
`;
}

function imageField(problems: readonly string[]): Html {
  return field(
    'p-image',
    html`image`,
    (described) =>
      html`<input id="p-image" name="image" type="file" accept="image/jpeg,image/png"${described}>`,
    html`a JPEG or PNG; none is fine`,
    problems,
  );
}

/** What is wrong with fields that have no place of their own. */
function alerts(problems: readonly (readonly [name: string, texts: readonly string[]])[]): Html {
  if (problems.length === 0) return html``;
  return html`<ul class="error">${problems.map(([name, texts]) =>
    texts.map((one) => html`<li><code>${name}</code> <bdi>${one}</bdi></li>`),
  )}</ul>`;
}

function refusal(path: string, posting: Exclude<PostingBy, 'anybody'>): Html {
  if (posting === 'nobody') return html`<p>This instance only reads: it accepts no points.</p>`;
  return html`<p>This instance accepts points from holders of a token only, and a form cannot send one:</p>
<pre tabindex="0">curl -H 'Authorization: Token …' -F lat=60.16986 -F lon=24.93837 -F comment=… …${path}</pre>`;
}
