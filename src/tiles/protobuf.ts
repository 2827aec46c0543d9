/** Writes the protocol buffers that tiles are made of, into memory that grows. */
export class ProtobufWriter {
  // from Node's pool: fresh memory takes longer than a small tile
  #bytes: Uint8Array = Buffer.allocUnsafe(FIRST_BYTES);
  #end = 0;

  /** What has been written. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    // bits are of 32-bit numbers only
    while (rest >= 0x80000000) {
      this.#bytes[this.#end++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest >= 0x80) {
      this.#bytes[this.#end++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#end++] = rest;
  }

  /** A number that is a field of its own. */
  number(field: number, value: number): void {
    this.varint(field * 8 + VARINT);
    this.varint(value);
  }

  /** Text that is a field of its own. */
  text(field: number, value: string): void {
    const bytes = Buffer.from(value);
    this.varint(field * 8 + LENGTH_DELIMITED);
    this.varint(bytes.length);
    this.append(bytes);
  }

  /** Fields that have been written elsewhere. */
  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Begins a field that has others inside; returns what {@link close} ends it by. */
  open(field: number): number {
    this.varint(field * 8 + LENGTH_DELIMITED);
    this.#reserve(1);
    return this.#end++;
  }

  /** Ends a field. One byte is kept free for its length; where that needs more, the rest moves. */
  close(start: number): void {
    const length = this.#end - start - 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
      return;
    }
    const shift = length < 0x4000 ? 1 : length < 0x200000 ? 2 : length < 0x10000000 ? 3 : 4;
    this.#reserve(shift);
    this.#bytes.copyWithin(start + 1 + shift, start + 1, this.#end);
    const end = this.#end + shift;
    this.#end = start;
    this.varint(length);
    this.#end = end;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#end + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const FIRST_BYTES = 1_024;

const VARINT = 0;
const LENGTH_DELIMITED = 2;
