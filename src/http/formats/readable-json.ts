/** Room that is left before a byte is written: for its escape, or a line break and its indentation. */
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

/** What the characters that HTML gives a meaning are written as. */
const ESCAPES: ReadonlyMap<number, Uint8Array> = new Map(
  Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&quot;' }).map(
    ([character, escaped]) => [character.charCodeAt(0), Buffer.from(escaped)],
  ),
);
/** 1 for the bytes that {@link ESCAPES} has. */
const IS_ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => (ESCAPES.has(byte) ? 1 : 0));

/**
 * Writes JSON for people into an HTML page: indented by two spaces a level, and escaped. JSON is taken byte by
 * byte and never parsed, so the text shows what programs get.
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
    let isText = false;
    for (let i = 0; i < bytes.length; i++) {
      if (this.#buffer.length - this.#end < SPARE_BYTES) this.#reserve(SPARE_BYTES);
      const byte = bytes[i]!;
      if (!isText) {
        isText = byte === QUOTE;
        this.#outside(byte);
      } else {
        this.#put(byte);
        if (byte === BACKSLASH) this.#put(bytes[++i]!);
        else isText = byte !== QUOTE;
      }
    }
  }

  /** All that was written. */
  finish(): Buffer<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#end);
  }

  #put(byte: number): void {
    if (IS_ESCAPED[byte] === 0) {
      this.#buffer[this.#end++] = byte;
      return;
    }
    const escaped = ESCAPES.get(byte)!;
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
    this.#buffer.fill(SPACE, this.#end, this.#end + indent);
    this.#end += indent;
  }

  #reserve(bytes: number): void {
    const least = this.#end + bytes + SPARE_BYTES;
    if (least <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}
