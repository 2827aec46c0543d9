import { LRUCache } from 'lru-cache';
import type { Coverage } from './additions.js';
import type { Answer } from './sender.js';

/** An answer that is kept. */
export interface Kept extends Answer {
  /** Undefined where accepted points never belong to it. */
  readonly coverage: Coverage | undefined;
}

/** What a cached answer costs beside its body: its entry, its key and its headers. */
const OVERHEAD = 1_024;
/** Hashes of addresses that were asked for once; a power of two. */
const SEEN_SLOTS = 8_192;

/**
 * Answers that were asked for more than once, bounded in bytes, of one lineage of generations at a
 * time. The first request for an answer leaves only the hash of its address: otherwise clients that
 * never repeat a request would push out the answers that others ask for again.
 */
export interface AnswerCache {
  /**
   * The answer that is kept under `key` and made from a generation of the `lineage`. The cache
   * knows generations only by its name: a reference would keep their memory.
   */
  get(lineage: string, key: string): Kept | undefined;
  /**
   * Whether an answer that {@link get} did not have is worth keeping, by the hash of its address:
   * the first time it is not.
   */
  wants(hash: number): boolean;
  /**
   * Keeps an answer that was made from a generation of the `lineage`, unless another one has
   * been asked for since: an answer may take long to make.
   */
  keep(lineage: string, key: string, answer: Kept): void;
}

/** Makes a cache of at most `maxBytes`; 0 keeps nothing. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  if (maxBytes === 0) return { get: () => undefined, wants: () => false, keep: () => {} };
  const answers = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: (answer, key) => answer.body.length + key.length + OVERHEAD,
  });
  // hashes instead of keys: strings that live for thousands of requests make garbage collection
  // slow
  const seen = new Uint32Array(SEEN_SLOTS);
  let owner: string | undefined;
  return {
    get(lineage, key) {
      if (owner !== lineage) {
        answers.clear();
        seen.fill(0);
        owner = lineage;
      }
      return answers.get(key);
    },
    wants(hash) {
      const slot = hash & (SEEN_SLOTS - 1);
      if (seen[slot] === hash) return true;
      seen[slot] = hash;
      return false;
    },
    keep(lineage, key, answer) {
      if (lineage === owner) answers.set(key, answer);
    },
  };
}
