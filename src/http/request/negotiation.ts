import zlib from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { quote } from '../../model/quote.js';
import { HttpError, NotFound } from './http-error.js';
import { last, type Pair } from './query-string.js';

export interface Offer {
  /** Value of the `format` parameter that asks for it. */
  readonly parameter: string;
  /** With its version, where a type has several. */
  readonly mediaType: string;
}

/** Any parameter of a media range but its weight and its version, its value quoted or not. */
const PARAMETER = /;(?![\t ]*(?:q|version)[\t ]*=)[^;,="]*(?:="(?:[^"\\]|\\.)*"|=[^;,"]*)?/gi;
const VERSION = /;[\t ]*version[\t ]*=[^;,]*/gi;

/** Media ranges of a header that are heeded: each takes a microsecond. */
const MOST_RANGES = 256;

// clients send few different values, over and over; long ones are nobody's habit
const MAX_KNOWN = 64;
const MAX_KNOWN_LENGTH = 256;

/** Memoizes a function of a header for the last values. */
function remembered<Value extends object | string>(
  read: (header: string) => Value,
): (header: string) => Value {
  const known = new LRUCache<string, Value>({ max: MAX_KNOWN, memoMethod: read });
  return (header) => (header.length > MAX_KNOWN_LENGTH ? read(header) : known.memo(header));
}

export class Negotiation<Offered extends Offer> {
  readonly #offers: readonly Offered[];
  readonly #preferred: (accept: string) => Offered;

  /** `offers`, at least one, are in the service's own order of preference. */
  constructor(offers: readonly Offered[]) {
    this.#offers = offers;
    this.#preferred = remembered((accept) => negotiate(accept, offers));
  }

  /** By the `format` parameter, else by the Accept header. Throws NotFound, or a 406 HttpError. */
  chosen(pairs: readonly Pair[], accept: string | undefined): Offered {
    const name = last(pairs, 'format');
    if (!name) return this.accepted(accept);
    const offer = this.#offers.find(({ parameter }) => parameter === name);
    if (offer !== undefined) return offer;
    // a format may be offered under two media types
    const names = [...new Set(this.#offers.map(({ parameter }) => parameter))].join(', ');
    throw new NotFound(`There is no format ${quote(name)} here; the formats are ${names}.`);
  }

  /** No header and an empty one accept everything. Throws a 406 HttpError. */
  accepted(accept: string | undefined): Offered {
    const first = this.#offers[0]!;
    if (!accept || accept === '*/*' || accept === first.mediaType) return first;
    return this.#preferred(accept);
  }
}

function negotiate<Offered extends Offer>(header: string, offers: readonly Offered[]): Offered {
  if (header.trim() === '') return offers[0]!;
  const types = offers.map(({ mediaType }) => mediaType);
  // the package takes each parameter of a range as a demand, such as a charset; only the version of
  // a type that has versions is one
  const ranges = header.replace(PARAMETER, '').split(',', MOST_RANGES);
  const accept = ranges.map((range) => {
    const versioned = `${range.split(';', 1)[0]!.trim().toLowerCase()};`;
    return types.some((type) => type.startsWith(versioned)) ? range : range.replace(VERSION, '');
  });
  const type = new Negotiator({ headers: { accept: accept.join() } }).mediaType(types);
  const offer = offers.find(({ mediaType }) => mediaType === type);
  if (offer !== undefined) return offer;
  throw new HttpError(406, { detail: 'Could not satisfy the request Accept header.' });
}

export type Coding = 'zstd' | 'br' | 'gzip';

/** By the service's own preference. Node has Zstandard from 22.15 on. */
export const CODINGS: readonly Coding[] =
  'zstdCompress' in zlib ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'];

/** The package's types do not know the second parameter. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

/** Makes a reader of Accept-Encoding; the order of `offered` decides among equal weights. */
export function createCodingOf<Offered extends Coding>(
  offered: readonly Offered[],
): (acceptEncoding: string | undefined) => Offered | undefined {
  const available = [...offered, 'identity'];
  const codingOf = remembered((header) => {
    const headers = { 'accept-encoding': header };
    const negotiator: EncodingNegotiator = new Negotiator({ headers });
    const [preferred] = negotiator.encodings(available, { preferred: available });
    // where nothing is accepted, the body as it is serves better than an error
    return offered.find((coding) => coding === preferred) ?? 'identity';
  });
  return (header) => {
    const coding = header ? codingOf(header) : 'identity';
    return coding === 'identity' ? undefined : coding;
  };
}
