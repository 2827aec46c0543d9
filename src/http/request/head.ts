import type { IncomingMessage, ServerResponse } from 'node:http';
import { quote } from '../../model/quote.js';
import { HttpError } from './errors.js';

/** Headers that hardly any request has. */
const RARE: ReadonlySet<string> = new Set(['expect', 'upgrade', 'transfer-encoding']);

/**
 * Refuses a request by its head. Throws a 400 HttpError for a request of HTTP/1.1 without a Host
 * header and for any with two, since what stands in front of the service may have looked at the
 * other one; and the errors of {@link checkRare}. One pass over the names costs less than a look
 * for each header that is not there.
 */
export function checkHead(request: IncomingMessage, response: ServerResponse): void {
  const { rawHeaders, httpVersion } = request;
  let hosts = 0;
  let hasRare = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const { length } = name;
    if (length === 4) {
      if (name === 'Host' || name.toLowerCase() === 'host') hosts++;
    } else if (length === 6 || length === 7 || length === 17) {
      hasRare ||= RARE.has(name.toLowerCase());
    }
  }
  if (hasRare) checkRare(request, response);
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  response.shouldKeepAlive = false;
  const problem =
    hosts === 0 ? 'The Host header is missing.' : 'There is more than one Host header.';
  throw new HttpError(400, { detail: problem });
}

/**
 * Refuses what a head asks of the connection and does not get. Throws a 400 HttpError for
 * a transfer coding other than `chunked`, and for any in HTTP/1.0, which has none, since a proxy in
 * front may see the end of such a request elsewhere, and a 417 one for an expectation other than `100-continue`.
 */
function checkRare({ headers, httpVersion }: IncomingMessage, response: ServerResponse): void {
  const { upgrade, expect, 'transfer-encoding': coding } = headers;
  // Node's parser drops what follows in the same packet: the client must learn that it was not
  // taken
  if (upgrade !== undefined) response.shouldKeepAlive = false;
  if (coding !== undefined && httpVersion === '1.0') {
    response.shouldKeepAlive = false;
    const detail = 'Got Transfer-Encoding in a request of HTTP/1.0. Expected a Content-Length.';
    throw new HttpError(400, { detail });
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    response.shouldKeepAlive = false;
    const detail = `Got Transfer-Encoding ${quote(coding)}. Expected chunked, or a Content-Length instead.`;
    throw new HttpError(400, { detail });
  }
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new HttpError(417, {
      detail: `Got Expect ${quote(expect)}. Expected 100-continue, or none.`,
    });
  }
}
