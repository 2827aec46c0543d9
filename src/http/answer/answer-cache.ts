import { LRUCache } from 'lru-cache';
import type { Answer } from './sender.js';

/** What a cached answer costs beside its body: its entry, its key and its headers. */
const OVERHEAD = 1_024;
/** Hashes of addresses that were asked for once; a power of two. */
const SEEN_SLOTS = 8_192;

/**
 * Answers that were asked for more than once, bounded in bytes, of one generation at a time. The
 * first request for an answer leaves only the hash of its address: otherwise clients that never
 * repeat a request would push out the answers that others ask for again.
 */
export interface AnswerCache {
  /**
   * The answer that is kept under `key` and made from the generation that `tag` names. The cache
   * knows a generation only by its tag: a reference would keep its memory.
   */
  get(tag: string, key: string): Answer | undefined;
  /**
   * Whether an answer that {@link get} did not have is worth keeping, by the hash of its address:
   * the first time it is not.
   */
  wants(hash: number): boolean;
  /**
   * Keeps an answer that was made from the generation that `tag` names, unless another generation has
   * been asked for since: an answer may take long to make.
   */
  keep(tag: string, key: string, answer: Answer): void;
}

/** Makes a cache of at most `maxBytes`; 0 keeps nothing. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  if (maxBytes === 0) return { get: () => undefined, wants: () => false, keep: () => {} };
  const answers = new LRUCache<string, Answer>({
    maxSize: maxBytes,
    sizeCalculation: (answer, key) => answer.body.length + key.length + OVERHEAD,
  });
  // hashes instead of keys: strings that live for thousands of requests make garbage collection
  // slow
  const seen = new Uint32Array(SEEN_SLOTS);
  let owner: string | undefined;
  return {
    get(tag, key) {
      if (owner !== tag) {
        answers.clear();
        seen.fill(0);
        owner = tag;
      }
      return answers.get(key);
    },
    wants(hash) {
      const slot = hash & (SEEN_SLOTS - 1);
      if (seen[slot] === hash) return true;
      seen[slot] = hash;
      return false;
    },
    keep(tag, key, answer) {
      if (tag === owner) answers.set(key, answer);
    },
  };
}
