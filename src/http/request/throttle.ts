import { HttpError } from './http-error.js';

/** Numbers in memory that all threads share, where a throttle counts. */
export type ThrottleMemory = Float64Array;

/** Lets each client do something so many times a minute. */
export interface Throttle {
  /**
   * Counts one more for a client. Throws a 429 HttpError that says when the client may try again,
   * where it has had its share.
   */
  take(client: string): void;
}

/**
 * Slots of the memory. Each client has two of them, picked by hashes with a secret seed, and is
 * throttled when both say so: two clients hinder each other only where both of their slots are the
 * same.
 */
const SLOTS = 1 << 17;
/** In front of the slots: the two seeds. */
const SEEDS = 2;
const MINUTE_MS = 60_000;
/** More than sums of times are wrong by. */
const ROUNDING_MS = 0.01;

/** How many numbers a {@link ThrottleMemory} has. */
export const THROTTLE_NUMBERS: number = SEEDS + SLOTS;

/** Gives new memory its seeds: two random numbers of 32 bits. */
export function seedThrottle(memory: ThrottleMemory, first: number, second: number): void {
  memory[0] = first;
  memory[1] = second;
}

/**
 * Makes a throttle of `perMinute` for each client; 0 never throttles. Whoever was quiet for a
 * minute has all of it at once, and gets it back evenly. `now` tells milliseconds on a clock that
 * all threads share and that never goes back.
 */
export function createThrottle(
  memory: ThrottleMemory,
  perMinute: number,
  now: () => number,
): Throttle {
  if (perMinute === 0) return { take: () => {} };
  const cost = MINUTE_MS / perMinute;

  // a slot holds the time at which all that was taken is given back
  const debtOf = (slot: number, time: number): number => Math.max(0, memory[slot]! - time);

  return {
    take(client) {
      const time = now();
      const first = SEEDS + (hash(client, memory[0]!) & (SLOTS - 1));
      const second = SEEDS + (hash(client, memory[1]!) & (SLOTS - 1));
      const debt = Math.min(debtOf(first, time), debtOf(second, time));
      if (debt + cost > MINUTE_MS + ROUNDING_MS) {
        throw throttled(Math.ceil((debt + cost - MINUTE_MS) / 1000));
      }
      // a lost update between two threads lets one more through, and nothing worse
      const until = time + debt + cost;
      for (const slot of [first, second]) memory[slot] = Math.max(memory[slot]!, until);
    },
  };
}

export function throttled(seconds: number): HttpError {
  const detail = `Request was throttled. Expected available in ${seconds} seconds.`;
  return new HttpError(429, { detail }, { 'Retry-After': String(seconds) });
}

function hash(text: string, seed: number): number {
  let state = seed | 0;
  for (let i = 0; i < text.length; i++) {
    state = Math.imul(state ^ text.charCodeAt(i), 0x9e3779b1);
    state ^= state >>> 15;
  }
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}
