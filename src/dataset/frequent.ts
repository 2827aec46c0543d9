import type { Attributes, TextAttribute } from './attributes.js';
import type { Texts } from './texts.js';

/** Texts that people are offered, and the characters of the longest one. */
const MOST = 50;
const LONGEST = 64;

/** The most frequent statuses and tags, those of each kind in ascending order. */
export interface FrequentTexts {
  readonly status: readonly string[];
  readonly tags: readonly string[];
}

const known = new WeakMap<Attributes, FrequentTexts>();

/** Finds the frequent texts when first asked for: some 10 ms for a million distinct ones. */
export function frequentTexts(attributes: Attributes): FrequentTexts {
  let found = known.get(attributes);
  if (found === undefined) {
    found = { status: mostFrequent(attributes.status), tags: mostFrequent(attributes.tags) };
    known.set(attributes, found);
  }
  return found;
}

function mostFrequent({ texts, postings: { counts } }: TextAttribute): string[] {
  // descending by count, never longer than MOST
  const best: number[] = [];
  for (let number = 0; number < counts.length; number++) {
    if (best.length === MOST && counts[number]! <= counts[best.at(-1)!]!) continue;
    const text = textOf(texts, number);
    if (text === '' || text.length > LONGEST) continue;
    const at = best.findIndex((one) => counts[one]! < counts[number]!);
    best.splice(at < 0 ? best.length : at, 0, number);
    best.length = Math.min(best.length, MOST);
  }
  return best.sort((a, b) => a - b).map((number) => textOf(texts, number));
}

function textOf({ bytes, ends }: Texts, number: number): string {
  const text = Buffer.from(bytes.subarray(number === 0 ? 0 : ends[number - 1], ends[number]));
  return JSON.parse(`"${text}"`) as string;
}
