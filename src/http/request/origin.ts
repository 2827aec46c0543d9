import type { IncomingMessage } from 'node:http';
import { hostAllowed, isAuthority } from '../../model/authority.js';
import type { OriginSettings } from '../context.js';
import { HttpError } from '../errors.js';

/**
 * Scheme and authority that links in the answer begin with: the configured public URL, else what the
 * request was sent to, or says that it was sent to where a proxy is trusted. Throws a 400 HttpError when
 * that is no host name, or none that is allowed.
 */
export function originOf(request: IncomingMessage, settings: OriginSettings): string {
  const { publicUrl, trustProxy, allowedHosts } = settings;
  if (publicUrl !== undefined && allowedHosts[0] === '*') return publicUrl;
  const { headers } = request;
  const forwarded = trustProxy ? first(headers['x-forwarded-host']) : undefined;
  const host = forwarded ?? headers.host ?? localAddress(request);
  if (!isAuthority(host)) {
    throw badHost(host, 'must be a host name or address with an optional port');
  }
  if (allowedHosts[0] !== '*' && !hostAllowed(host, allowedHosts)) {
    throw badHost(host, 'is not one that this service answers to');
  }
  if (publicUrl !== undefined) return publicUrl;
  const isSecure = trustProxy && first(headers['x-forwarded-proto'])?.toLowerCase() === 'https';
  return `${isSecure ? 'https' : 'http'}://${host}`;
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
  return new HttpError(400, { detail: `The host ${JSON.stringify(host.slice(0, 60))} ${rule}.` });
}
