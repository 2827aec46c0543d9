import { ServerResponse, STATUS_CODES } from 'node:http';
import type { State } from '../../reload/current.js';
import type { Format } from '../formats/representation.js';
import type { Coding } from '../request/negotiation.js';
import { canSetHead, setHead } from './node-internals.js';

interface HeadFormat extends Pick<Format, 'name' | 'mediaType' | 'contentType' | 'headers'> {
  /** Whether two answers with the same meaning may differ in their bytes, such as in an order. */
  readonly isWeak?: boolean;
}

/** An answer before its body is made: plain values, which threads send each other. */
export interface AnswerHead {
  readonly format: string;
  readonly contentType: string;
  readonly etag: string;
  readonly coding: Coding | undefined;
  /** Header lines, each with its line end. */
  readonly lines: string;
}

export interface Facts {
  readonly name: string;
  readonly allow: string;
  /** Whether answers depend on the token, so that no shared cache may keep them. */
  readonly isPersonal?: boolean;
  /** Whether answers are the same whatever the client accepts. */
  readonly isFile?: boolean;
}

/** Cache-Control of an answer that never changes; caches heed a year at most. */
export const FOR_EVER = 'public, max-age=31536000, immutable';

export class Heads {
  readonly #fixed: Readonly<Record<string, string>>;
  readonly #caching: string;
  /** Header lines by format, of the state with the name `#state`. */
  readonly #lines = new Map<HeadFormat, string>();
  #state = '';

  constructor({ compress, corsOrigin }: Pick<Dependence, 'compress' | 'corsOrigin'>, facts: Facts) {
    this.#fixed = fixedHeaders(facts.allow, { compress, corsOrigin, ...facts });
    this.#caching = facts.isPersonal === true ? 'private, no-cache' : 'no-cache';
  }

  /** `content` tells the answer from all others of its snapshot and format. */
  of(state: State, format: HeadFormat, content: string, lasts: boolean): AnswerHead {
    const lines = lasts ? this.#linesFor(state, format, FOR_EVER) : this.#linesOf(state, format);
    const { name, mediaType, contentType = mediaType, isWeak } = format;
    const etag = `${isWeak === true ? 'W/' : ''}"${state.snapshot}-${name}-${content}"`;
    return { format: name, contentType, etag, coding: undefined, lines };
  }

  /** The headers of JSON answers, whatever the state. */
  get ofJson(): Readonly<Record<string, string>> {
    const caching = { 'Cache-Control': this.#caching };
    return { ...this.#fixed, ...caching, 'Content-Type': 'application/json' };
  }

  #linesOf(state: State, format: HeadFormat): string {
    if (state.name !== this.#state) {
      this.#lines.clear();
      this.#state = state.name;
    }
    let lines = this.#lines.get(format);
    if (lines === undefined) {
      lines = this.#linesFor(state, format, this.#caching);
      this.#lines.set(format, lines);
    }
    return lines;
  }

  #linesFor({ name, lastModified }: State, format: HeadFormat, caching: string): string {
    return linesOf({
      ...this.#fixed,
      'Cache-Control': caching,
      'Last-Modified': lastModified,
      'Waypost-Snapshot': `"${name}"`,
      ...format.headers,
    });
  }
}

export function codedHead(head: AnswerHead, coding: Coding): AnswerHead {
  const { format, contentType, etag, lines } = head;
  return { format, contentType, etag: `${etag.slice(0, -1)}-${coding}"`, coding, lines };
}

export function bodilessLines({ etag, lines }: AnswerHead): string {
  return `ETag: ${etag}\r\n${lines}`;
}

/** Without Content-Length, which stands behind these lines where it is known. */
export function linesWithBody({ etag, lines, coding, contentType }: AnswerHead): string {
  const coded = coding === undefined ? '' : `Content-Encoding: ${coding}\r\n`;
  return `ETag: ${etag}\r\n${lines}${coded}Content-Type: ${contentType}\r\n`;
}

export interface Dependence extends Pick<Facts, 'isPersonal' | 'isFile'> {
  readonly compress?: boolean | undefined;
  readonly corsOrigin: readonly string[];
}

/** The Vary header of an answer; empty where it depends on nothing. */
export function varyOf({ isPersonal, compress, corsOrigin, isFile }: Dependence): string {
  const parts = isFile === true ? [] : ['Accept'];
  if (compress === true) parts.push('Accept-Encoding');
  if (isPersonal === true) parts.push('Authorization');
  if (corsOrigin.length > 0 && !corsOrigin.includes('*')) parts.push('Origin');
  return parts.join(', ');
}

export function fixedHeaders(
  allow: string,
  dependence: Dependence,
): Readonly<Record<string, string>> {
  const Vary = varyOf(dependence);
  return {
    Allow: allow,
    ...(Vary !== '' && { Vary }),
    'X-Content-Type-Options': 'nosniff',
    ...corsHeaders(undefined, dependence.corsOrigin),
  };
}

const EXPOSED = [
  ...['Allow', 'ETag', 'Link', 'Location', 'Retry-After', 'Waypost-Journal', 'Waypost-Sequence'],
  ...['Waypost-Snapshot', 'X-Request-Id'],
].join(', ');

/** Headers that let pages of `origin` read the answer, where it is listed or all are (`*`). */
export function corsHeaders(
  origin: string | undefined,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  const named = allowed[0] === '*' ? '*' : origin;
  if (named === undefined || !allowed.includes(named)) return {};
  return { 'Access-Control-Allow-Origin': named, 'Access-Control-Expose-Headers': EXPOSED };
}

/** Headers for scripts to send. Older browsers do not know `*`, which never has `Authorization`. */
const ASKED = [
  ...['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match'],
  ...['Last-Event-ID', 'Range', 'Waypost-At-Least', 'Waypost-Timing', 'X-Request-Id', '*'],
].join(', ');

export function preflightHeaders(allow: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': ASKED,
    'Access-Control-Max-Age': '86400',
  };
}

/** How long an idle connection is kept, in milliseconds: longer than proxies do. */
export const KEEP_ALIVE_MS = 72_000;

/** Header lines, each with its line end. */
export function linesOf(headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return lines.join('');
}

/** Names and values in turn, of header lines. */
export function parseLines(lines: string): string[] {
  return [...lines.matchAll(/(.+?): (.*)\r\n/g)].flatMap(([, name, value]) => [name!, value!]);
}

export type PlainStatus = 200 | 201 | 204 | 304;

export type WriteHead = (
  response: ServerResponse,
  status: PlainStatus,
  lines: string,
  text?: string,
) => void;

/**
 * Makes a writer of heads. `lines` are not checked; `text` is all of the body, a character a byte.
 * Node's own `writeHead` joins and checks single headers, which takes a tenth of a small answer. It
 * is called for heads of another shape: HTTP 1.0, the last answer of a connection, and a response
 * that is not Node's own.
 */
export function createWriteHead(): WriteHead {
  const canSetText = canSetHead();
  const starts = { 200: lineOf(200), 201: lineOf(201), 204: lineOf(204), 304: lineOf(304) };
  let second = 0;
  let ending = '';

  function endingNow(): string {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) {
      second = now;
      const date = new Date(now * 1_000).toUTCString();
      const timeout = `timeout=${KEEP_ALIVE_MS / 1_000}`;
      const last = { Date: date, Connection: 'keep-alive', 'Keep-Alive': timeout };
      ending = `${linesOf(last)}\r\n`;
    }
    return ending;
  }

  return (response, status, lines, text = '') => {
    const { httpVersionMinor } = response.req;
    if (canSetText && response.shouldKeepAlive && httpVersionMinor === 1 && isPlain(response)) {
      response.statusCode = status;
      setHead(response, starts[status] + lines + endingNow() + text);
    } else {
      response.writeHead(status, parseLines(lines));
      if (text !== '') response.write(text, 'latin1');
    }
  };
}

function lineOf(status: PlainStatus): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
}

function isPlain(response: ServerResponse): boolean {
  return Object.getPrototypeOf(response) === ServerResponse.prototype;
}
