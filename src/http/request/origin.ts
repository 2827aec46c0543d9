import type { IncomingMessage } from 'node:http';
import { hostAllowed, isAuthority } from '../../model/authority.js';
import { quote } from '../../model/quote.js';
import { HttpError } from './errors.js';

/** How the links in answers begin. */
export interface OriginSettings {
  /** Scheme, authority and path prefix; from the request when undefined. */
  readonly publicUrl: string | undefined;
  /** Whether X-Forwarded-Proto and X-Forwarded-Host are believed. */
  readonly trustProxy: boolean;
  readonly allowedHosts: readonly string[];
}

/**
 * Scheme and authority that links in the answer to a request begin with: the configured public URL,
 * else what the request was sent to, or says that it was sent to where a proxy is trusted. Throws a
 * 400 HttpError when that is no host name, or none that is allowed.
 */
export type OriginOf = (request: IncomingMessage) => string;

/** Makes the reader of origins. */
export function createOriginOf(settings: OriginSettings): OriginOf {
  const { publicUrl, trustProxy, allowedHosts } = settings;
  if (publicUrl !== undefined && allowedHosts[0] === '*') return () => publicUrl;
  // nearly all requests to a service name the same host and come the same way
  const last = { host: '', isSecure: false, origin: '' };
  return (request) => {
    const { headers } = request;
    const forwarded = trustProxy ? first(headers['x-forwarded-host']) : undefined;
    const host = forwarded ?? headers.host ?? localAddress(request);
    const isSecure = trustProxy && first(headers['x-forwarded-proto'])?.toLowerCase() === 'https';
    if (host === last.host && isSecure === last.isSecure) return last.origin;
    checkAuthority(host, allowedHosts);
    const origin = publicUrl ?? `${isSecure ? 'https' : 'http'}://${host}`;
    Object.assign(last, { host, isSecure, origin });
    return origin;
  };
}

function checkAuthority(host: string, allowedHosts: readonly string[]): void {
  if (!isAuthority(host)) {
    throw badHost(host, 'must be a host name or address with an optional port');
  }
  if (allowedHosts[0] !== '*' && !hostAllowed(host, allowedHosts)) {
    throw badHost(host, 'is not one that this service answers to');
  }
}

/** What the client itself sent, where each proxy appended its own. */
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
