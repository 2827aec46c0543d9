import { hash, randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { sharedArray } from '../../model/memory.js';
import { holderOf, isSameToken, type Tokens } from '../../posts/tokens/file.js';
import { HttpError, unauthorized } from './http-error.js';

/** An address with its port, as some proxies write it, or in brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;
/** What an IPv4 address written as IPv6 begins with. */
const MAPPED = '0:0:0:0:0:ffff:';

/** The address that limits count by: the connection's, or the one that a trusted proxy saw. */
export function clientOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? forwardedAddress(request) : undefined;
  return networkOf(forwarded ?? request.socket.remoteAddress ?? '');
}

/** Normalizes an address; an IPv6 address becomes its network of 64 bits. */
export function networkOf(address: string): string {
  // most are IPv4, and `isIPv6` is a long regular expression
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [plain = ''] = address.split('%', 1);
  // `URL` writes the last 32 bits in hexadecimal, too
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
 * The last address of X-Forwarded-For, without its port: whatever stands before it may be the
 * client's own. Undefined where it is no address.
 */
function forwardedAddress({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  const text = Array.isArray(value) ? value.at(-1) : value;
  const last = text?.slice(text.lastIndexOf(',') + 1).trim() ?? '';
  const [, ipv6, ipv4] = WITH_PORT.exec(last) ?? [];
  const address = ipv6 ?? ipv4 ?? last;
  return isIP(address) === 0 ? undefined : address;
}

/** Schemes that carry a key; a request with another one is anonymous. */
const SCHEME = /^(?:token|bearer)$/i;

/** Undefined without a token. Throws a 401 HttpError for one that is not known. */
export function userOf(authorization: string | undefined, tokens: Tokens): number | undefined {
  const key = tokenOf(authorization);
  if (key === undefined) return undefined;
  const holder = holderOf(key, tokens);
  if (holder !== undefined) return holder.user;
  throw unauthorized('Invalid token.', 'Token');
}

export function isAdmin(
  authorization: string | undefined,
  tokens: Tokens,
  adminToken: string | undefined,
): boolean {
  const given = tokenOf(authorization);
  if (given === undefined) return false;
  if (adminToken !== undefined && isSameToken(given, adminToken)) return true;
  return holderOf(given, tokens)?.isAdmin === true;
}

/** Throws a 401 HttpError where a scheme of tokens is not followed by one word. */
function tokenOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [scheme = '', key, ...others] = authorization.trim().split(/[\t ]+/);
  if (!SCHEME.test(scheme)) return undefined;
  if (key !== undefined && others.length === 0) return key;
  const reason =
    key === undefined ? 'No credentials provided.' : 'Token string should not contain spaces.';
  const wanted = scheme.toLowerCase() === 'token' ? 'Token' : 'Bearer';
  throw unauthorized(`Invalid token header. ${reason}`, wanted);
}

/** Where throttles count, in memory that all threads share: a seed, then slots. */
export type ThrottleMemory = Float64Array;

/** Counts one request. Throws a 429 HttpError that says when the next may come. */
export type Throttle = (client: string) => void;

/** A client has two slots, picked by a hash with a secret seed; both must be full to throttle it. */
const SLOTS = 1 << 17;
const MINUTE_MS = 60_000;
/** More than the rounding error of sums of times. */
const ROUNDING_MS = 0.01;

export function createThrottleMemory(): ThrottleMemory {
  const memory = sharedArray(Float64Array, 1 + SLOTS);
  memory[0] = randomInt(2 ** 47);
  return memory;
}

/** Milliseconds of a clock that is the same for all threads and never put back. */
const steadyMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** 0 never throttles. A client that was quiet for a minute has all of `perMinute` again. */
export function createThrottle(
  memory: ThrottleMemory,
  perMinute: number,
  now: () => number = steadyMs,
): Throttle {
  if (perMinute === 0) return () => {};
  const cost = MINUTE_MS / perMinute;

  return (client) => {
    const time = now();
    const digest = hash('sha256', `${memory[0]} ${client}`, 'buffer');
    const slots = [digest.readUInt32LE(0), digest.readUInt32LE(4)].map((one) => 1 + (one % SLOTS));
    // a slot holds the time at which all that was taken is given back
    const debt = Math.max(0, Math.min(...slots.map((slot) => memory[slot]!)) - time);
    if (debt + cost > MINUTE_MS + ROUNDING_MS) {
      throw throttled(Math.ceil((debt + cost - MINUTE_MS) / 1000));
    }
    // a lost update between two threads lets one more through, and nothing worse
    const until = time + debt + cost;
    for (const slot of slots) memory[slot] = Math.max(memory[slot]!, until);
  };
}

export function throttled(seconds: number): HttpError {
  const detail = `Request was throttled. Expected available in ${seconds} seconds.`;
  return new HttpError(429, { detail }, { 'Retry-After': String(seconds) });
}
