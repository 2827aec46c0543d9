import { isIPv6 } from 'node:net';

/** A name of 253 characters, a root dot and a port. */
const MAX_LENGTH = 260;
const SHAPE = /^(?:([\w-]{1,63}(?:\.[\w-]{1,63})*\.?)|\[([0-9A-Fa-f:.]{2,45})\])(?::(\d{1,5}))?$/;

/**
 * Whether `host` (a Host header) can stand in a URL as it is: a name or an IPv4 address, or an IPv6
 * address in brackets, each with an optional port. Names have letters, digits, `-` and `_` only:
 * the rest of what RFC 3986 lets through (`'`, `(`, `%22`, …) no real name has, and it invites
 * injection.
 */
export function isAuthority(host: string): boolean {
  if (host.length > MAX_LENGTH) return false;
  const parts = SHAPE.exec(host);
  if (parts === null) return false;
  const [, , ipv6, port] = parts;
  if (ipv6 !== undefined && !isIPv6(ipv6)) return false;
  return port === undefined || Number(port) <= 65_535;
}

/** Whether `entry` can stand on a list of allowed hosts; what cannot would match nothing. */
export function isHostPattern(entry: string): boolean {
  return entry === '*' || isAuthority(entry.startsWith('.') ? entry.slice(1) : entry);
}

/**
 * Whether a valid authority is on the list of allowed hosts: an exact name, `.example.org` for that
 * name and all below it, or `*` for any. Ports, case and a root dot make no difference.
 */
export function hostAllowed(host: string, list: readonly string[]): boolean {
  const name = hostName(host);
  return list.some((entry) => {
    if (entry === '*') return true;
    const allowed = hostName(entry);
    if (allowed.startsWith('.')) return name.endsWith(allowed) || name === allowed.slice(1);
    return name === allowed;
  });
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/\.?(?::\d+)?$/, '');
}
