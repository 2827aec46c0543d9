import type { Generation } from '../../live/generation.js';
import type { Format } from '../formats/format.js';
import type { Coding } from './compression.js';
import type { Context } from './context.js';
import { corsHeaders } from './cors.js';
import { linesOf, parseLines } from './head-lines.js';

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
   * Header lines that all answers of this format and generation have in common, but for the entity
   * tag, each with its line end.
   */
  readonly lines: string;
  /** Lines that stand with a body only: its coding and its type. The length is not known yet. */
  readonly bodyLines: string;
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
 * Makes what an answer of a generation begins with, as its body is; `address` tells it from those
 * of other addresses. `mark` is undefined where no points have been accepted. `lasts` says that the address
 * will never have another answer.
 */
export type HeadOf = (
  generation: Generation,
  format: Format,
  address: string,
  mark: Mark | undefined,
  lasts?: boolean,
) => AnswerHead;

/**
 * Cache-Control of an answer that caches need not ask about again; a year is the longest that they
 * heed.
 */
export const FOR_EVER = 'public, max-age=31536000, immutable';

/** Makes the {@link HeadOf} of an address. */
export function createHeadOf(
  context: Pick<Context, 'compress' | 'corsOrigin'>,
  { allow, isPersonal }: Facts,
): HeadOf {
  const { compress, corsOrigin } = context;
  const cors = corsOrigin[0] === '*' ? corsHeaders(undefined, corsOrigin) : [];
  const fixed = linesOf([
    ...['Allow', allow, 'Vary', varyOf({ isPersonal, compress, corsOrigin })],
    ...['X-Content-Type-Options', 'nosniff', ...cors],
  ]);
  const caching = isPersonal ? 'private, no-cache' : 'no-cache';

  function linesFor(format: Format, modified: string, snapshot: string, lasts: boolean): string {
    const own = ['Last-Modified', modified, 'Waypost-Snapshot', snapshot];
    return (
      fixed + linesOf(['Cache-Control', lasts ? FOR_EVER : caching, ...own, ...format.headers])
    );
  }

  /**
   * Lines of each format without accepted points, of answers that do not last, of the generation
   * that `ofTag` names.
   */
  const plainLines = new Map<Format, string>();
  let ofTag = '';

  function plainLinesOf({ tag, lastModified }: Generation, format: Format): string {
    if (tag !== ofTag) {
      plainLines.clear();
      ofTag = tag;
    }
    let lines = plainLines.get(format);
    if (lines === undefined) {
      lines = linesFor(format, lastModified, `"${tag}"`, false);
      plainLines.set(format, lines);
    }
    return lines;
  }

  return (generation, format, address, mark, lasts = false) => {
    const name = mark === undefined ? `"${generation.tag}` : `"${generation.tag}${mark.text}`;
    const snapshot = `${name}"`;
    let lines: string;
    if (mark === undefined && !lasts) {
      lines = plainLinesOf(generation, format);
    } else {
      const { exportedAt } = generation;
      const modified = new Date(Math.max(mark?.at ?? exportedAt, exportedAt)).toUTCString();
      lines = linesFor(format, modified, snapshot, lasts);
    }
    const etag = `${format.isWeak === true ? 'W/' : ''}${name}-${format.name}-${address}"`;
    const bodyLines = `Content-Type: ${format.contentType}\r\n`;
    return { format, etag, snapshot, coding: undefined, lines, bodyLines };
  };
}

/** What the same answer begins with when its body is compressed. */
export function codedHead(plain: AnswerHead, coding: Coding): AnswerHead {
  const { format, etag, snapshot, lines, bodyLines } = plain;
  return {
    format,
    etag: `${etag.slice(0, -1)}-${coding}"`,
    snapshot,
    coding,
    lines,
    bodyLines: `Content-Encoding: ${coding}\r\n${bodyLines}`,
  };
}

/** The header lines of an answer without a body, such as 304. */
export function bodilessLines({ etag, lines }: AnswerHead): string {
  return `ETag: ${etag}\r\n${lines}`;
}

/** The header lines of an answer with a body of `bytes` bytes. */
export function linesWithBody({ etag, lines, bodyLines }: AnswerHead, bytes: number): string {
  return `ETag: ${etag}\r\n${lines}${bodyLines}Content-Length: ${bytes}\r\n`;
}

/** The headers of an answer whose length is not known yet, names and values in turn. */
export function headersOf({ etag, lines, bodyLines }: AnswerHead): string[] {
  return parseLines(`ETag: ${etag}\r\n${lines}${bodyLines}`);
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
