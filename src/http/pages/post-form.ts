import { type Body, type FormFields, parseJsonBody } from '../request/body.js';
import { MAX_POSTED_BYTES } from '../request/post-fields.js';
import { splitList } from '../request/query-string.js';
import { field, type Problems } from './filter-form.js';
import { type Html, html } from './html.js';
import type { PostingBy, Site } from './site.js';

export type Posted = Readonly<Record<string, string>>;

/** Fields of the forms alone: tags with commas, a record as JSON, and what names the page. */
const TAGS_FIELD = '_tags';
const JSON_FIELD = '_content';
export const PAGE_FIELD = '_page';

const TAGS_HINT = 'none, one, or several with commas between them; \\, is a comma within a tag';
const EXAMPLE = '{\n  "lat": "60.16986",\n  "lon": "24.93837",\n  "comment": ""\n}';

/** The forms for a new point, of fields and of raw JSON; `page` names where they stand. */
export function postForm(
  path: string,
  { posting, hasImages }: Pick<Site, 'posting' | 'hasImages'>,
  page: string,
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
  page: string,
  posted: Posted,
  problems: Problems,
): Html {
  const raw = posted[JSON_FIELD];
  const from = html`<input type="hidden" name="${PAGE_FIELD}" value="${page}">\n`;
  // what is wrong with raw JSON is told beside it
  const [ofFields, ofJson]: [Problems, Problems] =
    raw === undefined ? [problems, {}] : [{}, problems];
  const own = (name: string, hint: string | undefined, control: (described: Html) => Html): Html =>
    field(`p-${name}`, name, control, hint, ofFields[name] ?? []);
  const text = (name: string, hint: string, from = name): Html =>
    own(
      name,
      hint,
      (described) => html`<input id="p-${name}" name="${from}"
value="${posted[from] ?? ''}"${described}>`,
    );
  const image = (described: Html): Html =>
    html`<input id="p-image" name="image" type="file" accept="image/jpeg,image/png"${described}>`;
  const comment = (described: Html): Html => html`<textarea id="p-comment" name="comment"
rows="3"${described}>\n${posted['comment'] ?? ''}</textarea>`;
  const known = new Set(['lat', 'lon', 'comment', 'tags', 'image']);
  const others = Object.entries(ofFields).filter(([name]) => !known.has(name));
  return html`<form method="post" action="${path}" enctype="multipart/form-data">
${from}${alerts(others)}
<div class="fields">
${text('lat', 'latitude in degrees, within ±90; required')}
${text('lon', 'longitude in degrees, within ±180; required')}
${text('tags', TAGS_HINT, TAGS_FIELD)}
${hasImages && own('image', 'a JPEG or PNG; none is fine', image)}
${own('comment', undefined, comment)}
</div>
<p class="buttons"><button type="submit">POST</button></p>
</form>
<details class="raw"${raw !== undefined && html` open`}>
<summary>As raw JSON</summary>
<form method="post" action="${path}">
${from}${alerts(Object.entries(ofJson))}
<div class="field"><label for="p-json">JSON</label>
<textarea id="p-json" name="${JSON_FIELD}" rows="8"
spellcheck="false">\n${raw ?? EXAMPLE}</textarea></div>
<p class="buttons"><button type="submit">POST</button></p>
</form>
</details>
`;
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
  const fields = '-F lat=60.16986 -F lon=24.93837 -F comment=…';
  return html`<p>This instance accepts points from holders of a token only, and a form cannot send
one:</p>
<pre tabindex="0">curl -H 'Authorization: Token …' ${fields} …${path}</pre>`;
}

const DECIMAL_COMMA = /^\s*([+-]?\d+),(\d+)\s*$/;
/** Fields of the forms that are shown again when something was wrong. */
const SHOWN = ['lat', 'lon', 'comment', TAGS_FIELD, JSON_FIELD, PAGE_FIELD];

/**
 * What a form of a page says, as another client would say it: raw JSON is the body itself, tags are
 * separated by commas, and `60,17` is 60.17 degrees. Throws a 400 HttpError where JSON is wrong.
 */
export function bodyOfForm(fields: FormFields): Body {
  const json = fields.get(JSON_FIELD)?.at(-1);
  if (json !== undefined) return parseJsonBody(Buffer.from(json));
  const text = fields.get(TAGS_FIELD)?.at(-1);
  if (text === undefined) return { kind: 'form', fields };
  const tags = splitList(text).filter((tag) => tag.trim() !== '');
  const own = new Map(fields);
  if (tags.length > 0) own.set('tags', tags);
  for (const name of ['lat', 'lon']) {
    const values = fields.get(name)?.map((value) => value.replace(DECIMAL_COMMA, '$1.$2'));
    if (values !== undefined) own.set(name, values);
  }
  return { kind: 'form', fields: own };
}

/** What a form said, to be shown again, but for what is longer than any record. */
export function postedOf(fields: FormFields): Posted {
  const posted: Record<string, string> = {};
  for (const name of SHOWN) {
    const value = fields.get(name)?.at(-1);
    if (value !== undefined && value.length <= MAX_POSTED_BYTES) posted[name] = value;
  }
  return posted;
}
