import { POINTS_PATH } from '../request/addresses.js';
import type { Schema } from '../request/parameter.js';
import { EXAMPLE_ORIGIN } from './description.js';

/** A header as OpenAPI describes it. */
interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
}

function text(description: string, example: string): Header {
  return { description, schema: { type: 'string' }, example };
}

/** The headers of answers. */
export const HEADERS: Readonly<Record<string, Header>> = {
  Allow: text('The methods that the address takes.', 'GET, POST, HEAD, OPTIONS'),
  ETag: text('Names this answer; send it back as If-None-Match.', '"72f5812cdf281718-json-1x9"'),
  'Last-Modified': text(
    'When the data was exported, or the last accepted point that belongs to the answer came.',
    'Mon, 01 Jan 2024 00:00:00 GMT',
  ),
  'Cache-Control': text('Whether and how long the answer may be kept.', 'no-cache'),
  Vary: text('What else of the request the answer depends on.', 'Accept'),
  'Waypost-Snapshot': text(
    'Names the data that the answer is made from; send it back as If-Match with further pages.',
    '"72f5812cdf281718"',
  ),
  'Content-Length': {
    description: 'Bytes of the body.',
    schema: { type: 'integer', minimum: 0 },
    example: 27204,
  },
  'Content-Encoding': text('How the body is compressed, where it is.', 'gzip'),
  'Content-Security-Policy': text('What browsers may do with a page.', "default-src 'none'"),
  'Referrer-Policy': text('What browsers tell of a page that a link was in.', 'same-origin'),
  'Server-Timing': text(
    'How long the service took, in milliseconds; for a page, and for who asks by Waypost-Timing.',
    'total;dur=0.214, query;desc="runs, walk, 118 rows"',
  ),
  'X-Content-Type-Options': text('Keeps browsers from guessing types.', 'nosniff'),
  'X-Request-Id': text('Names the request in the log of the service.', 'q2Vx81-2654435769'),
  'Access-Control-Allow-Origin': text('Origins whose pages may read the answer.', '*'),
  'Access-Control-Expose-Headers': text('Headers that those pages may read.', 'ETag, Location'),
  'Access-Control-Allow-Methods': text('Methods that those pages may use.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Headers': text('Headers that those pages may send.', 'Authorization'),
  'Access-Control-Max-Age': text('Seconds for which a browser need not ask again.', '86400'),
  Location: text(
    'Address of the accepted point, or of what was asked for.',
    `${EXAMPLE_ORIGIN}${POINTS_PATH}5001/`,
  ),
  'Idempotency-Replayed': text('Says that the point was accepted by an earlier post.', 'true'),
  'Retry-After': text('Seconds after which to try again.', '1'),
  'WWW-Authenticate': text('The scheme of the tokens that are taken.', 'Token'),
};

const CROSS_ORIGIN = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

type AnswerKind = 'found' | 'unchanged' | 'described' | 'accepted' | 'refused' | 'operated';

/** Names of the headers of each kind of answer. */
export const SENT: Readonly<Record<AnswerKind, readonly string[]>> = {
  found: [
    ...['Allow', 'Vary', 'ETag', 'Last-Modified', 'Waypost-Snapshot', 'Cache-Control'],
    ...['Content-Length', 'Content-Encoding', 'Content-Security-Policy', 'Referrer-Policy'],
    ...['Server-Timing', 'X-Content-Type-Options', 'X-Request-Id', ...CROSS_ORIGIN],
  ],
  unchanged: [
    ...['Allow', 'Vary', 'ETag', 'Last-Modified', 'Waypost-Snapshot', 'Cache-Control'],
    ...['X-Content-Type-Options', 'X-Request-Id', ...CROSS_ORIGIN],
  ],
  described: [
    ...['Allow', 'Vary', 'Content-Length', 'X-Content-Type-Options', 'X-Request-Id'],
    ...['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'],
    ...CROSS_ORIGIN,
  ],
  accepted: [
    ...['Allow', 'Vary', 'Location', 'Idempotency-Replayed', 'Cache-Control', 'Content-Length'],
    ...['X-Content-Type-Options', 'X-Request-Id', ...CROSS_ORIGIN],
  ],
  refused: [
    ...['Allow', 'Vary', 'Content-Length', 'Content-Security-Policy', 'Referrer-Policy'],
    ...['X-Content-Type-Options', 'X-Request-Id', ...CROSS_ORIGIN],
  ],
  operated: [
    ...['Vary', 'Cache-Control', 'Content-Length', 'X-Content-Type-Options', 'X-Request-Id'],
    ...CROSS_ORIGIN,
  ],
};

/** The headers as responses list them. */
export function headerReferences(names: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
