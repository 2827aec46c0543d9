import { inert } from '../../model/quote.js';
import { isObject, type JsonObject } from '../../model/units.js';
import {
  BOM,
  BrokenRows,
  MAX_RAW_BYTES,
  NOT_UTF8,
  type RawRecord,
  TOO_LONG,
  utf8Of,
} from './row.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_CLOSE = 0x7d;
const LINE_FEED = 0x0a;

// kinds of bytes outside of texts
const WRONG = 0;
const SPACE = 1;
const PLAIN = 2;
const OPENING = 3;
const CLOSING = 4;
const KINDS = new Uint8Array(256);
for (const [kind, bytes] of ['', ' \t\r\n', '0123456789+-.eEtrufalsn,:"', '{[', '}]'].entries()) {
  for (const byte of Buffer.from(bytes)) KINDS[byte] = kind;
}

type ListName = 'array' | 'results' | 'features';

/** What stands before a list of records, with up to some 200 bytes of white space. */
const LIST_KEY = /[{,]\s*"(results|features)"\s*:\s*$/;
const LONGEST_LIST_KEY = 256;

/**
 * Cuts a JSON document into the records of its list: an array, or the member `results` or
 * `features` of an object. A scan of the bytes finds the ends of records; `JSON.parse` checks each
 * record and the outline, which is the document without its records. Records that are too long are
 * not kept.
 */
export class JsonDocument {
  /** Undefined until the list begins. */
  list: ListName | undefined;
  /** Of the outermost object: before the list once it begins, all at the end. */
  members: JsonObject = {};
  /** Records so far, too long ones included. */
  records = 0;
  bytes = 0;
  isComplete = false;
  readonly #onRecord: (record: RawRecord) => void;
  readonly #isRecord: (line: Uint8Array) => boolean;
  /** Open brackets, and their number at the list's records; 0 outside of the list. */
  #depth = 0;
  #listDepth = 0;
  #inText = false;
  #isEscaped = false;
  /** Of the open record: its start or -1, its bytes in earlier chunks, and whether it has ended. */
  #start = -1;
  #parts: Uint8Array[] = [];
  #size = 0;
  #hasEnded = false;
  #outline = Buffer.alloc(LONGEST_LIST_KEY);
  #outlineSize = 0;

  /** Calls `onRecord` with each record; lines that `isRecord` takes as one need no scan. */
  constructor(
    onRecord: (record: RawRecord) => void,
    isRecord: (line: Uint8Array) => boolean = () => false,
  ) {
    this.#onRecord = onRecord;
    this.#isRecord = isRecord;
  }

  /** Throws {@link BrokenRows} where the bytes are no JSON. */
  write(chunk: Uint8Array): void {
    // where the rest of the record or of the outline begins
    let from = 0;
    // false from the first record that is no line: looking for line ends could take long
    let areLines = true;
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inText) {
        i = this.#endOfText(chunk, i);
        if (!this.#inText) this.#hasEnded = this.#depth === this.#listDepth;
        continue;
      }
      const byte = chunk[i]!;
      const kind = KINDS[byte];
      if (kind === SPACE) continue;
      if (kind === PLAIN && byte !== QUOTE && this.#depth > this.#listDepth) continue;
      if (this.#depth === 0 && !this.isComplete && byte === BOM[this.bytes + i]) {
        from = i + 1;
        continue;
      }
      const isStray = this.#depth === 0 && (this.isComplete || kind !== OPENING);
      if (kind === WRONG || isStray) this.#refuse(byte, this.bytes + i);
      if (this.#depth === this.#listDepth && this.#depth > 0) {
        if (byte === COMMA || byte === BRACKET_CLOSE) {
          this.#endRecord(byte, chunk.subarray(from, i), this.bytes + i);
          from = i;
          if (byte === COMMA) continue;
          this.#listDepth = 0;
        } else if (this.#start >= 0 && this.#hasEnded) this.#refuse(byte, this.bytes + i);
        else if (byte === BRACE_CLOSE) this.#refuse(byte, this.bytes + i);
        else if (this.#start < 0) {
          this.#start = this.bytes + i;
          from = i;
          const end: number = areLines ? this.#endOfLine(chunk, i) : i;
          areLines &&= end > i;
          this.#hasEnded = areLines;
          if (areLines) {
            i = end - 1;
            continue;
          }
        }
      }
      if (byte === QUOTE) this.#inText = true;
      else if (kind === OPENING) {
        this.#depth++;
        if (byte === BRACKET_OPEN && this.#depth <= 2 && this.#listDepth === 0) {
          this.#addOutline(chunk.subarray(from, i));
          from = i;
          if (this.#startsList(this.bytes + i)) {
            this.#addOutline(chunk.subarray(i, i + 1));
            this.#listDepth = this.#depth;
            this.#readOutline(']}'.slice(0, this.#depth), this.bytes + i + 1);
          }
        }
      } else if (kind === CLOSING) {
        this.#depth--;
        this.#hasEnded = this.#depth === this.#listDepth;
        if (this.#depth === 0) {
          this.#addOutline(chunk.subarray(from, i + 1));
          this.isComplete = true;
          this.#readOutline('', this.bytes + i + 1);
        }
      }
    }
    if (this.#listDepth === 0 && !this.isComplete) this.#addOutline(chunk.subarray(from));
    else if (this.#start >= 0) this.#addPart(chunk.subarray(from));
    this.bytes += chunk.length;
  }

  /** The end of the record that is the rest of the line from `at` on; `at` where it is none. */
  #endOfLine(chunk: Uint8Array, at: number): number {
    const lineEnd = chunk.indexOf(LINE_FEED, at);
    const end = chunk[lineEnd - 1] === COMMA ? lineEnd - 1 : lineEnd;
    return end > at && this.#isRecord(chunk.subarray(at, end)) ? end : at;
  }

  /** Parses the outline up to byte `position` of the document; `closing` closes its brackets. */
  #readOutline(closing: string, position: number): void {
    const outline = Buffer.concat([
      this.#outline.subarray(0, this.#outlineSize),
      Buffer.from(closing),
    ]);
    // the outline before the list was parsed when the list began: a fault stands behind the list
    const start = this.isComplete ? position - this.#outlineSize : 0;
    const value = parsePart(outline, start, this.records + 1);
    if (isObject(value)) this.members = value;
  }

  /** The place of the closing quote, or the end of the chunk. */
  #endOfText(chunk: Uint8Array, from: number): number {
    let i = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (byte === QUOTE) {
        this.#inText = false;
        return i;
      }
      if (byte < 0x20) this.#refuse(byte, this.bytes + i);
      if (byte === BACKSLASH) i++;
    }
    this.#isEscaped = i > chunk.length;
    return chunk.length;
  }

  #startsList(position: number): boolean {
    const size = this.#outlineSize;
    const before = this.#outline.toString('latin1', Math.max(0, size - LONGEST_LIST_KEY), size);
    const name = this.#depth === 1 ? 'array' : LIST_KEY.exec(before)?.[1];
    if (name === undefined) return false;
    if (this.list !== undefined) {
      throw this.#broken(position, `it has a second list of records, "${name}"`);
    }
    this.list = name as ListName;
    return true;
  }

  #addOutline(bytes: Uint8Array): void {
    const size = this.#outlineSize + bytes.length;
    if (size > MAX_RAW_BYTES) {
      throw new BrokenRows(`what it has beside its records ${TOO_LONG.reason}`);
    }
    if (size > this.#outline.length) {
      this.#outline = Buffer.concat([this.#outline], 2 * size);
    }
    this.#outline.set(bytes, this.#outlineSize);
    this.#outlineSize = size;
  }

  #addPart(part: Uint8Array): void {
    this.#size += part.length;
    if (this.#size <= MAX_RAW_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  /** Ends the record before a comma or the list's closing bracket, at `position`. */
  #endRecord(separator: number, part: Uint8Array, position: number): void {
    const start = this.#start;
    if (start < 0) {
      // a comma needs a record before it and behind it
      if (separator === COMMA || this.records > 0) this.#refuse(separator, position);
      return;
    }
    this.#addPart(part);
    const isTooLong = this.#size > MAX_RAW_BYTES;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#start = -1;
    this.records += 1;
    this.#onRecord({ place: this.records, bytes: isTooLong ? undefined : bytes, start });
  }

  #refuse(byte: number, position: number): never {
    const shown =
      byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)) : `byte 0x${byte.toString(16)}`;
    throw this.#broken(position, `Unexpected ${shown}`);
  }

  #broken(position: number, reason: string): BrokenRows {
    return broken(position, this.records + 1, reason);
  }
}

/** Parses a part of the document from byte `start` on. Throws {@link BrokenRows}. */
export function parsePart(bytes: Uint8Array, start: number, record: number): unknown {
  const text = utf8Of(bytes);
  if (text === undefined) throw broken(start, record, `it ${NOT_UTF8}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    // most messages have a position, in characters
    const [, place = 0] = /at position (\d+)/.exec(message) ?? [];
    const at = start + Buffer.byteLength(text.slice(0, Number(place)));
    throw broken(at, record, inert(message.replace(/ in JSON at position.*/s, '')));
  }
}

function broken(position: number, record: number, reason: string): BrokenRows {
  return new BrokenRows(`broken at byte ${position}, in or behind record ${record}: ${reason}`);
}
