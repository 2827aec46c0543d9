import { createHash } from 'node:crypto';

/** One member of the list, with the commas and blanks before it. */
const MEMBER = /[\t ,]*(W\/)?("[^"]*")[\t ]*(?=,|$)/y;

/**
 * Whether an If-None-Match header names `etag`, a quoted tag, weak or strong. Compares weakly, as
 * RFC 9110 asks for it here. What follows a malformed member does not count.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || isAny(ifNoneMatch)) return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  return members(ifNoneMatch).some((member) => member.opaque === opaque);
}

/**
 * Whether an If-Match header asks for an answer of this snapshot: it names `snapshot`, with or
 * without its quotes, or `etag`, or is `*`. Compares strongly, as RFC 9110 asks for it here.
 */
export function allowsSnapshot(ifMatch: string, snapshot: string, etag: string): boolean {
  if (ifMatch === snapshot || isAny(ifMatch) || `"${ifMatch.trim()}"` === snapshot) return true;
  return members(ifMatch).some(
    ({ isWeak, opaque }) => !isWeak && (opaque === snapshot || opaque === etag),
  );
}

/** The entity tags of a list, up to one that is malformed. */
function members(list: string): { readonly isWeak: boolean; readonly opaque: string }[] {
  const found = [];
  MEMBER.lastIndex = 0;
  for (let member = MEMBER.exec(list); member; member = MEMBER.exec(list)) {
    found.push({ isWeak: member[1] !== undefined, opaque: member[2]! });
  }
  return found;
}

/** Whether the header stands for any answer there is. */
export function isAny(ifNoneMatch: string): boolean {
  return ifNoneMatch.trim() === '*';
}

/** Two hashes of 32 bits. */
export interface Hash {
  readonly low: number;
  readonly high: number;
}

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
  // the last characters are mixed into all bits
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
