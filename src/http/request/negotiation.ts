import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { HttpError } from '../errors.js';
import type { Format } from './params.js';

export type Representation = 'json' | 'html';

/** In the service's own order of preference. */
const OFFERED = ['application/json', 'text/html'];

/** Any parameter of a media range but its weight, its value quoted or not. */
const PARAMETER = /;(?![\t ]*q[\t ]*=)[^;,="]*(?:="(?:[^"\\]|\\.)*"|=[^;,"]*)?/gi;

// clients send few different values, over and over; long ones are nobody's habit
const MAX_KNOWN = 64;
const MAX_KNOWN_LENGTH = 256;
const known = new LRUCache<string, Representation | 'none'>({ max: MAX_KNOWN });

/**
 * What to answer with, by the `format` parameter where there is one, else by the Accept header; no
 * header and an empty one accept everything. Throws a 406 HttpError when nothing offered is accepted.
 */
export function chooseRepresentation(
  accept: string | undefined,
  format: Format | undefined,
): Representation {
  if (format !== undefined) return format === 'api' ? 'html' : 'json';
  if (!accept || accept === '*/*' || accept === 'application/json') return 'json';
  let chosen = known.get(accept);
  if (chosen === undefined) {
    chosen = negotiate(accept);
    if (accept.length <= MAX_KNOWN_LENGTH) known.set(accept, chosen);
  }
  if (chosen !== 'none') return chosen;
  throw new HttpError(406, { detail: 'Could not satisfy the request Accept header.' });
}

function negotiate(header: string): Representation | 'none' {
  if (header.trim() === '') return 'json';
  // `application/json; charset=utf-8` means JSON, but the package would take the charset as a demand
  const accept = header.replace(PARAMETER, '');
  const type = new Negotiator({ headers: { accept } }).mediaType(OFFERED);
  if (type === undefined) return 'none';
  return type === 'text/html' ? 'html' : 'json';
}
