import { CANONICAL_BYTES } from '../model/timestamp.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const [LETTER_C, LETTER_D, LETTER_E, LETTER_I] = [0x63, 0x64, 0x65, 0x69];
const [LETTER_S, LETTER_T, LETTER_Y] = [0x73, 0x74, 0x79];

// bytes of the parts of a record that never change
const ID = '{"id":'.length;
const STATUS = ',"status":"'.length;
const LAT = ',"lat":"'.length;
const LON = '","lon":"'.length;
const IS_PROCESSED = '","is_processed":'.length;
const CREATED_BY = ',"created_by":'.length;
const TAGS = ',"tags":['.length;
const TIMES = `,"created_at":"","modified_at":""}`.length + 2 * CANONICAL_BYTES;

/**
 * Reads from a record in its rendered form what filters may ask for besides place and times, in
 * some 150 ns. The head of a record is read forwards and its end, whose last part has a fixed
 * length, backwards: so the longest part, the comment, is passed at most once. No quote in a text
 * is without a backslash before it, and no quote that opens a text has one.
 */
export class RecordAttributes {
  /** Where the status stands in the bytes, as JSON has it, without its quotes. */
  statusFrom = 0;
  statusTo = 0;
  isProcessed = false;
  hasImage = false;
  /** -1 where there is none. */
  createdBy = -1;
  /** How many tags there are; where each begins and ends in the bytes, last one first. */
  tagCount = 0;
  tagBounds: Uint32Array = new Uint32Array(32);

  /**
   * Reads the record in bytes `from` to `to - 1`. Returns false where its form is another than that
   * of a rendered record; then there are no attributes.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    this.createdBy = -1;
    this.tagCount = 0;
    let at = from + ID;
    while (isDigit(bytes[at]!)) at++;
    at += STATUS;
    if (at >= to || bytes[at - 1] !== QUOTE || bytes[at - 4] !== LETTER_S) return false;
    this.statusFrom = at;
    while (bytes[at] !== QUOTE) {
      at += bytes[at] === BACKSLASH ? 2 : 1;
      if (at >= to) return false;
    }
    this.statusTo = at;

    let end = to - TIMES;
    if (end <= at || bytes[end] !== COMMA || bytes[end + 2] !== LETTER_C) return false;
    if (bytes[end - 1] === BRACKET_CLOSE) {
      end = this.#readTags(bytes, at, end - 2);
      if (end < 0) return false;
    }
    if (isDigit(bytes[end - 1]!)) {
      end = this.#readUser(bytes, end);
      if (end <= at || bytes[end] !== COMMA) return false;
    }
    return this.#readRest(bytes, at, end);
  }

  /** Reads the tags, the last of which closes at `end`; returns where their key begins, or -1. */
  #readTags(bytes: Uint8Array, least: number, end: number): number {
    for (let close = end; ; ) {
      const open = openingQuote(bytes, least, close);
      if (open < 0) return -1;
      this.#addTag(open + 1, close);
      const before = bytes[open - 1];
      if (before === BRACKET_OPEN) return open - TAGS;
      if (before !== COMMA) return -1;
      close = open - 2;
    }
  }

  #addTag(from: number, to: number): void {
    const at = 2 * this.tagCount++;
    if (at === this.tagBounds.length) {
      const larger = new Uint32Array(2 * at);
      larger.set(this.tagBounds);
      this.tagBounds = larger;
    }
    this.tagBounds[at] = from;
    this.tagBounds[at + 1] = to;
  }

  /** Reads the user, whose last digit stands before `end`; returns where the key begins, or -1. */
  #readUser(bytes: Uint8Array, end: number): number {
    let user = 0;
    let unit = 1;
    let at = end;
    for (; isDigit(bytes[at - 1]!); at--) {
      user += unit * (bytes[at - 1]! - ZERO);
      unit *= 10;
    }
    if (bytes[at - 1] !== COLON || bytes[at - 3] !== LETTER_Y) return -1;
    this.createdBy = user;
    return at - CREATED_BY;
  }

  /** Reads what stands before the key at `end`, back to the comment. */
  #readRest(bytes: Uint8Array, least: number, end: number): boolean {
    if (bytes[end - 1] !== LETTER_E) return false;
    this.isProcessed = bytes[end - 4] === LETTER_T;
    const flag = end - (this.isProcessed ? 4 : 5);
    if (bytes[flag - 1] !== COLON || bytes[flag - 3] !== LETTER_D) return false;
    const lon = openingQuote(bytes, least, flag - IS_PROCESSED);
    if (lon < 0) return false;
    const lat = openingQuote(bytes, least, lon - LON + 1);
    if (lat < 0 || bytes[lat - 3] !== LETTER_T) return false;
    // the text before is the image, or the comment where there is none
    const text = openingQuote(bytes, least, lat - LAT);
    if (text < 0) return false;
    this.hasImage = bytes[text - 3] === LETTER_E && bytes[text - 7] === LETTER_I;
    return true;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

/** The quote that opens the text whose closing quote is at `close`, -1 where there is none. */
function openingQuote(bytes: Uint8Array, least: number, close: number): number {
  if (bytes[close] !== QUOTE) return -1;
  for (let at = close - 1; at > least; at--) {
    if (bytes[at] === QUOTE && bytes[at - 1] !== BACKSLASH) return at;
  }
  return -1;
}
