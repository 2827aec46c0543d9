export const MAX_POINTS: number = 2 ** 30;
export const MAX_SEED: number = Number.MAX_SAFE_INTEGER;

/** Streams of different purposes share nothing. */
const PURPOSES = ['point', 'id', 'other'] as const;
type Purpose = (typeof PURPOSES)[number];

const TWO_32 = 4_294_967_296;

/**
 * Seeded random numbers: the generator sfc32 over 32-bit integers. Only whole numbers, + and × go
 * into every value, so that the same seed gives the same numbers on every platform.
 */
export class Random {
  readonly #seedLow: number;
  readonly #seedHigh: number;
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  /** `seed` is a whole number from 0 to MAX_SEED. */
  constructor(seed: number, purpose: Purpose) {
    this.#seedLow = seed | 0;
    // a seed has 53 bits: the upper eleven of the high word are free for the purpose
    this.#seedHigh = Math.floor(seed / TWO_32) | (PURPOSES.indexOf(purpose) << 21);
    this.restart(0);
  }

  /** Goes to the start of one of 2^32 streams: record `i` needs none of the records before it. */
  restart(stream: number): void {
    this.#a = this.#seedLow;
    this.#b = this.#seedHigh;
    this.#c = stream | 0;
    this.#counter = 1;
    // neighbouring streams start from nearly equal states; a dozen rounds part them
    for (let round = 0; round < 12; round++) this.bits();
  }

  bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  next(): number {
    return this.bits() / TWO_32;
  }

  /** A whole number from 0 up to, not including, `limit`, which is at most 2^32. */
  int(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /**
   * Bell-shaped around 0 with a standard deviation of 1, never beyond ±3.47: the sum of four even
   * ones, because `Math.log` and `Math.cos` may differ by a bit between platforms.
   */
  gaussian(): number {
    return (this.next() + this.next() + this.next() + this.next() - 2) * Math.sqrt(3);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)]!;
  }

  /** An index, each as likely as its weight in the table that {@link cumulative} made. */
  weighted(table: readonly number[]): number {
    const target = this.next() * table[table.length - 1]!;
    let low = 0;
    let high = table.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table[middle]! > target) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** The running sums of `weights`, which are not negative and not all zero. */
export function cumulative(weights: readonly number[]): number[] {
  let sum = 0;
  return weights.map((weight) => (sum += weight));
}

/** Makes a seeded order of 0 … size - 1, without a table; `size` is 1 to 2^30. */
export function permutation(seed: number, size: number): (index: number) => number {
  const random = new Random(seed, 'id');
  const bits = 32 - Math.clz32(size - 1);
  const mask = 2 ** bits - 1;
  const shift = Math.max(1, bits >> 1);
  const keys = Array.from({ length: 8 }, () => random.bits());
  return (index) => {
    let value = index;
    // mixing permutes the next power of two: values beyond the size are mixed again
    do {
      // each step can be undone within the mask: an odd factor, a sum, a shifted xor
      for (let round = 0; round < keys.length; round += 2) {
        value = (Math.imul(value, keys[round]! | 1) + keys[round + 1]!) & mask;
        value ^= value >>> shift;
      }
    } while (value >= size);
    return value;
  };
}
