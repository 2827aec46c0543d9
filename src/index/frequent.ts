import type { Attributes, TextAttribute } from './postings.js';

/** Texts that people are offered, and the characters of the longest one. */
const MOST = 50;
const LONGEST = 64;

const found = new WeakMap<TextAttribute, readonly string[]>();

/** The most frequent statuses and tags of a generation, those of each kind in ascending order. */
export function frequentTexts({ status, tags }: Attributes): {
  readonly status: readonly string[];
  readonly tags: readonly string[];
} {
  return { status: mostFrequent(status), tags: mostFrequent(tags) };
}

/** Some 50 ms for a million distinct ones when first asked for; of equals the first ones. */
function mostFrequent(attribute: TextAttribute): readonly string[] {
  const { texts, postings } = attribute;
  const known = found.get(attribute);
  if (known !== undefined) return known;
  const { counts } = postings;
  const textOf = (number: number): string => {
    const from = number === 0 ? 0 : texts.ends[number - 1];
    return JSON.parse(`"${Buffer.from(texts.bytes.subarray(from, texts.ends[number]))}"`);
  };
  const isOffered = (number: number): boolean => {
    const { length } = textOf(number);
    return length > 0 && length <= LONGEST;
  };
  const most: number[] = [];
  for (let number = 0; number < counts.length; number++) {
    const least = most.length < MOST ? 0 : counts[most.at(-1)!]!;
    if (counts[number]! <= least || !isOffered(number)) continue;
    const at = most.findIndex((other) => counts[other]! < counts[number]!);
    most.splice(at < 0 ? most.length : at, 0, number);
    most.length = Math.min(most.length, MOST);
  }
  // numbers are in the order of the texts
  const offered = most.sort((a, b) => a - b).map(textOf);
  found.set(attribute, offered);
  return offered;
}
