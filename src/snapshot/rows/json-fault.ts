const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Where in some bytes the grammar of JSON is broken, and how. */
export interface JsonFault {
  readonly at: number;
  readonly reason: string;
}

type Wanted = 'value' | 'item or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

const MAY_CLOSE: ReadonlySet<Wanted> = new Set(['item or ]', 'key or }', ', or end']);

/**
 * Finds the first byte that cannot be part of one JSON value: `JSON.parse` tells that there is one,
 * but not always where. Undefined when the bytes are a JSON value.
 */
export function findFault(bytes: Uint8Array): JsonFault | undefined {
  // a character a byte, so that places in the text are places in the bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const closers: string[] = [];
  let wanted: Wanted = 'value';
  let at = endOf(SPACE, text, 0);
  while (at < text.length) {
    const first = text[at]!;
    const isKey: boolean = wanted === 'key' || wanted === 'key or }';
    const isValue: boolean = wanted === 'value' || wanted === 'item or ]';
    let end = at + 1;
    if (first === closers.at(-1) && MAY_CLOSE.has(wanted)) {
      closers.pop();
      wanted = behindValue(closers);
    } else if (first === ',' && wanted === ', or end') {
      wanted = closers.at(-1) === '}' ? 'key' : 'value';
    } else if (first === ':' && wanted === ':') {
      wanted = 'value';
    } else if ((first === '{' || first === '[') && isValue) {
      closers.push(first === '{' ? '}' : ']');
      wanted = first === '{' ? 'key or }' : 'item or ]';
    } else if (first === '"' && (isValue || isKey)) {
      const behind = endOfText(text, at);
      if (typeof behind !== 'number') return behind;
      end = behind;
      wanted = isKey ? ':' : behindValue(closers);
    } else {
      end = isValue ? Math.max(endOf(NUMBER, text, at), endOf(WORD, text, at)) : at;
      if (end === at) return faultOf(bytes, at);
      wanted = behindValue(closers);
    }
    at = endOf(SPACE, text, end);
  }
  return wanted === 'nothing' ? undefined : { at, reason: 'Unexpected end' };
}

/** The fault of a byte that cannot stand where it does. */
export function faultOf(bytes: Uint8Array, at: number): JsonFault {
  const byte = bytes[at]!;
  const shown =
    byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)) : `byte 0x${byte.toString(16)}`;
  return { at, reason: `Unexpected ${shown}` };
}

function behindValue(closers: readonly string[]): Wanted {
  return closers.length === 0 ? 'nothing' : ', or end';
}

/** Where the match that begins at `from` ends; `from` itself where there is none. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}

/** Behind the closing quote of the text that opens at `from`, or what is wrong in it. */
function endOfText(text: string, from: number): number | JsonFault {
  for (let at = from + 1; at < text.length; ) {
    const character = text[at]!;
    if (character === '"') return at + 1;
    if (character < ' ') return { at, reason: `Unexpected ${JSON.stringify(character)}` };
    const end = character === '\\' ? endOf(ESCAPE, text, at) : at + 1;
    if (end === at) return { at, reason: 'Unexpected escape' };
    at = end;
  }
  return { at: text.length, reason: 'Unexpected end' };
}
