import type { IncomingMessage } from 'node:http';
import { hostAllowed, isAuthority } from '../../model/authority.js';
import { quote } from '../../model/quote.js';
import { HttpError } from './http-error.js';

export interface OriginSettings {
  /** Scheme, authority and path prefix; from the request when undefined. */
  readonly publicUrl?: string | undefined;
  /** Whether X-Forwarded-Proto and X-Forwarded-Host are believed. */
  readonly trustProxy: boolean;
  readonly allowedHosts: readonly string[];
}

/**
 * What links in an answer begin with: the public URL, else scheme and host of the request, or what
 * a trusted proxy says of them. Throws a 400 HttpError when the host is malformed or not allowed.
 */
export type OriginOf = (request: IncomingMessage) => string;

export function createOriginOf(settings: OriginSettings): OriginOf {
  const { publicUrl, trustProxy, allowedHosts } = settings;
  if (publicUrl !== undefined && allowedHosts[0] === '*') return () => publicUrl;
  // nearly all requests name the same host
  const last = { host: '', isSecure: false, origin: '' };
  return (request) => {
    const { headers } = request;
    const forwarded = trustProxy ? first(headers['x-forwarded-host']) : undefined;
    const host = forwarded ?? headers.host ?? localAddress(request);
    const isSecure = trustProxy && first(headers['x-forwarded-proto'])?.toLowerCase() === 'https';
    if (host === last.host && isSecure === last.isSecure) return last.origin;
    if (!isAuthority(host)) {
      throw badHost(host, 'must be a host name or address with an optional port');
    }
    if (allowedHosts[0] !== '*' && !hostAllowed(host, allowedHosts)) {
      throw badHost(host, 'is not one that this service answers to');
    }
    const origin = publicUrl ?? `${isSecure ? 'https' : 'http'}://${host}`;
    Object.assign(last, { host, isSecure, origin });
    return origin;
  };
}

/** The client's own value, to which each proxy appended another. */
function first(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  return text?.split(',', 1)[0]?.trim() || undefined;
}

/** HTTP/1.0 may leave the Host header out. */
function localAddress({ socket }: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = socket;
  return `${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}

function badHost(host: string, rule: string): HttpError {
  return new HttpError(400, { detail: `The host ${quote(host)} ${rule}.` });
}

const SLASH = 0x2f;
/** Scheme and authority of a target in absolute form. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/** The host of a target in absolute form overwrites the Host header (RFC 9112, 3.2.2). */
export function originForm(request: IncomingMessage): string {
  const target = request.url!;
  if (target.charCodeAt(0) === SLASH) return target;
  const [start, authority] = ABSOLUTE.exec(target) ?? [];
  if (start === undefined) return target;
  request.headers.host = authority;
  // a copy: while a part of a text is kept, such as with an answer, V8 keeps the whole text
  const rest = Buffer.from(target.slice(start.length), 'latin1').toString('latin1');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** Throws a 403 HttpError for a form on another site's page. Only browsers say where it stands. */
export function checkSameSite({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw fromElsewhere(`Sec-Fetch-Site ${quote(String(site))}`);
  }
  const { origin: from, host } = headers;
  if (from === undefined) return;
  // only the host: the scheme may be that of a proxy in front
  const named = URL.canParse(from) ? new URL(from).host : undefined;
  if (named !== undefined && (named === host || named === new URL(origin).host)) return;
  throw fromElsewhere(`Origin ${quote(from)}`);
}

function fromElsewhere(what: string): HttpError {
  const expected = "a form of this service's own pages";
  const programs = 'programs ask for application/json in their Accept header';
  const got = `This form was sent from a page of another site: got ${what}`;
  const detail = `${got}. Expected ${expected}; ${programs}.`;
  return new HttpError(403, { detail });
}
