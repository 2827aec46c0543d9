import { isIPv6 } from 'node:net';

/** A name of 253 characters, a root dot and a port. */
const MAX_LENGTH = 260;
const SHAPE = /^(?:([\w-]{1,63}(?:\.[\w-]{1,63})*\.?)|\[([0-9A-Fa-f:.]{2,45})\])(?::(\d{1,5}))?$/;

/**
 * Whether a Host header can stand in a URL as it is: a name, an IPv4 address, or an IPv6 address in
 * brackets, each with an optional port. Names may have letters, digits, `-` and `_` only: what else
 * RFC 3986 allows (`'`, `(`, `%22`, …) no real name has, and it invites injection.
 */
export function isAuthority(host: string): boolean {
  if (host.length > MAX_LENGTH) return false;
  const parts = SHAPE.exec(host);
  if (parts === null) return false;
  const [, , ipv6, port] = parts;
  if (ipv6 !== undefined && !isIPv6(ipv6)) return false;
  return port === undefined || Number(port) <= 65_535;
}

/** Whether `entry` can match a host on a list of allowed hosts: it has no port. */
export function isHostPattern(entry: string): boolean {
  if (/:\d+$/.test(entry)) return false;
  return entry === '*' || isAuthority(entry.startsWith('.') ? entry.slice(1) : entry);
}

/**
 * Whether a list of allowed hosts has a valid authority: as an exact name, as `.example.org` for
 * that name and all below it, or as `*`. Ports, case and a root dot make no difference.
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
