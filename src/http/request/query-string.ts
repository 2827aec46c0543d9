/** One parameter of a query string, decoded. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

const AMPERSAND = 0x26;
const PLUS = 0x2b;
const PERCENT = 0x25;
const EQUALS = 0x3d;

// a byte order mark is text like any other
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

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

/** The value of the last parameter called `name`. */
export function last(pairs: readonly Pair[], name: string): string | undefined {
  for (let i = pairs.length - 1; i >= 0; i--) {
    const pair = pairs[i]!;
    if (pair.name === name) return pair.value;
  }
  return undefined;
}

function decode(text: string): string {
  let out = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === PLUS) {
      out += `${text.slice(from, i)} `;
      from = i + 1;
    } else if (code === PERCENT) {
      const byte = escapedByte(text, i);
      if (byte < 0) continue;
      if (byte >= 0x80) return decodeBytes(text);
      out += text.slice(from, i) + String.fromCharCode(byte);
      i += 2;
      from = i + 1;
    } else if (code >= 0x80) {
      return decodeBytes(text);
    }
  }
  return from === 0 ? text : out + text.slice(from);
}

function decodeBytes(text: string): string {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    let byte = text.charCodeAt(i);
    if (byte === PLUS) {
      byte = 0x20;
    } else if (byte === PERCENT) {
      const escaped = escapedByte(text, i);
      if (escaped >= 0) {
        byte = escaped;
        i += 2;
      }
    }
    bytes[length++] = byte;
  }
  return utf8.decode(bytes.subarray(0, length));
}

/** The byte that the escape at `at` stands for; negative where there is none. */
function escapedByte(text: string, at: number): number {
  if (at + 2 >= text.length) return -1;
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
