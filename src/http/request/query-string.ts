export interface Pair {
  readonly name: string;
  readonly value: string;
}

const ENCODED = /[+%\x80-\xff]/;

/**
 * Form-decodes what stands after the `?` of a request target. Characters 0x80 to 0xff of `raw` are
 * bytes, which is how Node hands out a target. Bytes that are no UTF-8 become U+FFFD, an invalid
 * escape stays as it is, a name without `=` has the value ''. Never throws.
 */
export function parseQueryString(raw: string): Pair[] {
  const pairs: Pair[] = [];
  for (const field of raw.split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const [name, value] =
      equals < 0 ? [field, ''] : [field.slice(0, equals), field.slice(equals + 1)];
    pairs.push({ name: decode(name), value: decode(value) });
  }
  return pairs;
}

export function parametersOf(target: string): Pair[] {
  const mark = target.indexOf('?');
  return mark < 0 ? [] : parseQueryString(target.slice(mark + 1));
}

export function last(pairs: readonly Pair[], name: string): string | undefined {
  for (let i = pairs.length - 1; i >= 0; i--) {
    const pair = pairs[i]!;
    if (pair.name === name) return pair.value;
  }
  return undefined;
}

function decode(text: string): string {
  if (!ENCODED.test(text)) return text;
  const escaped = text.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '));
  } catch {
    // for what is no UTF-8 or no escape; takes twice as long
    return new URLSearchParams(`=${escaped}`).get('')!;
  }
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
