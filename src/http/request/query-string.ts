export interface Pair {
  readonly name: string;
  readonly value: string;
}

const AMPERSAND = 0x26;
const PLUS = 0x2b;
const PERCENT = 0x25;
const EQUALS = 0x3d;

const ASCII = /^[\0-\x7f]*$/;

/**
 * Form-decodes what stands after the `?` of a request target. Characters 0x80 to 0xff of `raw` are
 * bytes, which is how Node hands out a target. Bytes that are no UTF-8 become U+FFFD, an invalid
 * escape stays as it is, a name without `=` has the value ''. Never throws.
 */
export function parseQueryString(raw: string): Pair[] {
  const pairs: Pair[] = [];
  const end = raw.length;
  let start = 0;
  let equals = -1;
  let encoded = false;
  for (let i = 0; i <= end; i++) {
    const code = i < end ? raw.charCodeAt(i) : AMPERSAND;
    if (code === AMPERSAND) {
      if (i > start) {
        let name = raw.slice(start, equals < 0 ? i : equals);
        let value = equals < 0 ? '' : raw.slice(equals + 1, i);
        if (encoded) {
          name = decode(name);
          value = decode(value);
        }
        pairs.push({ name, value });
      }
      start = i + 1;
      equals = -1;
      encoded = false;
    } else if (code === EQUALS) {
      if (equals < 0) equals = i;
    } else if (code === PERCENT || code === PLUS || code >= 0x80) {
      encoded = true;
    }
  }
  return pairs;
}

export function last(pairs: readonly Pair[], name: string): string | undefined {
  for (let i = pairs.length - 1; i >= 0; i--) {
    const pair = pairs[i]!;
    if (pair.name === name) return pair.value;
  }
  return undefined;
}

function decode(text: string): string {
  if (ASCII.test(text)) {
    try {
      return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);
    } catch {
      // what is no UTF-8, or no escape, takes twice as long
    }
  }
  const escaped = text.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  return new URLSearchParams(`=${escaped}`).get('')!;
}

/** Splits at commas. `\,` and `\\` are a comma and a backslash that belong to a value. */
export function splitList(list: string): string[] {
  if (!list.includes('\\')) return list.split(',');
  const values: string[] = [];
  let value = '';
  for (let at = 0; at < list.length; at++) {
    if (list[at] === ',') {
      values.push(value);
      value = '';
      continue;
    }
    const isEscape = list[at] === '\\' && (list[at + 1] === '\\' || list[at + 1] === ',');
    value += list[isEscape ? ++at : at];
  }
  return [...values, value];
}

/** Writes values as a list that {@link splitList} splits into the same values. */
export function joinList(values: readonly string[]): string {
  return values.map((value) => value.replaceAll(/[\\,]/g, '\\$&')).join(',');
}
