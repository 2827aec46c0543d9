import type { Attributes, TextAttribute } from './attributes.js';
import { type Tail, type TailRow, tailLength } from './tail.js';
import { bytesOf, numberOf, type Texts } from './texts.js';

/** Texts that people are offered, and the characters of the longest one. */
const MOST = 50;
const LONGEST = 64;

/** The most frequent statuses and tags of a state, those of each kind in ascending order. */
export interface FrequentTexts {
  readonly status: readonly string[];
  readonly tags: readonly string[];
}

/** How many rows have each text. */
type Counts = Map<string, number>;

/** What the rows of a tail up to `length` have. */
interface Posted {
  length: TailRow;
  readonly status: Counts;
  readonly tags: Counts;
}

const known = new WeakMap<TextAttribute, Counts>();
const posted = new WeakMap<Tail, Posted>();

/**
 * Finds the frequent texts of a generation and of what was posted since: some 10 ms for a million
 * distinct ones when first asked for, then 20 µs and what new rows take.
 */
export function frequentTexts(attributes: Attributes, tail: Tail | undefined): FrequentTexts {
  const more = tail && countPosted(tail);
  return {
    status: mostFrequent(attributes.status, more?.status),
    tags: mostFrequent(attributes.tags, more?.tags),
  };
}

function mostFrequent(attribute: TextAttribute, more: Counts = new Map()): string[] {
  const { texts, postings } = attribute;
  const best = known.get(attribute) ?? bestOf(attribute);
  known.set(attribute, best);
  const all = new Map(best);
  for (const [text, count] of more) {
    const number = numberOf(texts, bytesOf(text));
    all.set(text, count + (number < 0 ? 0 : postings.counts[number]!));
  }
  const byText = (a: string, b: string): number => Buffer.compare(bytesOf(a), bytesOf(b));
  const sorted = [...all].sort(([a, m], [b, n]) => n - m || byText(a, b));
  return sorted
    .slice(0, MOST)
    .map(([text]) => text)
    .sort(byText);
}

/** The most frequent texts of the snapshot; of two that are equally frequent the first one. */
function bestOf({ texts, postings: { counts } }: TextAttribute): Counts {
  const best: { text: string; count: number }[] = [];
  for (let number = 0; number < counts.length; number++) {
    const count = counts[number]!;
    if (best.length === MOST && count <= best.at(-1)!.count) continue;
    const text = textOf(texts, number);
    if (!isOffered(text)) continue;
    const at = best.findIndex((one) => one.count < count);
    best.splice(at < 0 ? best.length : at, 0, { text, count });
    best.length = Math.min(best.length, MOST);
  }
  return new Map(best.map(({ text, count }) => [text, count]));
}

/** Counts the rows that came since it was asked for before. */
function countPosted(tail: Tail): Posted {
  const found = posted.get(tail) ?? { length: 0, status: new Map(), tags: new Map() };
  posted.set(tail, found);
  const { texts, textEnds } = tail.attributes;
  for (const length = tailLength(tail); found.length < length; found.length++) {
    const row = found.length;
    const bytes = Buffer.from(texts.subarray(row === 0 ? 0 : textEnds[row - 1], textEnds[row]));
    const [status, ...tags] = bytes.toString().split('\0').map(unquoted);
    count(found.status, status!);
    for (const tag of new Set(tags)) count(found.tags, tag);
  }
  return found;
}

function count(counts: Counts, text: string): void {
  if (isOffered(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
}

function isOffered(text: string): boolean {
  return text !== '' && text.length <= LONGEST;
}

function textOf({ bytes, ends }: Texts, number: number): string {
  const from = number === 0 ? 0 : ends[number - 1];
  return unquoted(Buffer.from(bytes.subarray(from, ends[number])).toString());
}

/** The text that JSON has between its quotes. */
function unquoted(json: string): string {
  return JSON.parse(`"${json}"`) as string;
}
