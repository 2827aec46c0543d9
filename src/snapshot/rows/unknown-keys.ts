const MAX_KEYS = 100;
const MAX_KEY_LENGTH = 60;
const OTHERS = '(other keys)';

/**
 * Counts keys that records may not have; a file of ever new ones does not take ever more memory.
 */
export class UnknownKeys {
  readonly #counts = new Map<string, number>();

  add(key: string): void {
    const name = key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key;
    const isKnown = this.#counts.has(name) || this.#counts.size < MAX_KEYS;
    const slot = isKnown ? name : OTHERS;
    this.#counts.set(slot, (this.#counts.get(slot) ?? 0) + 1);
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
