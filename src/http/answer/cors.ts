/** Headers that scripts may read. */
export const EXPOSED =
  'Allow, ETag, Location, Retry-After, Waypost-Sequence, Waypost-Snapshot, X-Request-Id';
const FOR_ANY: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED,
];

/**
 * Headers, names and values in turn, by which a browser lets a page of `origin` read the answer:
 * for any when the list has `*`, else for those on it.
 */
export function corsHeaders(
  origin: string | undefined,
  allowed: readonly string[],
): readonly string[] {
  if (allowed[0] === '*') return FOR_ANY;
  if (origin === undefined || !allowed.includes(origin)) return [];
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED];
}

/** What a browser that asks before a request from another origin is told besides. */
export function preflightHeaders(allow: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers':
      'Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range, Waypost-At-Least, Waypost-Timing, X-Request-Id',
    'Access-Control-Max-Age': '86400',
  };
}
