import { LRUCache } from 'lru-cache';
import type { Generation } from '../live/generation.js';
import type { Answer } from './answer.js';

/** What a cached answer costs beside its body: its entry, its key and its headers. */
const OVERHEAD = 1_024;
/** Keys remembered for having been asked for once. */
const MAX_SEEN = 8_192;

/**
 * Answers that were asked for more than once, bounded in bytes, of one generation at a time. A first
 * request leaves only its key: clients that never repeat themselves would push out what others repeat.
 */
export interface AnswerCache {
  get(generation: Generation, key: string): Answer | undefined;
  /** Offers an answer that {@link get} did not have. */
  offer(key: string, answer: Answer): void;
}

/** Makes a cache of at most `maxBytes`; 0 keeps nothing. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  if (maxBytes === 0) return { get: () => undefined, offer: () => {} };
  const answers = new LRUCache<string, Answer>({
    maxSize: maxBytes,
    sizeCalculation: (answer, key) => answer.body.length + key.length + OVERHEAD,
  });
  let seen = new Set<string>();
  let owner: Generation | undefined;
  return {
    get(generation, key) {
      if (owner !== generation) {
        answers.clear();
        seen.clear();
        owner = generation;
      }
      return answers.get(key);
    },
    offer(key, answer) {
      if (seen.delete(key)) {
        answers.set(key, answer);
        return;
      }
      if (seen.size === MAX_SEEN) seen = new Set();
      seen.add(key);
    },
  };
}
