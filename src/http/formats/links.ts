import type { Pair } from '../request/query-string.js';

/** Absolute URLs of the neighbouring pages. */
export interface PageLinks {
  readonly next: string | null;
  readonly previous: string | null;
}

/**
 * Links to the neighbours of page `page` of `pageCount` under `base`, which is scheme, authority
 * and path. They carry every parameter, sorted by name, with `page` replaced; page 1 goes without.
 */
export function pageLinks(
  base: string,
  pairs: readonly Pair[],
  page: number,
  pageCount: number,
): PageLinks {
  const hasNext = page < pageCount;
  if (!hasNext && page <= 1) return { next: null, previous: null };
  const link = pageLinker(base, pairs);
  return { next: hasNext ? link(page + 1) : null, previous: page > 1 ? link(page - 1) : null };
}

/** Makes the links to pages by their number, as {@link pageLinks} has them. */
export function pageLinker(base: string, pairs: readonly Pair[]): (page: number) => string {
  const others = pairs.filter((pair) => pair.name !== 'page');
  if (others.length > 1) others.sort(byName);
  // `page` has its place among the others, and all links share what stands around it
  let before = '';
  let after = '';
  for (const pair of others) {
    const field = fieldOf(pair);
    if (after === '' && compareCodePoints(pair.name, 'page') < 0) before += `${field}&`;
    else after += `&${field}`;
  }
  return (page) => {
    if (page > 1) return `${base}?${before}page=${page}${after}`;
    const query = before === '' ? after.slice(1) : before.slice(0, -1) + after;
    return query === '' ? base : `${base}?${query}`;
  };
}

/** A query string of these parameters, in their order. */
export function queryString(pairs: readonly Pair[]): string {
  return pairs.map(fieldOf).join('&');
}

/** The link to the very page, with every parameter sorted by name. */
export function selfLink(base: string, pairs: readonly Pair[]): string {
  const query = queryString(pairs.toSorted(byName));
  return query === '' ? base : `${base}?${query}`;
}

function fieldOf({ name, value }: Pair): string {
  return `${encode(name)}=${encode(value)}`;
}

function byName(a: Pair, b: Pair): number {
  return compareCodePoints(a.name, b.name);
}

function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

const UNSAFE = /[^\w.~-]/;

/** What a byte is written as: nothing here means as it is. */
const ESCAPES: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x20) return '+';
  const isSafe = byte < 0x80 && !UNSAFE.test(String.fromCharCode(byte));
  return isSafe ? '' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** Form-encodes; only letters, digits and `_ . - ~` stay as they are. */
function encode(text: string): string {
  if (!UNSAFE.test(text)) return text;
  let out = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return encodeBytes(text);
    const escaped = ESCAPES[code]!;
    if (escaped !== '') {
      out += text.slice(from, i) + escaped;
      from = i + 1;
    }
  }
  return out + text.slice(from);
}

function encodeBytes(text: string): string {
  let out = '';
  for (const byte of Buffer.from(text)) out += ESCAPES[byte]! || String.fromCharCode(byte);
  return out;
}
