import type { Generation } from '../../live/generation.js';
import type { Format } from '../formats/format.js';
import type { Coding } from './compression.js';
import type { Context } from './context.js';
import { corsHeaders } from './cors.js';

/** An answer before its body is made. */
export interface AnswerHead {
  readonly format: Format;
  readonly etag: string;
  /**
   * Names the snapshot that the answer is made from, and the accepted points where some belong to
   * it, in quotes as an entity tag.
   */
  readonly snapshot: string;
  /** How the body is compressed. */
  readonly coding: Coding | undefined;
  /**
   * Names and values in turn, as `writeHead` takes them, all that answers of this format, coding
   * and generation have in common. The first is the entity tag and the last the length, both to be
   * filled in.
   */
  readonly common: readonly string[];
}

/** An address as its answers describe it. */
export interface Facts {
  /** For logs and metrics. */
  readonly name: string;
  readonly allow: string;
  /** Whether answers depend on the token, so that no shared cache may keep them. */
  readonly isPersonal: boolean;
}

/** The accepted points that an answer was made with, as its validators name them. */
export interface Mark {
  /** Stands behind the tag of the generation. */
  readonly text: string;
  /** When the last of them was accepted, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Makes what an answer of a generation begins with; `address` tells it from those of other
 * addresses. `mark` is undefined where no points have been accepted. `lasts` says that the address
 * will never have another answer.
 */
export type HeadOf = (
  generation: Generation,
  format: Format,
  address: string,
  coding: Coding | undefined,
  mark: Mark | undefined,
  lasts?: boolean,
) => AnswerHead;

/** Of an answer that caches need not ask about again. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Place of the entity tag in {@link AnswerHead.common}. */
const ETAG_AT = 1;
/**
 * Headers that belong to a body, at the end of {@link AnswerHead.common}, and their values: type
 * and length.
 */
const BODY_HEADERS = 4;
/** The same where a body is compressed. */
const CODED_BODY_HEADERS = 6;

/** Makes the {@link HeadOf} of an address. */
export function createHeadOf(
  context: Pick<Context, 'compress' | 'corsOrigin'>,
  { allow, isPersonal }: Facts,
): HeadOf {
  const { compress, corsOrigin } = context;
  const fixed = ['Allow', allow, 'Vary', varyOf({ isPersonal, compress, corsOrigin })];
  fixed.push('Cache-Control', isPersonal ? 'private, no-cache' : 'no-cache');
  fixed.push('X-Content-Type-Options', 'nosniff');
  if (corsOrigin[0] === '*') fixed.push(...corsHeaders(undefined, corsOrigin));
  /** {@link AnswerHead.common} of each coding and format, of the generation that `tag` names. */
  const common = {
    none: new Map<Format, readonly string[]>(),
    br: new Map<Format, readonly string[]>(),
    gzip: new Map<Format, readonly string[]>(),
  };
  let tag = '';
  let snapshot = '""';

  function commonHeaders(
    generation: Generation,
    format: Format,
    coding: Coding | undefined,
  ): readonly string[] {
    if (generation.tag !== tag) {
      for (const ofFormat of Object.values(common)) ofFormat.clear();
      ({ tag } = generation);
      snapshot = `"${tag}"`;
    }
    const ofFormat = common[coding ?? 'none'];
    let headers = ofFormat.get(format);
    if (headers === undefined) {
      headers = [
        ...['ETag', ''],
        ...fixed,
        ...['Last-Modified', generation.lastModified, 'Waypost-Snapshot', snapshot],
        ...format.headers,
        ...(coding === undefined ? [] : ['Content-Encoding', coding]),
        ...['Content-Type', format.contentType, 'Content-Length', ''],
      ];
      ofFormat.set(format, headers);
    }
    return headers;
  }

  const modifiedAt = 2 + fixed.length + 1;
  const cachingAt = 2 + fixed.indexOf('Cache-Control') + 1;

  return (generation, format, address, coding, mark, lasts = false) => {
    let headers = commonHeaders(generation, format, coding);
    if (lasts) headers = headers.with(cachingAt, FOR_EVER);
    const ending = coding === undefined ? '"' : `-${coding}"`;
    if (mark === undefined) {
      const etag = `"${generation.tag}-${format.name}-${address}${ending}`;
      return { format, etag, snapshot, coding, common: headers };
    }
    const name = `"${generation.tag}${mark.text}`;
    const marked = headers.slice();
    marked[modifiedAt] = new Date(Math.max(mark.at, generation.exportedAt)).toUTCString();
    marked[modifiedAt + 2] = `${name}"`;
    const etag = `${name}-${format.name}-${address}${ending}`;
    return { format, etag, snapshot: `${name}"`, coding, common: marked };
  };
}

/** The headers of an answer whose length is not known yet. */
export function headersOf({ common, etag }: AnswerHead): string[] {
  const headers = common.slice();
  headers[ETAG_AT] = etag;
  return headers;
}

/** The headers of an answer that has no body. */
export function bodilessHeadersOf({ common, coding, etag }: AnswerHead): string[] {
  const headers = common.slice(0, coding === undefined ? -BODY_HEADERS : -CODED_BODY_HEADERS);
  headers[ETAG_AT] = etag;
  return headers;
}

/** What answers depend on besides their address. */
export interface Dependence {
  /** Whether on the token. */
  readonly isPersonal: boolean;
  readonly compress: boolean;
  readonly corsOrigin: readonly string[];
  /** Whether it is the same whatever the client accepts. */
  readonly isFile?: boolean;
}

/** The Vary header of an answer; empty where it depends on nothing. */
export function varyOf({ isPersonal, compress, corsOrigin, isFile }: Dependence): string {
  const parts = isFile === true ? [] : ['Accept'];
  if (compress) parts.push('Accept-Encoding');
  if (isPersonal) parts.push('Authorization');
  if (corsOrigin.length > 0 && !corsOrigin.includes('*')) parts.push('Origin');
  return parts.join(', ');
}
