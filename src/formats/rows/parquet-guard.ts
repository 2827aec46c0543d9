import type { PageHeader } from 'hyparquet';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { viewOf } from '../../model/memory.js';
import { BrokenRows } from './row.js';

// hyparquet trusts what it reads: a count in a damaged file has it fill all memory, or loop for
// ever. Whatever says how much follows is looked at here before hyparquet gets the bytes.

/** Values of a page. Writers end pages at a mebibyte, or at some 20,000 to 1,000,000 values. */
const MAX_PAGE_VALUES = 2 ** 22;
/** By how many values packed ones may be rounded up: DuckDB writes 256 at once. */
const MAX_PADDING = 2 ** 16;
/** Bytes of a page, uncompressed: DuckDB writes up to 100 MB. */
export const MAX_PAGE_BYTES: number = 128 * 1024 * 1024;
/** Structs inside of each other: metadata have five. */
const MAX_THRIFT_DEPTH = 16;
/** Bytes of a number of 64 bits, seven bits in each. */
const MAX_VARINT_BYTES = 10;

/** Reads counts, and goes no further than the bytes do. */
export class Cursor {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new BrokenRows('a count leads behind the end');
    return byte;
  }

  /** A number of up to 64 bits; rounded where it has more than 53. */
  varint(): number {
    let value = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw new BrokenRows('a number is too long');
  }

  skip(bytes: number): void {
    this.at += bytes;
    if (this.at > this.bytes.length) throw new BrokenRows('a length leads behind the end');
  }
}

/**
 * Where the Thrift struct that begins at `from` ends. Throws where it does not end in these bytes,
 * has more than `most` fields and items, or is no struct of Parquet.
 */
export function endOfThrift(bytes: Uint8Array, from: number, most: number): number {
  const cursor = new Cursor(bytes, from);
  let left = most;
  const count = (): void => {
    if (--left < 0) throw new BrokenRows(`the metadata have more than ${most} values`);
  };

  function skipStruct(depth: number): void {
    if (depth > MAX_THRIFT_DEPTH) throw new BrokenRows('the metadata are nested too deep');
    for (let field = cursor.byte(); (field & 0x0f) !== 0; field = cursor.byte()) {
      count();
      if (field >> 4 === 0) cursor.varint();
      skipValue(field & 0x0f, depth);
    }
  }

  function skipValue(type: number, depth: number): void {
    if (type === 3) cursor.skip(1);
    else if (type >= 4 && type <= 6) cursor.varint();
    else if (type === 7) cursor.skip(8);
    else if (type === 8) cursor.skip(cursor.varint());
    else if (type === 9) skipList(depth + 1);
    else if (type === 12) skipStruct(depth + 1);
    else if (type > 2) throw new BrokenRows(`the metadata have a value of type ${type}`);
  }

  function skipList(depth: number): void {
    if (depth > MAX_THRIFT_DEPTH) throw new BrokenRows('the metadata are nested too deep');
    const head = cursor.byte();
    const size = head >> 4 === 15 ? cursor.varint() : head >> 4;
    // an item has a byte at least, also one that is true or false
    if (size > bytes.length - cursor.at) throw new BrokenRows('a list leads behind the end');
    for (let i = 0; i < size; i++) {
      count();
      skipValue(Math.max(head & 0x0f, 3), depth);
    }
  }

  skipStruct(0);
  return cursor.at;
}

/** Which levels come before the values of a column: the largest of each kind. */
export interface Levels {
  readonly repetition: number;
  readonly definition: number;
}

/** How many values a page announces. */
export function countOf(header: PageHeader): number {
  const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: words } = header;
  return (v1 ?? v2 ?? words)?.num_values ?? -1;
}

/** Throws where a page, uncompressed, has runs or counts of more than its header announces. */
export function checkPage(
  header: PageHeader,
  page: Uint8Array,
  levels: Levels,
  hasDictionary: boolean,
): void {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const count = countOf(header);
  if (!(count >= 0 && count <= MAX_PAGE_VALUES)) {
    throw new BrokenRows(`a page announces ${count} values, at most ${MAX_PAGE_VALUES} are read`);
  }
  if (header.type === 'DICTIONARY_PAGE') return;
  const { encoding } = (v1 ?? v2)!;
  const isDelta = encoding.startsWith('DELTA_');
  let at = 0;
  let given = count;
  const kinds = [
    [levels.repetition, v2?.repetition_levels_byte_length],
    [levels.definition, v2?.definition_levels_byte_length],
  ] as const;
  for (const [largest, bytes] of kinds) {
    if (v2 === undefined && largest === 0) continue;
    const from = v2 === undefined ? at + 4 : at;
    const size = bytes ?? lengthAt(page, at);
    if (!(size >= 0 && from + size <= page.length)) {
      throw new BrokenRows('the levels of a page lead behind its end');
    }
    // bits of the numbers up to the largest
    const width = 32 - Math.clz32(largest);
    if (largest > 0 && checkRuns(page, from, from + size, width, count) < count) {
      throw new BrokenRows('a page has fewer levels than values');
    }
    if (largest > 0 && isDelta && v2 === undefined) {
      const found: number[] = new Array(count);
      readRleBitPackedHybrid({ view: viewOf(page), offset: from }, width, found, size);
      // of the two kinds of levels the last one tells which values there are
      given = found.filter((level) => level === largest).length;
    }
    at = from + size;
  }
  const nulls = v2?.num_nulls ?? 0;
  if (!(nulls >= 0 && nulls <= count)) throw new BrokenRows(`a page announces ${nulls} nulls`);
  if (encoding.endsWith('_DICTIONARY')) {
    if (!hasDictionary) throw new BrokenRows('a page of references comes before its dictionary');
    if (at < page.length) checkRuns(page, at + 1, page.length, page[at]!, count);
  } else if (encoding === 'RLE') {
    checkRuns(page, at + 4, page.length, 1, count);
  } else if (isDelta) {
    checkDeltas(page, at, encoding, given - nulls);
  }
}

/** Throws where runs have more than `count` values altogether; returns how many they have. */
function checkRuns(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  count: number,
): number {
  if (width > 32) throw new BrokenRows(`a page has references of ${width} bits`);
  const cursor = new Cursor(bytes.subarray(0, to), from);
  let seen = 0;
  while (seen < count && cursor.at < to) {
    const head = cursor.varint();
    const length = Math.floor(head / 2);
    const isPacked = head % 2 === 1;
    // the last of those packed are rounded up to eight
    const values = isPacked ? 8 * length : length;
    if (values > count - seen + (isPacked ? MAX_PADDING : 0)) {
      throw new BrokenRows(`a run of ${values} values is longer than its page`);
    }
    if (!isPacked) cursor.skip((width + 7) >> 3);
    // some writers leave out the bytes of the padding
    else cursor.at += length * width;
    seen += values;
  }
  return seen;
}

/** Differences come in blocks whose size stands before them; lengths of texts are such, too. */
function checkDeltas(page: Uint8Array, from: number, encoding: string, count: number): void {
  const reader = { view: viewOf(page), offset: from };
  const lists = { DELTA_BINARY_PACKED: 0, DELTA_LENGTH_BYTE_ARRAY: 1, DELTA_BYTE_ARRAY: 2 }[
    encoding
  ];
  let sum = 0;
  for (let list = 0; list < Math.max(1, lists ?? 0); list++) {
    const cursor = new Cursor(page, reader.offset);
    const [block, parts] = [cursor.varint(), cursor.varint()];
    if (!(parts > 0 && block > 0 && block <= 65_536 && block % parts === 0)) {
      throw new BrokenRows(`a page has differences in blocks of ${block}, in ${parts} parts`);
    }
    if (lists === 0) return;
    const lengths = new Int32Array(count);
    deltaBinaryUnpack(reader, count, lengths);
    for (const length of lengths) sum += length >= 0 ? length : Number.POSITIVE_INFINITY;
  }
  if (sum > MAX_PAGE_BYTES) throw new BrokenRows(`a page has ${sum} bytes of texts`);
}

function lengthAt(page: Uint8Array, at: number): number {
  if (at + 4 > page.length) throw new BrokenRows('a page ends before its levels');
  return viewOf(page).getUint32(at, true);
}
