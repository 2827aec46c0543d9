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

/** Nothing at all. */
export const NOTHING: Html = new Html('');

/** The text with every character escaped that HTML gives a meaning. */
export function escapeHtml(text: string): string {
  return SPECIAL.test(text) ? text.replace(ALL_SPECIAL, (character) => ESCAPES[character]!) : text;
}

/** The text escaped for an element, where quotes around thousands of texts need no escape. */
export function escapeText(text: string): string {
  return IN_ELEMENT.test(text) ? escapeHtml(text).replaceAll('&quot;', '"') : text;
}

function textOf(value: Value): string {
  if (typeof value === 'string') return escapeHtml(value);
  if (value instanceof Html) return value.text;
  if (value === undefined || value === false) return '';
  if (typeof value === 'number') return String(value);
  return value.map(textOf).join('');
}
