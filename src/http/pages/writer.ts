import type { BodyMemory } from '../formats/format.js';
import { escapeHtml, type Html } from './html.js';

/**
 * Where the values of a key lead: the address for a value, undefined for one that leads nowhere.
 */
export interface KeyLink {
  readonly key: string;
  readonly href: (value: string | number) => string | undefined;
}

/** Bytes that are copied at a time, and the most that each of them may become. */
const CHUNK_BYTES = 4096;
const MOST_ESCAPED = 5;
/** Room that is left before a byte is written: for a line break and its indentation. */
const SPARE_BYTES = 256;
/** Deeper levels are indented no further. */
const MAX_INDENT = SPARE_BYTES - 16;
const FIRST_BYTES = 64 * 1024;

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

/** What the characters that HTML gives a meaning between tags are written as. */
const ESCAPES: readonly (Buffer | undefined)[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return "&<>'".includes(character) ? Buffer.from(escapeHtml(character)) : undefined;
});
/** 1 for the bytes that are not just copied. */
const IS_SPECIAL = Uint8Array.from(ESCAPES, (escaped) => (escaped === undefined ? 0 : 1));

// short names, since a page has thousands: a key, a text, a number or a name such as `true`
const KEY = 0x62;
const TEXT = 0x69;
const LITERAL = 0x75;
/** Bytes of `<b>` and of `</b>`. */
const TAG_BYTES = 3;

/**
 * Writes a page: markup, and JSON for people, which is indented by two spaces a level, escaped,
 * coloured and linked. JSON is taken byte by byte and never parsed, so that the text shows what
 * programs get.
 */
export class PageWriter {
  readonly #memory: BodyMemory;
  #buffer: Buffer<ArrayBuffer>;
  #end = 0;
  #depth = 0;
  /** Whether the last byte opened an object or an array. */
  #isOpened = false;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
    this.#buffer = memory.take(FIRST_BYTES);
  }

  /** Appends markup. */
  html({ text }: Html): void {
    this.#write(text);
  }

  /** Appends a stretch of JSON that ends outside of texts; the next call goes on where it ends. */
  json(bytes: Uint8Array, links: readonly KeyLink[] = []): void {
    let link: KeyLink | undefined;
    for (let i = 0; i < bytes.length; ) {
      const byte = bytes[i]!;
      if (byte <= SPACE) {
        i++;
      } else if (isStructure(byte)) {
        this.#structure(byte);
        if (byte !== COLON) link = undefined;
        i++;
      } else {
        const end = byte === QUOTE ? endOfText(bytes, i) : endOfLiteral(bytes, i);
        const isKey = byte === QUOTE && bytes[end] === COLON;
        const href = link && !isKey ? hrefOf(link, bytes, i, end) : undefined;
        this.#value(bytes, i, end, isKey ? KEY : byte === QUOTE ? TEXT : LITERAL, href);
        link = isKey ? linkOf(links, bytes, i + 1, end - 1) : undefined;
        i = end;
      }
    }
  }

  /** All that was written. */
  finish(): Buffer<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#end);
  }

  /**
   * Appends a key, a text or a literal, which is between `from` and `to`, in a tag for its kind.
   */
  #value(bytes: Uint8Array, from: number, to: number, tag: number, href: string | undefined): void {
    this.#reserve(2 * TAG_BYTES + 1);
    if (this.#isOpened) this.#breakLine();
    this.#isOpened = false;
    if (href !== undefined) this.#write(`<a href="${escapeHtml(href)}">`);
    this.#tag(tag, false);
    for (let at = from; at < to; at += CHUNK_BYTES) {
      this.#copy(bytes, at, Math.min(to, at + CHUNK_BYTES));
    }
    this.#tag(tag, true);
    if (href !== undefined) this.#write('</a>');
  }

  #write(text: string): void {
    this.#reserve(3 * text.length);
    this.#end += this.#buffer.write(text, this.#end);
  }

  #tag(name: number, isClosing: boolean): void {
    const buffer = this.#buffer;
    buffer[this.#end++] = 0x3c;
    if (isClosing) buffer[this.#end++] = 0x2f;
    buffer[this.#end++] = name;
    buffer[this.#end++] = 0x3e;
  }

  /** Copies a few bytes and escapes them; there is room for a tag behind. */
  #copy(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(MOST_ESCAPED * (to - from));
    const buffer = this.#buffer;
    let end = this.#end;
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!;
      if (IS_SPECIAL[byte] === 0) {
        buffer[end++] = byte;
      } else {
        const escaped = ESCAPES[byte]!;
        for (let j = 0; j < escaped.length; j++) buffer[end++] = escaped[j]!;
      }
    }
    this.#end = end;
  }

  /** A brace, a bracket, a comma or a colon. */
  #structure(byte: number): void {
    this.#reserve(1);
    const kind = byte | BRACE_BIT;
    if (kind === CLOSING) this.#depth--;
    // an empty object or array is closed where it was opened
    if (this.#isOpened !== (kind === CLOSING)) this.#breakLine();
    this.#isOpened = kind === OPENING;
    this.#buffer[this.#end++] = byte;
    if (kind === OPENING) this.#depth++;
    else if (byte === COMMA) this.#breakLine();
    else if (byte === COLON) this.#buffer[this.#end++] = SPACE;
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
    const larger = this.#memory.take(Math.max(least, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#memory.give(this.#buffer);
    this.#buffer = larger;
  }
}

function isStructure(byte: number): boolean {
  const kind = byte | BRACE_BIT;
  return kind === OPENING || kind === CLOSING || byte === COMMA || byte === COLON;
}

/** Where a text ends that begins at `from` with its quote. */
function endOfText(bytes: Uint8Array, from: number): number {
  for (let i = from + 1; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i + 1;
  }
  return bytes.length;
}

/** Where a number ends, or a name such as `true`. */
function endOfLiteral(bytes: Uint8Array, from: number): number {
  let i = from;
  while (i < bytes.length && bytes[i]! > SPACE && bytes[i] !== QUOTE && !isStructure(bytes[i]!)) {
    i++;
  }
  return i;
}

function linkOf(links: readonly KeyLink[], bytes: Uint8Array, from: number, to: number) {
  return links.find(({ key }) => {
    if (key.length !== to - from) return false;
    for (let i = 0; i < key.length; i++) if (bytes[from + i] !== key.charCodeAt(i)) return false;
    return true;
  });
}

function hrefOf({ href }: KeyLink, bytes: Uint8Array, from: number, to: number) {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.subarray(from, to)).toString());
    return typeof value === 'string' || typeof value === 'number' ? href(value) : undefined;
  } catch {
    return undefined;
  }
}
