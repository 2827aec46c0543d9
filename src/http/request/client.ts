import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';

/** An address with its port, as some proxies write it, or in brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;
/** What an IPv4 address in the clothes of IPv6 begins with. */
const MAPPED = '0:0:0:0:0:ffff:';

/**
 * The address by which the client of a request is counted: that of the connection, or where a proxy
 * is trusted the one that it saw.
 */
export function clientOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? forwardedAddress(request) : undefined;
  return networkOf(forwarded ?? request.socket.remoteAddress ?? '');
}

/**
 * One text for all ways to write an address: an IPv4 address itself, also in the clothes of IPv6,
 * and of an IPv6 address the network of 64 bits.
 */
export function networkOf(address: string): string {
  // most are IPv4: the shape of IPv6 is a long expression
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [plain = ''] = address.split('%', 1);
  // writes the last 32 bits as hexadecimal digits, too
  const groups = groupsOf(new URL(`http://[${plain}]`).hostname.slice(1, -1));
  const text = groups.join(':');
  if (!text.startsWith(MAPPED)) return groups.slice(0, 4).join(':');
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The eight groups of an IPv6 address in its shortest form. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::').map((part) => part.split(':').filter(Boolean));
  if (tail === undefined) return [...head];
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail];
}

/**
 * The address that a request comes from as the proxy in front saw it: the last of X-Forwarded-For,
 * without its port, since whatever stands before it may be the client's own. Undefined where that
 * is no address.
 */
function forwardedAddress({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  const text = Array.isArray(value) ? value.at(-1) : value;
  const last = text?.slice(text.lastIndexOf(',') + 1).trim() ?? '';
  const [, ipv6, ipv4] = WITH_PORT.exec(last) ?? [];
  const address = ipv6 ?? ipv4 ?? last;
  return isIP(address) === 0 ? undefined : address;
}
