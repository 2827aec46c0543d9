import { LRUCache } from 'lru-cache';
import type { Hash } from '../../index/records.js';
import type { Coding } from '../request/negotiation.js';
import type { Answer } from './sender.js';
import { hashText } from './validators.js';

/** What a cached answer costs beside its body and the texts of {@link bytesOf}. */
const OVERHEAD = 1_024;
/**
 * Seconds in which a cache may be replaced once. What is kept takes fresh memory, and for each 64
 * MB of it V8 traces the whole heap, 5 ms in which nobody is answered.
 */
const REPLACED_IN_SECONDS = 10;
/** Hashes of keys that were asked for once; a power of two. */
const SEEN_SLOTS = 8_192;

export interface AnswerKey {
  readonly origin: string;
  readonly target: string;
  readonly accept: string | undefined;
  readonly coding: Coding | undefined;
  readonly hash: number;
}

/** `Hash` is that of origin and target. One string of all would take a microsecond more. */
export function answerKey(
  { low, high }: Hash,
  origin: string,
  target: string,
  accept: string | undefined,
  coding: Coding | undefined,
): AnswerKey {
  const own = hashText(accept ?? '', { low, high: high ^ CODING_HASHES[coding ?? 'none'] });
  const hash = (own.high & 0x1fffff) * 2 ** 32 + own.low;
  return { origin, target, accept, coding, hash };
}

const CODING_HASHES = { none: 0, zstd: 0x52dce729, br: 0x3c6ef372, gzip: 0x1b873593 } as const;

interface Kept {
  readonly key: AnswerKey;
  readonly answer: Answer;
}

/**
 * Bytes of all that a client can make long: the body, and texts of the request, which may have tens
 * of kB, a byte a character. The lines of an answer may have the target in them.
 */
function bytesOf({ key: { origin, target, accept = '' }, answer: { body, lines } }: Kept): number {
  return body.length + origin.length + target.length + accept.length + lines.length;
}

/**
 * Answers that were asked for more than once, bounded in bytes, of one state of the data at a time.
 * The first request for an answer leaves only the hash of its address: otherwise clients that
 * never repeat a request would push out the answers that others ask for again.
 */
export class AnswerCache {
  readonly #maxBytes: number;
  readonly #now: () => number;
  // of two keys with one hash, which hardly happens by chance, one is kept
  readonly #answers: LRUCache<number, Kept>;
  // hashes instead of keys: what lives for thousands of requests makes garbage collection slow
  readonly #seen = new Float64Array(SEEN_SLOTS);
  #state: string | undefined;
  /** Bytes that may be kept now. */
  #credit: number;
  #creditedAt: number;

  /** `maxBytes` of 0 keep nothing; `now` tells milliseconds. */
  constructor(maxBytes: number, now: () => number = () => performance.now()) {
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#credit = maxBytes;
    this.#creditedAt = now();
    this.#answers = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (kept) => bytesOf(kept) + OVERHEAD,
    });
  }

  get(state: string, key: AnswerKey): Answer | undefined {
    if (this.#state !== state) {
      this.#answers.clear();
      this.#state = state;
    }
    const kept = this.#answers.get(key.hash);
    return kept !== undefined && areEqual(kept.key, key) ? kept.answer : undefined;
  }

  /**
   * Whether to keep an answer that {@link get} did not have: not at the first request, nor while
   * answers come so fast that they would push each other out.
   */
  wants({ hash }: AnswerKey): boolean {
    const slot = hash % SEEN_SLOTS;
    if (this.#seen[slot] === hash) return this.#hasCredit();
    this.#seen[slot] = hash;
    return false;
  }

  /** Keeps an answer, unless another state than its own has been asked for since. */
  keep(state: string, key: AnswerKey, answer: Answer): void {
    if (state !== this.#state) return;
    const kept = { key, answer };
    this.#answers.set(key.hash, kept);
    this.#credit -= bytesOf(kept);
  }

  #hasCredit(): boolean {
    const time = this.#now();
    const gained = ((time - this.#creditedAt) * this.#maxBytes) / (REPLACED_IN_SECONDS * 1_000);
    this.#credit = Math.min(this.#credit + gained, this.#maxBytes);
    this.#creditedAt = time;
    return this.#credit > 0;
  }
}

function areEqual(a: AnswerKey, b: AnswerKey): boolean {
  const isSame = a.target === b.target && a.origin === b.origin;
  return isSame && a.accept === b.accept && a.coding === b.coding;
}

/** Lets requests for an answer that is being made wait for it: it is made once, not for each. */
export class Joins {
  readonly #waiting = new Map<number, (() => void)[]>();

  /** Calls `again` when the answer under the key was made; false where nobody makes it. */
  join({ hash }: AnswerKey, again: () => void): boolean {
    const others = this.#waiting.get(hash);
    others?.push(again);
    return others !== undefined;
  }

  /**
   * The answer is being made until the returned function is called. Its caller may not wait for the
   * response, which a client may take as slowly as it likes.
   */
  lead({ hash }: AnswerKey): () => void {
    const others: (() => void)[] = [];
    this.#waiting.set(hash, others);
    return () => {
      if (this.#waiting.get(hash) !== others) return;
      this.#waiting.delete(hash);
      for (const again of others) again();
    };
  }
}
