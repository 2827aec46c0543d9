import { quote } from '../../model/quote.js';
import { HttpError } from './errors.js';
import { parseQueryString } from './query-string.js';

/** How the body of a post says what it says. */
export type BodyKind = 'json' | 'form' | 'multipart';

/** What a body says: a JSON value, or the values of each field of a form in their order. */
export type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: ReadonlyMap<string, readonly string[]> };

const KINDS: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'multipart/form-data': 'multipart',
};

/** Refuses what is no UTF-8. As JSON has it, a byte order mark may stand in front. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });
const CHARSET = /;\s*charset\s*=\s*"?([^;"\s]*)/i;

/**
 * The kind of a body by its Content-Type. Throws a 415 HttpError for a type, a character set or a
 * content coding that is not read.
 */
export function kindOfBody(contentType: string | undefined, coding: string | undefined): BodyKind {
  const given = contentType ?? '';
  const mediaType = given.split(';', 1)[0]!.trim().toLowerCase();
  const kind = Object.hasOwn(KINDS, mediaType) ? KINDS[mediaType] : undefined;
  if (kind === undefined) throw unsupported(`media type ${quote(mediaType)}`);
  const charset = CHARSET.exec(given)?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw unsupported(`character set ${quote(charset)}`);
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw unsupported(`content coding ${quote(coding)}`);
  }
  return kind;
}

/** Reads a body of JSON; an empty one counts as an object without keys. Throws a 400 HttpError. */
export function parseJsonBody(bytes: Uint8Array): Body {
  if (bytes.length === 0) return { kind: 'json', value: {} };
  let value: unknown;
  try {
    value = JSON.parse(UTF_8.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is no UTF-8';
    throw new HttpError(400, { detail: `JSON parse error - ${reason}` });
  }
  return { kind: 'json', value };
}

/** Reads a form-encoded body; never throws, as with query strings. */
export function parseFormBody(bytes: Buffer): Body {
  const fields = new Map<string, string[]>();
  for (const { name, value } of parseQueryString(bytes.toString('latin1'))) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return { kind: 'form', fields };
}

function unsupported(what: string): HttpError {
  return new HttpError(415, { detail: `Unsupported ${what} in request.` });
}
