/**
 * Room that is left before a byte is written: for its escape, or a line break and its indentation.
 */
const SPARE_BYTES = 256;
/** Deeper levels are indented no further. */
const MAX_INDENT = SPARE_BYTES - 16;
const FIRST_BYTES = 16 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const COMMA = 0x2c;
const COLON = 0x3a;
/** `[` and `{`, `]` and `}` differ in this bit. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

const SPECIAL: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&quot;',
  '\\': '\\',
};
/** What the characters that HTML gives a meaning are written as; a backslash as itself. */
const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  const escaped = SPECIAL[character];
  return escaped === undefined ? undefined : Buffer.from(escaped);
});
/** 1 for the bytes that are not just copied. */
const IS_SPECIAL = Uint8Array.from(ESCAPES, (escaped) => (escaped === undefined ? 0 : 1));

/**
 * Writes JSON for people into an HTML page: indented by two spaces a level, and escaped. JSON is
 * taken byte by byte and never parsed, so the text shows what programs get.
 */
export class ReadableJson {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;
  #depth = 0;
  /** Whether the last byte opened an object or an array. */
  #isOpened = false;

  /** Appends HTML as it is. */
  html(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#reserve(bytes);
    this.#end += this.#buffer.write(text, this.#end);
  }

  /** Appends a stretch of JSON that ends outside of texts; the next call goes on where it ends. */
  json(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; ) {
      const byte = bytes[i++]!;
      this.#reserve(1);
      this.#outside(byte);
      if (byte === QUOTE) i = this.#text(bytes, i);
    }
  }

  /** All that was written. */
  finish(): Buffer<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#end);
  }

  /** Appends a text from behind its first quote to its last; returns where `bytes` go on. */
  #text(bytes: Uint8Array, from: number): number {
    let i = from;
    while (i < bytes.length) {
      this.#reserve(1);
      // plain bytes are nearly all there are
      const buffer = this.#buffer;
      const most = Math.min(bytes.length, i + buffer.length - this.#end - SPARE_BYTES);
      let end = this.#end;
      while (i < most && IS_SPECIAL[bytes[i]!] === 0) buffer[end++] = bytes[i++]!;
      this.#end = end;
      if (i === most) continue;
      const byte = bytes[i++]!;
      this.#put(byte);
      if (byte === QUOTE) return i;
      if (byte === BACKSLASH) this.#put(bytes[i++]!);
    }
    return i;
  }

  #put(byte: number): void {
    if (IS_SPECIAL[byte] === 0) {
      this.#buffer[this.#end++] = byte;
      return;
    }
    const escaped = ESCAPES[byte]!;
    for (let i = 0; i < escaped.length; i++) this.#buffer[this.#end++] = escaped[i]!;
  }

  /** A byte outside of texts. */
  #outside(byte: number): void {
    // white space of whoever wrote it
    if (byte <= SPACE) return;
    const kind = byte | BRACE_BIT;
    if (kind === CLOSING) this.#depth--;
    // an empty object or array is closed where it was opened
    if (this.#isOpened !== (kind === CLOSING)) this.#breakLine();
    this.#isOpened = kind === OPENING;
    this.#put(byte);
    if (kind === OPENING) this.#depth++;
    else if (byte === COMMA) this.#breakLine();
    else if (byte === COLON) this.#put(SPACE);
  }

  #breakLine(): void {
    this.#buffer[this.#end++] = NEWLINE;
    const indent = Math.min(2 * this.#depth, MAX_INDENT);
    for (let i = 0; i < indent; i++) this.#buffer[this.#end++] = SPACE;
  }

  /** Makes room for so many bytes, and {@link SPARE_BYTES} more. */
  #reserve(bytes: number): void {
    const least = this.#end + bytes + SPARE_BYTES;
    if (least <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}
