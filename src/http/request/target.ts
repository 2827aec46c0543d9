import type { IncomingMessage } from 'node:http';

const SLASH = 0x2f;
/** Scheme and authority of a target in absolute form. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/**
 * Path and query of a request's target. A target in absolute form names the host, too, which then
 * counts in place of the Host header (RFC 9112, 3.2.2): the header is overwritten.
 */
export function originForm(request: IncomingMessage): string {
  const target = request.url!;
  if (target.charCodeAt(0) === SLASH) return target;
  const [start, authority] = ABSOLUTE.exec(target) ?? [];
  if (start === undefined) return target;
  request.headers.host = authority;
  const rest = target.slice(start.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** What stands after the `?` of a request target. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

/** What stands before it. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
