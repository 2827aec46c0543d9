import { isUtf8 } from 'node:buffer';
import { addExtension, pack, Unpackr } from 'msgpackr';
import { RECORD_KEYS, type RecordKey, textBytes } from '../../model/point.js';
import { CANONICAL_BYTES, formatUtc } from '../../model/timestamp.js';
import { NUMBER, type RenderedPoint, TAG, takeTexts } from './canonical.js';
import { BrokenRows, MAX_RAW_BYTES, problemRow, type Row, TOO_LONG } from './row.js';

/** Where one record of so many is not as exports write them, all that follow are decoded. */
const OTHERS = 16;
const TIMESTAMP_TYPE = 0xff;
const LONGEST_ARRAY_HEADER = 5;
const REPLACEMENT = '\ufffd';
const MARK = '\ufeff';
const MARK_BYTES = Buffer.from(MARK);
/** Shorter texts are decoded otherwise, and keep their marks. */
const LONG_TEXT_BYTES = 64;

// msgpackr would make a Date, without microseconds; its extensions are those of all decoders
addExtension({ type: TIMESTAMP_TYPE, unpack: timestampText });

/**
 * Reads maps, one after the other or as one array. A MessagePack timestamp becomes ISO text.
 * A value that cannot be decoded breaks the file: nothing tells where the next one begins.
 */
export async function* readMsgpack(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  // of msgpackr's extension for records; behind one, bytes of small numbers may mean records
  const structures: object[] = [];
  const unpackr = new Unpackr({
    mapsAsObjects: true,
    int64AsType: 'number',
    structuredClone: false,
    structures,
  });
  // bytes not decoded yet, where they begin in the file, and how many to wait for
  let rest: Uint8Array[] = [];
  let size = 0;
  let position = 0;
  let enough = LONGEST_ARRAY_HEADER;
  /** All, and those that are not as exports write them. */
  let [records, others] = [0, 0];
  /** Values of the one array; infinite where values stand for themselves. */
  let expected: number | undefined;

  const broken = (reason: string): BrokenRows =>
    new BrokenRows(`broken in record ${records + 1}, at byte ${position}: ${reason}`);

  function decode(): Row[] {
    const bytes = Buffer.concat(rest);
    let done = 0;
    if (expected === undefined) [expected, done] = readArrayHeader(bytes);
    const most = expected;
    const hasMarks = bytes.includes(MARK_BYTES);
    const rows: Row[] = [];
    let failure: Error | undefined;
    const isForeign = (): boolean => OTHERS * others > records;
    const maps = isForeign() ? undefined : new ExportedMaps(bytes);
    try {
      while (done < bytes.length && records < most) {
        const point = structures.length > 0 ? undefined : maps?.read(done);
        if (point !== undefined) {
          rows.push({ place: ++records, value: point });
          done = maps!.end;
          continue;
        }
        const from = done;
        unpackr.unpackMultiple(bytes.subarray(from), (value, start = 0, end = 0) => {
          if (end <= start) throw new Error('a value ends before it begins');
          if (end - start > MAX_RAW_BYTES) throw new Error(TOO_LONG.reason);
          records += 1;
          others += 1;
          done = from + end;
          rows.push(readRow(records, value, bytes.subarray(from + start, done), hasMarks));
          return isForeign() && records < most;
        });
      }
    } catch (error) {
      failure = error as Error;
    }
    rest = [bytes.subarray(done)];
    size = bytes.length - done;
    position += done;
    // the next try waits until the bytes have doubled, which keeps the work linear
    enough = 2 * size;
    if (failure !== undefined && !('incomplete' in failure && failure.incomplete === true)) {
      throw broken(failure.message.replace(/^Invalid property type.*/, 'a key is no text'));
    }
    if (size > 0 && records === most) {
      throw new BrokenRows(`byte ${position}: nothing may follow the array of ${most} values`);
    }
    return rows;
  }

  for await (const chunk of chunks) {
    rest.push(chunk);
    size += chunk.length;
    yield size < enough && size <= MAX_RAW_BYTES ? [] : decode();
    if (size > MAX_RAW_BYTES) throw broken(TOO_LONG.reason);
  }
  yield decode();
  if (size > 0) throw broken('the file is cut short inside it');
  if (expected !== undefined && Number.isFinite(expected) && records < expected) {
    throw broken(`the file is cut short before it, its array has ${expected} values`);
  }
}

/** The number of values of the array, and the bytes of its head; [Infinity, 0] without an array. */
function readArrayHeader(bytes: Buffer): [count: number, size: number] {
  const first = bytes[0] ?? 0;
  if (first >> 4 === 0x9) return [first & 0x0f, 1];
  if (first === 0xdc && bytes.length >= 3) return [bytes.readUInt16BE(1), 3];
  if (first === 0xdd && bytes.length >= 5) return [bytes.readUInt32BE(1), 5];
  return [Number.POSITIVE_INFINITY, 0];
}

function readRow(place: number, value: unknown, bytes: Buffer, hasMarks: boolean): Row {
  // the decoder puts a replacement character where text is no UTF-8
  const replaced = countReplacements(value);
  if (replaced > 0 && bytes.toString('latin1').split('\xef\xbf\xbd').length - 1 < replaced) {
    return problemRow(place, 'is not valid UTF-8');
  }
  const isMarked = hasMarks && bytes.includes(MARK_BYTES);
  return { place, value: isMarked ? withMarks(value, bytes) : value };
}

/** Restores the byte order mark at the start of a long text, which the decoder may have dropped. */
function withMarks(value: unknown, bytes: Buffer): unknown {
  if (typeof value === 'string') {
    const packed = pack(MARK + value);
    return packed.length > LONG_TEXT_BYTES && bytes.includes(packed) ? MARK + value : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key in fields) fields[key] = withMarks(fields[key], bytes);
  return value;
}

function countReplacements(value: unknown): number {
  if (typeof value === 'string') {
    return value.includes(REPLACEMENT) ? value.split(REPLACEMENT).length - 1 : 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const one of value) count += countReplacements(one);
    return count;
  }
  for (const key in value) {
    const one = (value as Record<string, unknown>)[key];
    if (key.includes(REPLACEMENT)) count += countReplacements(key);
    // most values are texts without one, for which a call would cost more than a look
    if (typeof one !== 'string' || one.includes(REPLACEMENT)) count += countReplacements(one);
  }
  return count;
}

/** Reads seconds of 32 bits, or nanoseconds and seconds of 34 or 64 bits. */
function timestampText(data: Uint8Array): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  let seconds = Number.NaN;
  let nanoseconds = 0;
  if (bytes.length === 4) {
    seconds = bytes.readUInt32BE(0);
  } else if (bytes.length === 8) {
    nanoseconds = bytes.readUInt32BE(0) >>> 2;
    seconds = (bytes.readUInt32BE(0) & 0x3) * 2 ** 32 + bytes.readUInt32BE(4);
  } else if (bytes.length === 12) {
    nanoseconds = bytes.readUInt32BE(0);
    seconds = Number(bytes.readBigInt64BE(4));
  }
  const micros = seconds * 1e6 + Math.floor(nanoseconds / 1000);
  if (!Number.isSafeInteger(micros)) return `a timestamp of ${seconds} seconds`;
  return formatUtc(micros);
}

/** Printable ASCII without escapes in JSON. */
const [PLAIN, ESCAPED] = [/^[ !#-[\]-~]*$/, /["\\\x00-\x1f]/] as const;
const DEGREES = new RegExp(`^${NUMBER}$`);
const QUOTED_TAG = new RegExp(`^${TAG}$`);

// heads of MessagePack
const [FIXMAP, FIXARRAY, FIXSTR] = [0x80, 0x90, 0xa0] as const;
const [FALSE, TRUE, UINT_8, UINT_64, STR_8, STR_16] = [0xc2, 0xc3, 0xcc, 0xcf, 0xd9, 0xda] as const;
/** Each key of a record as MessagePack has it. */
const NAMES = Object.fromEntries(
  RECORD_KEYS.map((key) => [key, String.fromCharCode(FIXSTR + key.length) + key]),
) as Readonly<Record<RecordKey, string>>;

/** Reads maps as an export writes them, in two thirds of the time of decoder and validator. */
class ExportedMaps {
  /** Behind the map that was read last. */
  end = 0;
  /** A character a byte. */
  readonly #bytes: string;
  /** Members to come; NaN once one is not as exports write it. */
  #left = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes.toString('latin1');
  }

  /** The map that begins at `at`; undefined for what is not surely a valid record. */
  read(at: number): RenderedPoint | undefined {
    this.end = at;
    this.#left = this.#head() - FIXMAP;
    // in the order of the keys
    const texts = {
      id: this.#whole(NAMES.id),
      status: this.#text(NAMES.status),
      comment: this.#text(NAMES.comment),
      image: this.#text(NAMES.image),
      lat: this.#degrees(NAMES.lat),
      lon: this.#degrees(NAMES.lon),
      isProcessed: this.#flag(NAMES.is_processed),
      createdBy: this.#whole(NAMES.created_by),
      tags: this.#tags(NAMES.tags),
      createdAt: this.#text(NAMES.created_at),
      modifiedAt: this.#text(NAMES.modified_at),
    };
    const times = [texts.createdAt, texts.modifiedAt];
    if (this.#left !== 0 || texts.id === '' || texts.status === '') return undefined;
    if (times.some(({ length }) => length !== CANONICAL_BYTES)) return undefined;
    const modifiedAt = this.end - CANONICAL_BYTES;
    const between = NAMES.modified_at.length + 2;
    return takeTexts(texts, this.#bytes, modifiedAt - between - CANONICAL_BYTES, modifiedAt);
  }

  /** Whether a member of this name is next, whose value comes then. */
  #has(name: string): boolean {
    if (!this.#bytes.startsWith(name, this.end)) return false;
    this.end += name.length;
    this.#left--;
    return true;
  }

  #fail(): '' {
    this.#left = Number.NaN;
    return '';
  }

  #head(): number {
    return this.#bytes.charCodeAt(this.end++);
  }

  /** The bytes of a text. */
  #bytesOfText(): string {
    const head = this.#head();
    let length = head < FIXSTR + 32 ? head - FIXSTR : Number.NaN;
    if (head === STR_8) length = this.#head();
    else if (head === STR_16) length = this.#head() * 256 + this.#head();
    const text = this.#bytes.slice(this.end, this.end + length);
    this.end += length;
    return text.length === length ? text : this.#fail();
  }

  /** A text as JSON has it between its quotes. */
  #text(name: string): string {
    if (!this.#has(name)) return '';
    const text = this.#bytesOfText();
    if (PLAIN.test(text)) return text;
    const bytes = Buffer.from(text, 'latin1');
    if (text.includes('\0') || !isUtf8(bytes)) return this.#fail();
    return ESCAPED.test(text) ? textBytes(bytes.toString()) : text;
  }

  #degrees(name: string): string {
    const text = this.#has(name) ? this.#bytesOfText() : '';
    return DEGREES.test(text) ? text : this.#fail();
  }

  #whole(name: string): string {
    if (!this.#has(name)) return '';
    const head = this.#head();
    if (head < FIXMAP) return String(head);
    if (!(head >= UINT_8 && head <= UINT_64)) return this.#fail();
    let number = 0;
    for (let left = 1 << (head - UINT_8); left > 0; left--) number = number * 256 + this.#head();
    return String(number);
  }

  #flag(name: string): boolean {
    const head = this.#has(name) ? this.#head() : Number.NaN;
    if (head !== TRUE && head !== FALSE) this.#fail();
    return head === TRUE;
  }

  #tags(name: string): string {
    if (!this.#has(name)) return '';
    const count = this.#head() - FIXARRAY;
    if (!(count > 0 && count < 16)) return this.#fail();
    let tags = '';
    for (let i = 0; i < count; i++) {
      const text = this.#bytesOfText();
      const tag = `"${text}"`;
      const isText = PLAIN.test(text) || isUtf8(Buffer.from(text, 'latin1'));
      if (!isText || !QUOTED_TAG.test(tag)) return this.#fail();
      tags += i > 0 ? `,${tag}` : tag;
    }
    return tags;
  }
}
