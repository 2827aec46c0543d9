import type { IncomingMessage } from 'node:http';
import { isAuthority } from './authority.js';
import { HttpError } from './errors.js';

/**
 * Scheme and authority that links in the answer begin with: the configured public URL, else what the
 * request was sent to. Throws a 400 HttpError when that is no host name.
 */
export function originOf(request: IncomingMessage, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const { host } = request.headers;
  if (host !== undefined && isAuthority(host)) return `http://${host}`;
  if (host !== undefined) {
    throw new HttpError(400, {
      detail: `The Host header must be a host name with an optional port, got ${JSON.stringify(host.slice(0, 60))}.`,
    });
  }
  // HTTP/1.0 may leave it out
  const { localAddress = '127.0.0.1', localPort = 80, localFamily } = request.socket;
  return `http://${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`;
}
