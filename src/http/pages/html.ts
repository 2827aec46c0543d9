/** Markup that is safe to send: made by {@link html}, or of escaped texts. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text, which is escaped; markup; nothing; several of these. */
export type Value = string | number | Html | undefined | false | readonly Value[];

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

/** The text with every character escaped that HTML gives a meaning. */
export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(ALL_SPECIAL, (character) => ESCAPES[character]!) : text;
}

/** The text escaped for an element, where quotes around thousands of texts need no escape. */
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
  readonly href: (value: string | number) => string | undefined;
}

/**
 * JSON for people: as `JSON.stringify` indents it, with a tag for the kind of each part and links
 * behind the values of some keys. What is no JSON, which a packed file may have, shows as it is.
 * `indent` is that of the line where it begins.
 */
export function readableJson(json: string, links: readonly KeyLink[] = [], indent = ''): Html {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return new Html(escapeText(json));
  }
  return new Html(readable(value, links, `\n${indent}`));
}

// short names, since a page has thousands: <b> a key, <i> a text, <u> a number or a name
function readable(value: unknown, links: readonly KeyLink[], line: string, key?: string): string {
  if (typeof value !== 'object' || value === null) return scalar(value, links, key);
  const isList = Array.isArray(value);
  const inner = `${line}  `;
  const members = isList
    ? value.map((one) => readable(one, links, inner))
    : Object.entries(value).map(([name, one]) => {
        const label = escapeText(JSON.stringify(name));
        return `<b>${label}</b>: ${readable(one, links, inner, name)}`;
      });
  const [open, close] = isList ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  return `${open}${inner}${members.join(`,${inner}`)}${line}${close}`;
}

function scalar(value: unknown, links: readonly KeyLink[], key: string | undefined): string {
  const text = escapeText(JSON.stringify(value));
  const isText = typeof value === 'string';
  const shown = isText ? `<i>${text}</i>` : `<u>${text}</u>`;
  if (key === undefined || !(isText || typeof value === 'number')) return shown;
  const href = links.find((link) => link.key === key)?.href(value);
  return href === undefined ? shown : `<a href="${escapeHtml(href)}">${shown}</a>`;
}
