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
  if (a === b) return 0;
  // surrogates stand for code points above every other unit, as their bytes do
  if (ASCII.test(a) && ASCII.test(b)) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const ASCII = /^[\0-\x7f]*$/;
const UNSAFE = /[^\w.~-]/;
/** What forms have otherwise than URLs. */
const OTHERWISE = /%20|[!'()*]/;

/** Form-encodes; only letters, digits and `_ . - ~` stay as they are. */
function encode(text: string): string {
  if (!UNSAFE.test(text)) return text;
  const encoded = encodeURIComponent(text);
  if (!OTHERWISE.test(encoded)) return encoded;
  return encoded.replaceAll(/%20|[!'()*]/g, (one) =>
    one === '%20' ? '+' : `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
