import { createHash } from 'node:crypto';
import type { Hash } from '../../dataset/content-hash.js';
import type { Page } from '../formats/format.js';

/** The hash of whatever decides about all answers alike, such as settings. */
export function hashSettings(settings: unknown): Hash {
  const digest = createHash('sha256').update(JSON.stringify(settings)).digest();
  return { low: digest.readInt32LE(0), high: digest.readInt32LE(4) };
}

/**
 * Hashes text into two integers of 32 bits without a sign, beginning with `seed`. Two texts with
 * the same hash are as good as impossible by chance. Whoever makes them on purpose deceives only
 * himself, since a client compares the tags of one address.
 */
export function hashText(text: string, seed: Hash): Hash {
  let { low, high } = seed;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  return finish(low, high);
}

/** The hash of what a page holds, besides what its snapshot and its address decide. */
export function hashPage({ records, list }: Page): Hash {
  const { low, high } = records.hash();
  if (list === undefined) return { low, high };
  const { count, page } = list;
  return finish(Math.imul(low, 0x9e3779b1) ^ count, Math.imul(high, 0x5f356495) ^ page);
}

/** Mixes the last that came into all bits. */
function finish(first: number, second: number): Hash {
  let [low, high] = [first, second];
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return { low: low >>> 0, high: high >>> 0 };
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Two digits for each value of twelve bits: decimal digits would take three times as long. */
const DIGIT_PAIRS: readonly string[] = [...DIGITS].flatMap((first) =>
  [...DIGITS].map((second) => first + second),
);

/** Spells a hash in twelve characters that may stand in an entity tag. */
export function spellHash({ low, high }: Hash): string {
  return spell(low) + spell(high);
}

function spell(bits: number): string {
  const [first, second] = [DIGIT_PAIRS[bits & 0xfff]!, DIGIT_PAIRS[(bits >>> 12) & 0xfff]!];
  return first + second + DIGIT_PAIRS[bits >>> 24]!;
}
