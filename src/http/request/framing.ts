import type { IncomingMessage, ServerResponse } from 'node:http';
import { quote } from '../../model/quote.js';
import { HttpError } from './errors.js';

/**
 * Refuses what a request's head asks of the connection and does not get. Throws a 400 HttpError for
 * a transfer coding other than `chunked`, since a proxy in front may see the end of such a request
 * elsewhere, and a 417 one for an expectation other than `100-continue`.
 */
export function checkFraming({ headers }: IncomingMessage, response: ServerResponse): void {
  const { upgrade, expect, 'transfer-encoding': coding } = headers;
  // Node's parser drops what follows in the same packet: the client must learn that it was not
  // taken
  if (upgrade !== undefined) response.shouldKeepAlive = false;
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
