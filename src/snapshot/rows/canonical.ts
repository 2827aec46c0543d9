import { isUtf8 } from 'node:buffer';
import { CANONICAL_BYTES, canonicalMicros } from '../../model/timestamp.js';
import { isWhole } from '../../model/whole.js';
import { MAX_RECORD_BYTES } from '../block.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COMMA = 0x2c;
const BRACKET_CLOSE = 0x5d;
const ZERO = 0x30;

/** Escapes that are the only way to write their character: `\"`, `\\`, `\n`, `\r`, `\t`. */
const ESCAPED: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\nrt'));

const ID = Buffer.from('{"id":');
const STATUS = Buffer.from(',"status":"');
const COMMENT = Buffer.from(',"comment":"');
const IMAGE = Buffer.from(',"image":"');
const LAT = Buffer.from(',"lat":"');
const LON = Buffer.from('","lon":"');
const IS_PROCESSED = Buffer.from('","is_processed":');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const CREATED_BY = Buffer.from(',"created_by":');
const TAGS = Buffer.from(',"tags":[');
const CREATED_AT = Buffer.from(',"created_at":"');
const MODIFIED_AT = Buffer.from('","modified_at":"');
const END = Buffer.from('"}');

/** Tags of more bytes may have too many characters. */
const MAX_TAG_BYTES = 64;

/** A record whose bytes are what the API renders, with the columns that they say. */
export class RenderedPoint {
  readonly bytes: Uint8Array;
  id = 0;
  lat = 0;
  lon = 0;
  createdAt = 0;
  modifiedAt = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * Reads records that are written exactly as the API renders them, as its own exports are: their
 * bytes are checked and taken as they are, for half of what `JSON.parse` alone would cost. Says
 * nothing of others, valid or not.
 */
export class CanonicalReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** What the number or text that was read last is. */
  #number = 0;
  #hasLetter = false;

  /** Undefined for what is not surely a valid record in its rendered form. */
  read(bytes: Uint8Array): RenderedPoint | undefined {
    if (bytes.length > MAX_RECORD_BYTES) return undefined;
    this.#bytes = bytes;
    this.#at = 0;
    if (!this.#skip(ID) || !this.#whole(1)) return undefined;
    const point = new RenderedPoint(bytes);
    point.id = this.#number;
    if (!this.#skip(STATUS) || this.#text() <= 0) return undefined;
    if (!this.#skip(COMMENT) || this.#text() < 0) return undefined;
    if (this.#skip(IMAGE) && this.#text() <= 0) return undefined;
    if (!this.#skip(LAT) || !this.#degrees(90)) return undefined;
    point.lat = this.#number;
    if (!this.#skip(LON) || !this.#degrees(180)) return undefined;
    point.lon = this.#number;
    if (!this.#skip(IS_PROCESSED) || !(this.#skip(TRUE) || this.#skip(FALSE))) return undefined;
    if (this.#skip(CREATED_BY) && !this.#whole(0)) return undefined;
    if (this.#skip(TAGS) && !this.#tags()) return undefined;
    if (!this.#skip(CREATED_AT) || !this.#time()) return undefined;
    point.createdAt = this.#number;
    if (!this.#skip(MODIFIED_AT) || !this.#time()) return undefined;
    point.modifiedAt = this.#number;
    if (!this.#skip(END) || this.#at !== bytes.length) return undefined;
    return isUtf8(bytes) ? point : undefined;
  }

  /** Goes behind these bytes, or stays where others stand. */
  #skip(expected: Uint8Array): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
    this.#at = at + expected.length;
    return true;
  }

  /**
   * Goes behind a text and its closing quote; the bytes of the text, or -1 where it is not surely
   * fine.
   */
  #text(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    this.#hasLetter = false;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return at - start;
      }
      if (byte < 0x20) return -1;
      if (byte === BACKSLASH) {
        at++;
        if (!ESCAPED.has(bytes[at])) return -1;
      } else if (byte > 0x20 && byte < 0x7f) {
        this.#hasLetter = true;
      }
    }
    return -1;
  }

  /** Goes behind the texts of a list, of which there is one at least, and its closing bracket. */
  #tags(): boolean {
    for (;;) {
      if (this.#bytes[this.#at] !== QUOTE) return false;
      this.#at++;
      const size = this.#text();
      // white space of other alphabets would have to be known to tell that a tag is blank
      if (size <= 0 || size > MAX_TAG_BYTES || !this.#hasLetter) return false;
      const byte = this.#bytes[this.#at++];
      if (byte === BRACKET_CLOSE) return true;
      if (byte !== COMMA) return false;
    }
  }

  #whole(least: 0 | 1): boolean {
    const start = this.#at;
    const value = this.#digits();
    const size = this.#at - start;
    this.#number = value;
    const hasZero = size > 1 && this.#bytes[start] === ZERO;
    return size > 0 && size <= 16 && !hasZero && isWhole(value, least);
  }

  /** A number with one to three digits before the point and eight behind it. */
  #degrees(limit: number): boolean {
    const isNegative = this.#bytes[this.#at] === MINUS;
    if (isNegative) this.#at++;
    const start = this.#at;
    const whole = this.#digits();
    const size = this.#at - start;
    if (size < 1 || size > 3 || (size > 1 && this.#bytes[start] === ZERO)) return false;
    if (this.#bytes[this.#at] !== POINT) return false;
    this.#at++;
    const fraction = this.#digits();
    if (this.#at - start !== size + 9) return false;
    // both numbers are exact, so their quotient is the double nearest to the text
    const value = (whole * 1e8 + fraction) / 1e8;
    this.#number = isNegative ? -value : value;
    return value <= limit;
  }

  #time(): boolean {
    this.#number = canonicalMicros(this.#bytes, this.#at);
    this.#at += CANONICAL_BYTES;
    return Number.isSafeInteger(this.#number);
  }

  /** Goes behind digits, of which there may be none. */
  #digits(): number {
    const bytes = this.#bytes;
    let value = 0;
    let at = this.#at;
    for (; at < bytes.length; at++) {
      const digit = bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    this.#at = at;
    return value;
  }
}
