import type { PostKey, SpentKey } from '../journal/journal.js';
import { KEY_LIFETIME } from '../journal/selection.js';

/** The keys of the last 24 hours, and what each was answered with. */
export class SpentKeys {
  /** By name, the oldest first. */
  readonly #byName = new Map<string, SpentKey>();
  readonly #now: () => number;

  constructor(keys: Iterable<SpentKey>, now: () => number = Date.now) {
    this.#now = now;
    for (const key of keys) this.#byName.set(key.name, key);
  }

  get size(): number {
    return this.#byName.size;
  }

  /** What a key was spent on in the last 24 hours. */
  find(name: string): SpentKey | undefined {
    const spent = this.#byName.get(name);
    return spent !== undefined && this.#isAlive(spent) ? spent : undefined;
  }

  add({ name, body }: PostKey, record: string): void {
    for (const [old, spent] of this.#byName) {
      if (this.#isAlive(spent)) break;
      this.#byName.delete(old);
    }
    this.#byName.delete(name);
    this.#byName.set(name, { name, body, record, acceptedAt: this.#now() });
  }

  #isAlive({ acceptedAt }: SpentKey): boolean {
    return acceptedAt + KEY_LIFETIME > this.#now();
  }
}
