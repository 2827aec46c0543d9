/** One member of the list, with the commas and blanks before it. */
const MEMBER = /[\t ,]*(?:W\/)?("[^"]*")[\t ]*(?=,|$)/y;

/**
 * Whether an If-None-Match header names `etag`, a quoted tag, weak or strong. Compares weakly, as
 * RFC 9110 asks for it here. What follows a malformed member does not count.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  MEMBER.lastIndex = 0;
  for (let member = MEMBER.exec(ifNoneMatch); member; member = MEMBER.exec(ifNoneMatch)) {
    if (member[1] === opaque) return true;
  }
  return false;
}
