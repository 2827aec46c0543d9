import { copyBytes } from '../dataset/record-members.js';
import type { Place } from './layer.js';

/** Slots that are looked at for one text: chosen texts could otherwise make each look a long one. */
const PROBES = 8;

/**
 * Where a layer has texts that several features share, found by their bytes: to make strings of
 * them would cost more than to write them. A text whose slots are taken is not kept: it is then
 * written again for the next feature.
 */
export class SharedTexts {
  /** The places, by slot; -1 while a slot is empty. */
  readonly #places: Int32Array;
  readonly #mask: number;
  readonly #hashes: Int32Array;
  /** Where the text of each slot begins, and how long it is. */
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  #bytes: Uint8Array = Buffer.allocUnsafe(1_024);
  #end = 0;

  /** `most` is how many different texts there may be. */
  constructor(most: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * most + 1));
    this.#mask = slots - 1;
    this.#places = new Int32Array(slots).fill(-1);
    this.#hashes = new Int32Array(slots);
    this.#starts = new Int32Array(slots);
    this.#lengths = new Int32Array(slots);
  }

  /** The place of the text in bytes `from` to `to - 1`, which `write` makes where it is new. */
  placeOf(
    source: Uint8Array,
    from: number,
    to: number,
    write: (source: Uint8Array, from: number, to: number) => Place,
  ): Place {
    let hash = to - from;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ source[i]!, 0x01000193);
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = this.#places[slot]!;
      if (place < 0) return this.#keep(slot, hash, source, from, to, write(source, from, to));
      if (this.#hashes[slot] === hash && this.#is(slot, source, from, to)) return place;
      slot = (slot + 1) & this.#mask;
    }
    return write(source, from, to);
  }

  #is(slot: number, source: Uint8Array, from: number, to: number): boolean {
    if (this.#lengths[slot] !== to - from) return false;
    const bytes = this.#bytes;
    const move = this.#starts[slot]! - from;
    for (let i = from; i < to; i++) if (bytes[i + move] !== source[i]) return false;
    return true;
  }

  #keep(
    slot: number,
    hash: number,
    source: Uint8Array,
    from: number,
    to: number,
    place: Place,
  ): Place {
    const length = to - from;
    if (this.#end + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + length));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    copyBytes(source, from, to, this.#bytes, this.#end);
    this.#places[slot] = place;
    this.#hashes[slot] = hash;
    this.#starts[slot] = this.#end;
    this.#lengths[slot] = length;
    this.#end += length;
    return place;
  }
}
