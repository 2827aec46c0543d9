import type { BodyMemory } from '../formats/format.js';
import { escapeHtml, escapeText, Html } from './html.js';

/**
 * Where the values of a key lead: the address for a value, undefined for one that leads nowhere.
 */
export interface KeyLink {
  readonly key: string;
  readonly href: (value: string | number) => string | undefined;
}

const FIRST_BYTES = 64 * 1024;

/** Gathers the markup of a page in memory that is taken for it. */
export class PageWriter {
  readonly #memory: BodyMemory;
  #buffer: Buffer<ArrayBuffer>;
  #end = 0;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
    this.#buffer = memory.take(FIRST_BYTES);
  }

  /** Appends markup. */
  html({ text }: Html): void {
    // UTF-8 has at most three bytes for each UTF-16 code unit
    const least = this.#end + 3 * text.length;
    if (least > this.#buffer.length) {
      const larger = this.#memory.take(Math.max(least, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#end);
      this.#memory.give(this.#buffer);
      this.#buffer = larger;
    }
    this.#end += this.#buffer.write(text, this.#end);
  }

  /** All that was written. */
  finish(): Buffer<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#end);
  }
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
