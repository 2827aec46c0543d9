import { randomInt } from 'node:crypto';
import { release } from '../model/memory.js';

/** Ids below have a bit each, in 8 MiB at most: most files count from 1, and hashing takes longer. */
const LEAST_HASHED = 2 ** 26;
const WORD_BITS = 32;
const FIRST_SLOTS = 1024;
/** The share of taken slots from which slots are doubled. */
const FULL = 0.7;
/** A free slot: no id is 0. */
const FREE = 0;

/** A set of ids, whole numbers from 1 to 2^53 - 1; large ones take 11 to 23 bytes each. */
export class IdSet {
  #bits: Int32Array = new Int32Array(FIRST_SLOTS);
  #slots: Float64Array = new Float64Array(FIRST_SLOTS);
  #size = 0;
  #hashed = 0;
  // random, so that nobody can choose ids that share their slots
  readonly #seed = randomInt(2 ** 32);
  readonly #lowFactor = randomInt(2 ** 31) * 2 + 1;
  readonly #highFactor = randomInt(2 ** 31) * 2 + 1;

  get size(): number {
    return this.#size;
  }

  /** Gives the memory back; only `size` may be used afterwards. */
  forget(): void {
    release(this.#bits, this.#slots);
  }

  /** Returns false where the set has the id. */
  add(id: number): boolean {
    const isNew = id < LEAST_HASHED ? this.#mark(id) : this.#put(id);
    if (isNew) this.#size += 1;
    return isNew;
  }

  #mark(id: number): boolean {
    const word = Math.floor(id / WORD_BITS);
    while (word >= this.#bits.length) {
      const old = this.#bits;
      this.#bits = new Int32Array(2 * old.length);
      this.#bits.set(old);
      release(old);
    }
    const before = this.#bits[word]!;
    const after = before | (1 << (id % WORD_BITS));
    this.#bits[word] = after;
    return after !== before;
  }

  #put(id: number): boolean {
    const slot = this.#find(id);
    if (this.#slots[slot] === id) return false;
    this.#slots[slot] = id;
    this.#hashed += 1;
    if (this.#hashed > this.#slots.length * FULL) this.#grow();
    return true;
  }

  /** The slot of the id, or the free one where it belongs. */
  #find(id: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#hash(id) & mask;
    while (this.#slots[slot] !== FREE && this.#slots[slot] !== id) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    for (const id of old) if (id !== FREE) this.#slots[this.#find(id)] = id;
    release(old);
  }

  /** Mixes all bits of the id into the low ones, which choose the slot. */
  #hash(id: number): number {
    const high = Math.imul(Math.floor(id / 2 ** 32), this.#highFactor);
    let bits = Math.imul((id | 0) ^ high ^ this.#seed, this.#lowFactor);
    bits = Math.imul(bits ^ (bits >>> 15), 0xc2b2ae35);
    return bits ^ (bits >>> 16);
  }
}
