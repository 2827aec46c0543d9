/** Markup that is safe to send: made by {@link html}, or of escaped texts. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text, which is escaped; markup; nothing; several of these. */
type Value = string | number | Html | undefined | false | readonly Value[];

const SPECIAL = /[&<>"']/;
const IN_ELEMENT = /[&<>']/;
const ALL_SPECIAL = /[&<>"']/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Makes markup of a template. Every text in it is escaped, so that it shows as text in an element
 * and in an attribute with quotes. Texts must not stand elsewhere: in a tag, a script or a style.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0]!;
  for (let i = 0; i < values.length; i++) text += textOf(values[i]) + strings[i + 1]!;
  return new Html(text);
}

export const NOTHING: Html = new Html('');

export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(ALL_SPECIAL, (character) => ESCAPES[character]!) : text;
}

/** Leaves quotes as they are, which need no escape in an element: a page has thousands. */
function escapeText(text: string): string {
  return IN_ELEMENT.test(text) ? escapeHtml(text).replaceAll('&quot;', '"') : text;
}

function textOf(value: Value): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (value instanceof Html) return value.text;
  if (value === undefined || value === false) return '';
  if (typeof value === 'number') return String(value);
  return value.map(textOf).join('');
}

/** Where the values of a key lead; undefined for one that leads nowhere. */
export interface KeyLink {
  readonly key: string;
  readonly href: (value: unknown) => string | undefined;
}

/** A key with its colon, another text, a number or a name. */
const JSON_PART = /("[^"\\]*(?:\\.[^"\\]*)*")(:)?|[^\s[\]{},:"]+/g;

/** JSON as `JSON.stringify` indents it, with a tag for the kind of each part, and links. */
export function readableJson(json: string, links: readonly KeyLink[] = []): Html {
  const lines = JSON.stringify(JSON.parse(json), null, 2);
  let key: string | undefined;
  let valueAt = 0;
  // short names, since a page has thousands: <b> a key, <i> a text, <u> a number or a name
  const text = lines.replace(JSON_PART, (part, quoted?: string, colon?: string, at?: number) => {
    if (colon !== undefined) {
      key = quoted;
      valueAt = at! + part.length + 1;
      return `<b>${escapeText(quoted!)}</b>:`;
    }
    const shown = quoted === undefined ? `<u>${part}</u>` : `<i>${escapeText(part)}</i>`;
    const link = at === valueAt ? links.find((one) => `"${one.key}"` === key) : undefined;
    const href = link?.href(JSON.parse(part));
    return href === undefined ? shown : `<a href="${escapeHtml(href)}">${shown}</a>`;
  });
  return new Html(text);
}
