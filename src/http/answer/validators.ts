import type { IncomingHttpHeaders } from 'node:http';
import type { Hash } from '../../index/records.js';
import type { State } from '../../reload/current.js';
import type { Page } from '../formats/representation.js';
import { otherState } from '../request/http-error.js';
import type { AnswerHead } from './head.js';

export type Named = Pick<State, 'name' | 'snapshot'>;

/** One member of a list of entity tags, with the commas and blanks before it. */
const MEMBER = /[\t ,]*(W\/)?("[^"]*")[\t ]*(?=,|$)/gy;
/** The name of a state: the snapshot's tag, alone or with two more parts; entity tags have no dot. */
const NAMES_STATE = /^"\w+(?:\.[\w-]*\.\w+)?"$/;

/**
 * The answer among `heads` that the client has already, which gets 304; undefined where it needs
 * one. Throws a 412 HttpError where If-Match asks for another state, and says the state served.
 * Without heads, as before the answer is made, only what names states is judged.
 */
export function judge(
  { 'if-match': match, 'if-none-match': noneMatch }: IncomingHttpHeaders,
  state: Named,
  heads?: readonly AnswerHead[],
): AnswerHead | undefined {
  const etags = heads?.map(({ etag }) => etag);
  if (match !== undefined && !allowsState(match, state, etags)) {
    throw otherState(match, `"${state.name}"`);
  }
  if (noneMatch === undefined) return undefined;
  return heads?.find(({ etag }) => matchesEtag(noneMatch, etag));
}

/**
 * Whether an If-None-Match header names `etag`, a quoted tag, weak or strong. Compares weakly, as
 * RFC 9110 asks for it here. What follows a malformed member does not count.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return members(ifNoneMatch).some((member) => member.opaque === opaque);
}

/** Whether an If-Match header names `etag`, compared strongly: a weak tag never matches. */
export function matchesStrongly(ifMatch: string, etag: string | undefined): boolean {
  if (ifMatch.trim() === '*') return true;
  return members(ifMatch).some(({ isWeak, opaque }) => !isWeak && opaque === etag);
}

/**
 * Whether an If-Match header asks for an answer of this state: it names the state or its snapshot,
 * with or without quotes, or one of `etags`, or is `*`. Where the tags are not known any one may
 * be the answer's. Compares strongly, as RFC 9110 asks for it here.
 */
export function allowsState(
  ifMatch: string,
  { name, snapshot }: Named,
  etags?: readonly string[],
): boolean {
  const bare = ifMatch.trim();
  if (bare === '*' || bare === name || bare === snapshot) return true;
  return members(ifMatch).some(({ isWeak, opaque }) => {
    if (isWeak) return false;
    if (opaque === `"${name}"` || opaque === `"${snapshot}"`) return true;
    return etags === undefined ? !NAMES_STATE.test(opaque) : etags.includes(opaque);
  });
}

function members(list: string): { readonly isWeak: boolean; readonly opaque: string }[] {
  return [...list.matchAll(MEMBER)].map(([, weak, opaque]) => {
    return { isWeak: weak !== undefined, opaque: opaque! };
  });
}

/**
 * Hashes text into two unsigned integers of 32 bits, beginning with `seed`. Two texts with one hash
 * are as good as impossible by chance; whoever makes them deceives only himself, since a client
 * compares the tags of one address.
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

/** The hash of the records of a page, with the count and number of a list. */
export function hashPage({ records, list }: Page): Hash {
  const { low, high } = records.hash();
  if (list === undefined) return { low, high };
  const { count, page } = list;
  return finish(Math.imul(low, 0x9e3779b1) ^ count, Math.imul(high, 0x5f356495) ^ page);
}

function finish(first: number, second: number): Hash {
  let [low, high] = [first, second];
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return { low: low >>> 0, high: high >>> 0 };
}

const words = new Uint32Array(2);
const wordBytes: Buffer = Buffer.from(words.buffer);

/** Spells a hash in eleven characters that may stand in an entity tag. */
export function spellHash({ low, high }: Hash): string {
  [words[0], words[1]] = [low, high];
  return wordBytes.toString('base64url');
}
