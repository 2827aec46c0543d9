/** Slots of the cache; a power of two. */
const SLOTS = 1_024;

/**
 * Numbers texts while records are read. Most texts are among few, so a cache compares bytes first:
 * a look into the map needs a string, which takes some 100 ns to make.
 */
export class TextNumbers {
  /** The number of each text, whose bytes stand for its characters. */
  readonly #numbers = new Map<string, number>();
  /** All texts, by number, and where each ends. */
  #bytes: Buffer = Buffer.alloc(4_096);
  #ends: number[] = [];
  /** Of each slot the number of the text in it, -1 while it is empty. */
  readonly #slots = new Int32Array(SLOTS).fill(-1);

  /** The number of the text in bytes `from` to `to - 1`, in the order in which texts are met. */
  add(source: Buffer, from: number, to: number): number {
    const length = to - from;
    const middle = source[from + (length >>> 1)]! * 61;
    const slot = (length + source[from]! * 7 + middle + source[to - 1]! * 17) & (SLOTS - 1);
    const cached = this.#slots[slot]!;
    if (cached >= 0 && this.#is(cached, source, from, length)) return cached;

    const key = source.toString('latin1', from, to);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(key, number);
      this.#keep(key);
    }
    this.#slots[slot] = number;
    return number;
  }

  #is(number: number, source: Buffer, from: number, length: number): boolean {
    const start = number === 0 ? 0 : this.#ends[number - 1]!;
    if (this.#ends[number]! - start !== length) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== source[from + i]) return false;
    return true;
  }

  #keep(key: string): void {
    const start = this.#ends.at(-1) ?? 0;
    if (start + key.length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(start + key.length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#bytes.write(key, start, 'latin1');
    this.#ends.push(start + key.length);
  }

  /** The same for a text of its own. */
  addText(text: string): number {
    const bytes = Buffer.from(text);
    return this.add(bytes, 0, bytes.length);
  }

  /** The texts by number; the characters of each stand for its bytes. */
  keys(): string[] {
    return [...this.#numbers.keys()];
  }
}
