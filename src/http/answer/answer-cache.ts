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
/** Places at which the hashes of kept answers are counted; a power of two. */
const KEPT_SLOTS = 32_768;

/** What an answer is kept under. */
export interface AnswerKey {
  readonly text: string;
  /** The hash of the answer's address: 32 bits, without a sign. */
  readonly hash: number;
}

/**
 * Answers that were asked for more than once, bounded in bytes, of one lineage of generations at a
 * time. The first request for an answer leaves only the hash of its address: otherwise clients that
 * never repeat a request would push out the answers that others ask for again.
 */
export interface AnswerCache {
  /**
   * Whether an answer with this hash may be kept that is made from a generation of the `lineage`.
   * That is no for nearly all that is not kept, so that its key, which takes a microsecond and more
   * to make and to look up, is not needed. The cache knows generations only by their lineage's name:
   * a reference would keep their memory.
   */
  mayHave(lineage: string, hash: number): boolean;
  /** The answer that is kept under `key`, to be asked for after {@link mayHave}. */
  get(lineage: string, key: AnswerKey): Kept | undefined;
  /**
   * Whether an answer that {@link get} did not have is worth keeping, by the hash of its address:
   * the first time it is not.
   */
  wants(hash: number): boolean;
  /**
   * Keeps an answer that was made from a generation of the `lineage`, unless another one has
   * been asked for since: an answer may take long to make.
   */
  keep(lineage: string, key: AnswerKey, answer: Kept): void;
}

/** Makes a cache of at most `maxBytes`; 0 keeps nothing. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  if (maxBytes === 0) {
    return { mayHave: () => false, get: () => undefined, wants: () => false, keep: () => {} };
  }
  const counts = new Uint32Array(KEPT_SLOTS);
  const answers = new LRUCache<string, { readonly answer: Kept; readonly slot: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => answer.body.length + key.length + OVERHEAD,
    onInsert({ slot }) {
      counts[slot]!++;
    },
    dispose({ slot }) {
      counts[slot]!--;
    },
  });
  // hashes instead of keys: strings that live for thousands of requests make garbage collection
  // slow
  const seen = new Uint32Array(SEEN_SLOTS);
  let owner: string | undefined;
  return {
    mayHave(lineage, hash) {
      if (owner !== lineage) {
        answers.clear();
        seen.fill(0);
        owner = lineage;
      }
      return counts[hash & (KEPT_SLOTS - 1)]! > 0;
    },
    get: (lineage, { text }) => (lineage === owner ? answers.get(text)?.answer : undefined),
    wants(hash) {
      const slot = hash & (SEEN_SLOTS - 1);
      if (seen[slot] === hash) return true;
      seen[slot] = hash;
      return false;
    },
    keep(lineage, { text, hash }, answer) {
      if (lineage === owner) answers.set(text, { answer, slot: hash & (KEPT_SLOTS - 1) });
    },
  };
}
