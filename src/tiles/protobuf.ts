/** Writes the protocol buffers that tiles are made of, into memory that grows. */
export class ProtobufWriter {
  /** What is written, and room: {@link reserve} may put other memory in its place. */
  bytes: Uint8Array;
  /** Where the next byte goes. */
  end = 0;
  #words: DataView | undefined;

  /** `bytes` is what will be written, more or less: memory that grows is copied. */
  constructor(bytes: number = FIRST_BYTES) {
    // from Node's pool where it is little: fresh memory takes longer than a small tile
    this.bytes = Buffer.allocUnsafe(bytes);
  }

  /** The same memory as {@link bytes}, to be written in words. */
  get words(): DataView {
    const { buffer, byteOffset, length } = this.bytes;
    this.#words ??= new DataView(buffer, byteOffset, length);
    return this.#words;
  }

  /** What has been written. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, this.end);
  }

  /** A number that is a field of its own. */
  number(field: number, value: number): void {
    this.reserve(MOST_HEADER + MOST_VARINT);
    this.bytes[this.end++] = tagOf(field, VARINT);
    this.end = putVarint(this.bytes, this.end, value);
  }

  /** Text that is a field of its own. */
  text(field: number, value: string): void {
    const bytes = Buffer.from(value);
    this.reserve(MOST_HEADER + bytes.length);
    this.end = putHeader(this.bytes, this.end, field, bytes.length);
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, this.end + more));
    larger.set(this.finish());
    this.bytes = larger;
    this.#words = undefined;
  }
}

const FIRST_BYTES = 1_024;

/** Bytes of a number of at most 2^53. */
export const MOST_VARINT = 8;
/** Bytes of the header of a field: its number, and its length below 2^28. */
export const MOST_HEADER = 5;

export const VARINT = 0;
export const LENGTH_DELIMITED = 2;

/** The byte that a field begins with; there are 15 fields at most. */
export function tagOf(field: number, type: number): number {
  return field * 8 + type;
}

/** How many bytes a whole number from 0 to 2^53 takes. */
export function sizeOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  return value < 0x800000000 ? 5 : value < 0x40000000000 ? 6 : value < 0x2000000000000 ? 7 : 8;
}

/** Writes a whole number from 0 to 2^53; returns where it ends. There must be room for it. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  // bits are of 32-bit numbers only
  while (rest >= 0x80000000) {
    bytes[end++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/** Writes what a field of `length` bytes begins with; returns where it ends. */
export function putHeader(bytes: Uint8Array, at: number, field: number, length: number): number {
  bytes[at] = tagOf(field, LENGTH_DELIMITED);
  return putVarint(bytes, at + 1, length);
}
