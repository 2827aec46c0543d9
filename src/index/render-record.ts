import {
  BITS,
  DIGITS,
  DIGITS_BITS,
  LEAST_DEGREES,
  MOST_SHORT,
  PROCESSED,
  SAME_TIMES,
  SHORT_HEAD_BYTES,
} from '../formats/record-layout.js';
import { CANONICAL_BYTES } from '../model/timestamp.js';

// what stands between the values of a record, as two words of eight bytes, and its length in bytes
const { first: ID_1, bytes: ID_BYTES } = nameOf('{"id":');
const { first: STATUS_1, second: STATUS_2, bytes: STATUS_BYTES } = nameOf(',"status":"');
const { first: COMMENT_1, second: COMMENT_2, bytes: COMMENT_BYTES } = nameOf('","comment":"');
const { first: IMAGE_1, second: IMAGE_2, bytes: IMAGE_BYTES } = nameOf('","image":"');
const { first: LAT_1, second: LAT_2, bytes: LAT_BYTES } = nameOf('","lat":"');
const { first: LON_1, second: LON_2, bytes: LON_BYTES } = nameOf('","lon":"');
const { first: FLAG_1, second: FLAG_2, bytes: FLAG_BYTES } = nameOf(',"is_processed":');
const { first: TRUE, bytes: TRUE_BYTES } = nameOf('true');
const { first: FALSE, bytes: FALSE_BYTES } = nameOf('false');
const { first: USER_1, second: USER_2, bytes: USER_BYTES } = nameOf(',"created_by":');
const { first: TAGS_1, second: TAGS_2, bytes: TAGS_BYTES } = nameOf(',"tags":[');
const { first: CREATED_1, second: CREATED_2, bytes: CREATED_BYTES } = nameOf(',"created_at":"');
const { first: MODIFIED_1, second: MODIFIED_2, bytes: MODIFIED_BYTES } = nameOf(',"modified_at":"');

const QUOTE = 0x22;
const BRACKET_CLOSE = 0x5d;
const BRACE_CLOSE = 0x7d;

/** Bytes at which rendered records are moved to their page: so many fit the fastest cache. */
export const RENDERED_BYTES: number = 16 * 1024;
/** Of four texts that are not `LONG`, with all else that a record has. */
const RECORD_BYTES = 4 * MOST_SHORT + 1024;

const ROOM = new ArrayBuffer(RENDERED_BYTES + RECORD_BYTES);
/** Where records are rendered. */
export const RENDERED: Uint8Array = new Uint8Array(ROOM);
/**
 * The same memory by words. V8 knows the place and the size of a view that is a constant of its
 * module, and looks up both for every word of any other one: rendering takes 0.85 times as long.
 */
const target = new DataView(ROOM);

/** An object, no array: in an array with the words V8 would make the length a float, too. */
function nameOf(ascii: string): { first: number; second: number; bytes: number } {
  const words = new Float64Array(Uint8Array.from(Buffer.from(ascii.padEnd(16))).buffer);
  return { first: words[0]!, second: words[1]!, bytes: ascii.length };
}

/** Writes a name of 8 to 16 bytes; returns where it ends. */
function writeName(first: number, second: number, bytes: number, at: number): number {
  target.setFloat64(at + 8, second, true);
  target.setFloat64(at, first, true);
  return at + bytes;
}

function copyTwo(words: DataView, from: number, to: number): void {
  const second = words.getFloat64(from + 8, true);
  const first = words.getFloat64(from, true);
  target.setFloat64(to + 8, second, true);
  target.setFloat64(to, first, true);
}

/** Copies four words: all are read first, since V8 looks up `words` again behind what is written. */
function copyFour(words: DataView, from: number, to: number): void {
  const fourth = words.getFloat64(from + 24, true);
  const third = words.getFloat64(from + 16, true);
  const second = words.getFloat64(from + 8, true);
  const first = words.getFloat64(from, true);
  target.setFloat64(to + 24, fourth, true);
  target.setFloat64(to + 16, third, true);
  target.setFloat64(to + 8, second, true);
  target.setFloat64(to, first, true);
}

/**
 * Writes the stored record at byte `record` of a memory, which must not be `LONG`, as JSON to
 * {@link RENDERED} from `at` on; returns where it ends. The memory is given as bytes and as a view.
 *
 * Everything is copied in words of eight bytes: `set` and `copyWithin` copy shared memory byte by
 * byte, and need a view of each record. Words are read as floats, since integers of 64 bits are
 * objects. The last words of a value may have bytes too many, which the next value overwrites.
 * Lengths that most values have take no loop, whose end the processor would guess wrong.
 */
export function renderRecord(
  memory: Uint8Array,
  words: DataView,
  record: number,
  at: number,
): number {
  const digits = memory[record + 1]!;
  let from = record + SHORT_HEAD_BYTES;
  let end = at;
  target.setFloat64(end, ID_1, true);
  end += ID_BYTES;
  let size = digits & DIGITS;
  copyTwo(words, from, end);
  from += size;
  end += size;
  end = writeName(STATUS_1, STATUS_2, STATUS_BYTES, end);
  size = memory[record + 3]! | (memory[record + 4]! << BITS);
  copyTwo(words, from, end);
  for (let done = 16; done < size; done += 16) copyTwo(words, from + done, end + done);
  from += size;
  end += size;
  end = writeName(COMMENT_1, COMMENT_2, COMMENT_BYTES, end);
  size = memory[record + 5]! | (memory[record + 6]! << BITS);
  for (let done = 0; done < size; done += 32) copyFour(words, from + done, end + done);
  from += size;
  end += size;
  size = memory[record + 7]! | (memory[record + 8]! << BITS);
  if (size > 0) {
    end = writeName(IMAGE_1, IMAGE_2, IMAGE_BYTES, end);
    for (let done = 0; done < size; done += 32) copyFour(words, from + done, end + done);
    from += size;
    end += size;
  }
  end = writeName(LAT_1, LAT_2, LAT_BYTES, end);
  size = LEAST_DEGREES + (digits >> DIGITS_BITS);
  copyTwo(words, from, end);
  from += size;
  end += size;
  end = writeName(LON_1, LON_2, LON_BYTES, end);
  size = LEAST_DEGREES + (memory[record + 2]! >> DIGITS_BITS);
  copyTwo(words, from, end);
  from += size;
  end += size;
  return renderRest(memory, words, record, from, end);
}

/** Writes the members from `is_processed` on, apart: V8 would compile all in one with calls. */
function renderRest(
  memory: Uint8Array,
  words: DataView,
  record: number,
  at: number,
  targetAt: number,
): number {
  const flags = memory[record]!;
  let from = at;
  let end = targetAt;
  RENDERED[end++] = QUOTE;
  end = writeName(FLAG_1, FLAG_2, FLAG_BYTES, end);
  const isProcessed = (flags & PROCESSED) !== 0;
  target.setFloat64(end, isProcessed ? TRUE : FALSE, true);
  end += isProcessed ? TRUE_BYTES : FALSE_BYTES;
  let size = memory[record + 2]! & DIGITS;
  if (size > 0) {
    end = writeName(USER_1, USER_2, USER_BYTES, end);
    copyTwo(words, from, end);
    from += size;
    end += size;
  }
  size = memory[record + 9]! | (memory[record + 10]! << BITS);
  if (size > 0) {
    end = writeName(TAGS_1, TAGS_2, TAGS_BYTES, end);
    copyFour(words, from, end);
    for (let done = 32; done < size; done += 32) copyFour(words, from + done, end + done);
    from += size;
    end += size;
    RENDERED[end++] = BRACKET_CLOSE;
  }
  end = writeName(CREATED_1, CREATED_2, CREATED_BYTES, end);
  copyFour(words, from, end);
  end += CANONICAL_BYTES;
  RENDERED[end++] = QUOTE;
  end = writeName(MODIFIED_1, MODIFIED_2, MODIFIED_BYTES, end);
  const modified = flags & SAME_TIMES ? from : from + CANONICAL_BYTES;
  copyFour(words, modified, end);
  end += CANONICAL_BYTES;
  RENDERED[end] = QUOTE;
  RENDERED[end + 1] = BRACE_CLOSE;
  return end + 2;
}
