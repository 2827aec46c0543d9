const BACKSLASH = 0x5c;
const BACKSLASHES = 0x5c5c5c5c;
const LETTER_U = 0x75;
/** Bytes of `\u` and its four digits. */
const UNIT_BYTES = 6;
const REPLACEMENT = 0xfffd;

/** What a letter behind a backslash stands for; 0 where it stands for itself. */
const CONTROLS = new Uint8Array(256);
for (const [letter, code] of Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13 })) {
  CONTROLS[letter.charCodeAt(0)] = code;
}

/**
 * Copies the text between the quotes of a JSON string, bytes `from` to `to - 1`, to `target` from
 * `at` on, as UTF-8 without escapes; returns where it ends. It takes no more bytes than it has in
 * JSON. Halves of surrogate pairs that stand alone become U+FFFD, as everywhere in Node.
 */
export function copyJsonText(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  let end = at;
  for (let next = from; next < to; ) {
    const byte = source[next++]!;
    if (byte !== BACKSLASH) {
      target[end++] = byte;
      continue;
    }
    const escaped = source[next++]!;
    if (escaped !== LETTER_U) {
      target[end++] = CONTROLS[escaped]! || escaped;
      continue;
    }
    let code = unitAt(source, next - 2, to);
    next += UNIT_BYTES - 2;
    if (isHigh(code)) {
      const low = unitAt(source, next, to);
      const isPair = low >= 0xdc00 && low < 0xe000;
      code = isPair ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT;
      if (isPair) next += UNIT_BYTES;
    } else if (code < 0 || (code >= 0xdc00 && code < 0xe000)) code = REPLACEMENT;
    end = putCode(code, target, end);
  }
  return end;
}

/** Bytes that are copied at a time. */
export const WORD = 4;

/**
 * Copies text by words, from byte `from` on, up to the word that has its first backslash; returns
 * where it stopped, which is `to` where there is none. It reads and writes up to a word too much.
 */
export function copyPlainWords(
  source: DataView,
  from: number,
  to: number,
  target: DataView,
  at: number,
): number {
  const move = at - from;
  for (let next = from; next < to; next += WORD) {
    const word = source.getInt32(next, true);
    // a backslash becomes 0, of which to subtract 1 sets the uppermost bit
    const odd = word ^ BACKSLASHES;
    if (((odd - 0x01010101) & ~odd & 0x80808080) !== 0) return next;
    target.setInt32(next + move, word, true);
  }
  return to;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** The code unit that `\u` and four digits at `at` stand for; -1 where no such escape is. */
function unitAt(source: Uint8Array, at: number, to: number): number {
  if (at + UNIT_BYTES > to || source[at] !== BACKSLASH || source[at + 1] !== LETTER_U) return -1;
  let code = 0;
  for (let i = at + 2; i < at + UNIT_BYTES; i++) code = code * 16 + digitOf(source[i]!);
  return code;
}

/** The value of a hexadecimal digit. */
function digitOf(byte: number): number {
  return (byte & 0xf) + (byte > 0x39 ? 9 : 0);
}

/** Writes a character as UTF-8; returns where it ends. */
function putCode(code: number, target: Uint8Array, at: number): number {
  let end = at;
  if (code < 0x80) {
    target[end++] = code;
    return end;
  }
  if (code < 0x800) target[end++] = 0xc0 | (code >>> 6);
  else {
    if (code < 0x10000) target[end++] = 0xe0 | (code >>> 12);
    else {
      target[end++] = 0xf0 | (code >>> 18);
      target[end++] = 0x80 | ((code >>> 12) & 0x3f);
    }
    target[end++] = 0x80 | ((code >>> 6) & 0x3f);
  }
  target[end++] = 0x80 | (code & 0x3f);
  return end;
}
