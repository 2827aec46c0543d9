import {
  createMemberPlaces,
  findMembers,
  isRendered,
  memberOf,
  valueStart,
} from './record-layout.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LETTER_T = 0x74;
const ZERO = 0x30;

const STATUS = memberOf('status');
const IMAGE = memberOf('image');
const IS_PROCESSED = memberOf('is_processed');
const CREATED_BY = memberOf('created_by');
const TAGS = memberOf('tags');

/**
 * Reads from a record in its rendered form what filters may ask for besides place and times, in
 * some 300 ns.
 */
export class RecordAttributes {
  /** Where the status stands in the bytes, as JSON has it, without its quotes. */
  statusFrom = 0;
  statusTo = 0;
  isProcessed = false;
  hasImage = false;
  /** -1 where there is none. */
  createdBy = -1;
  /** How many tags there are; where each begins and ends in the bytes, without its quotes. */
  tagCount = 0;
  tagBounds: Uint32Array = new Uint32Array(32);
  readonly #places = createMemberPlaces();

  /**
   * Reads the record in bytes `from` to `to - 1`. Returns false where its form is another than that
   * of a rendered record; then there are no attributes.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    const places = this.#places;
    this.createdBy = -1;
    this.tagCount = 0;
    findMembers(bytes, places, undefined, from, to);
    if (!isRendered(bytes, places, to)) return false;
    this.statusFrom = valueStart(places, STATUS) + 1;
    this.statusTo = places[2 * STATUS + 1]! - 1;
    this.hasImage = places[2 * IMAGE + 1]! > 0;
    this.isProcessed = bytes[valueStart(places, IS_PROCESSED)] === LETTER_T;
    const userTo = places[2 * CREATED_BY + 1]!;
    if (userTo > 0) {
      this.createdBy = 0;
      for (let at = valueStart(places, CREATED_BY); at < userTo; at++) {
        this.createdBy = this.createdBy * 10 + (bytes[at]! - ZERO);
      }
    }
    const tagsTo = places[2 * TAGS + 1]!;
    return tagsTo === 0 || this.#readTags(bytes, valueStart(places, TAGS) + 1, tagsTo - 1);
  }

  /** Reads the texts between the brackets of a list; false where there is anything else. */
  #readTags(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      if (bytes[at] !== QUOTE || (at > from && bytes[at - 1] !== COMMA)) return false;
      const start = at + 1;
      for (at = start; at < to && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      if (at >= to) return false;
      this.#addTag(start, at++);
    }
    return true;
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
}
