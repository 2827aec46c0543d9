import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { quote } from '../../model/quote.js';
import { HttpError, NotFound } from './http-error.js';

/** What can be asked for. */
export interface Offer {
  /** Value of the `format` parameter. */
  readonly parameter: string;
  /** With the version of it, where there are several. */
  readonly mediaType: string;
}

/** Finds out which of several offers a request asks for. */
export interface Negotiation<Offered extends Offer> {
  /**
   * The offer that the `format` parameter names; undefined where the parameter is absent or empty.
   * Throws NotFound for a name that is none.
   */
  named(name: string | undefined): Offered | undefined;
  /**
   * The offer that the Accept header prefers; no header and an empty one accept everything. Throws
   * a 406 HttpError when nothing offered is accepted.
   */
  accepted(accept: string | undefined): Offered;
}

/** Any parameter of a media range but its weight and its version, its value quoted or not. */
const PARAMETER = /;(?![\t ]*(?:q|version)[\t ]*=)[^;,="]*(?:="(?:[^"\\]|\\.)*"|=[^;,"]*)?/gi;
const VERSION = /;[\t ]*version[\t ]*=[^;,]*/gi;

/** Media ranges of a header that are heeded: each takes a microsecond. */
const MOST_RANGES = 256;

// clients send few different values, over and over; long ones are nobody's habit
const MAX_KNOWN = 64;
const MAX_KNOWN_LENGTH = 256;

/** Negotiates between `offers`, at least one, in the service's own order of preference. */
export function createNegotiation<Offered extends Offer>(
  offers: readonly Offered[],
): Negotiation<Offered> {
  const first = offers[0]!;
  const known = new LRUCache<string, Offered | typeof NONE>({ max: MAX_KNOWN });
  return {
    named(name) {
      if (!name) return undefined;
      const offer = offers.find(({ parameter }) => parameter === name);
      if (offer !== undefined) return offer;
      const names = offers.map(({ parameter }) => parameter).join(', ');
      throw new NotFound(`There is no format ${quote(name)} here; the formats are ${names}.`);
    },

    accepted(accept) {
      if (!accept || accept === '*/*' || accept === first.mediaType) return first;
      let chosen = known.get(accept);
      if (chosen === undefined) {
        chosen = negotiate(accept, offers);
        if (accept.length <= MAX_KNOWN_LENGTH) known.set(accept, chosen);
      }
      if (chosen !== NONE) return chosen;
      throw new HttpError(406, { detail: 'Could not satisfy the request Accept header.' });
    },
  };
}

const NONE = Symbol('no offer is accepted');

function negotiate<Offered extends Offer>(
  header: string,
  offers: readonly Offered[],
): Offered | typeof NONE {
  if (header.trim() === '') return offers[0]!;
  const types = offers.map(({ mediaType }) => mediaType);
  // `application/json; charset=utf-8` means JSON, but the package would take the charset as a
  // demand, which only the version of a type that has some is
  const ranges = header.replace(PARAMETER, '').split(',', MOST_RANGES);
  const accept = ranges.map((range) => {
    const versioned = `${range.split(';', 1)[0]!.trim().toLowerCase()};`;
    return types.some((type) => type.startsWith(versioned)) ? range : range.replace(VERSION, '');
  });
  const type = new Negotiator({ headers: { accept: accept.join() } }).mediaType(types);
  return offers.find(({ mediaType }) => mediaType === type) ?? NONE;
}
