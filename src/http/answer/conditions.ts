import type { IncomingHttpHeaders } from 'node:http';
import type { State } from '../../live/generation.js';
import { otherState } from '../request/errors.js';
import type { AnswerHead } from './head.js';

/** What conditions are judged by: a state, by its name and by its snapshot alone. */
export type Named = Pick<State, 'name' | 'snapshot'>;

/** One member of a list of entity tags, with the commas and blanks before it. */
const MEMBER = /[\t ,]*(W\/)?("[^"]*")[\t ]*(?=,|$)/y;
/** What a state is named by; entity tags have a hyphen. */
const NAMES_STATE = /^"[\w.]+"$/;

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
  if (ifNoneMatch === etag || isAny(ifNoneMatch)) return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  return members(ifNoneMatch).some((member) => member.opaque === opaque);
}

/**
 * Whether an If-Match header asks for an answer of this state: it names the state or its snapshot,
 * with or without quotes, or one of `etags`, or is `*`. Where these are not known any entity tag may
 * be one. Compares strongly, as RFC 9110 asks for it here.
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
function isAny(ifNoneMatch: string): boolean {
  return ifNoneMatch.trim() === '*';
}
