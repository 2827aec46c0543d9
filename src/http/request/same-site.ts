import type { IncomingMessage } from 'node:http';
import { quote } from '../../model/quote.js';
import { HttpError } from './errors.js';

/**
 * Refuses a post that a page of another site makes a browser send. `origin` is what the links of
 * this service begin with. Browsers say by themselves where a form comes from; other clients say
 * nothing, and are nobody's tools. Throws a 403 HttpError.
 */
export function checkSameSite({ headers }: IncomingMessage, origin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site === 'same-origin' || site === 'none') return;
    throw fromElsewhere(`Sec-Fetch-Site ${quote(String(site))}`);
  }
  const { origin: from, host } = headers;
  if (from === undefined) return;
  // the scheme may be the proxy's in front of this service
  const named = URL.canParse(from) ? new URL(from).host : undefined;
  if (named !== undefined && (named === host || named === new URL(origin).host)) return;
  throw fromElsewhere(`Origin ${quote(from)}`);
}

function fromElsewhere(what: string): HttpError {
  const detail = `This form was sent from a page of another site: got ${what}. Expected a form of this service's own pages; programs ask for application/json in their Accept header.`;
  return new HttpError(403, { detail });
}
