import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { JSON_FORMAT, shownRecords } from '../formats/json-format.js';
import type { Format } from '../formats/representation.js';
import type { HttpError } from '../request/http-error.js';
import { Negotiation, type Offer } from '../request/negotiation.js';
import type { Problems } from './filter-form.js';
import { renderPage } from './page-template.js';
import { PLAIN_SUBJECT, type Site, type Subject } from './site.js';

/** JSON that a page for people may show: 10 ms of work in all. */
const MAX_BYTES = 2 * 1024 * 1024;

export const PAGE_OFFER: Offer = { parameter: 'api', mediaType: 'text/html' };
/** Between JSON and a page, where an address has no other formats. */
export const PAGE_NEGOTIATION: Negotiation<Offer> = new Negotiation<Offer>([
  JSON_FORMAT,
  PAGE_OFFER,
]);
export const PAGE_TYPE = 'text/html; charset=utf-8';

export function pageFormat(site: Site, subject: Subject, alternatives: readonly Offer[]): Format {
  return {
    name: 'html',
    ...PAGE_OFFER,
    contentType: PAGE_TYPE,
    headers: site.headers,
    maxBytes: MAX_BYTES,
    encode(page, { target, memory, budget }) {
      const shown = {
        ...{ title: page.title, method: 'GET', target, status: 200, alternatives },
        ...{ list: page.list, records: shownRecords(page), needsToken: page.needsToken },
      };
      return renderPage(site, subject, shown, memory, budget);
    },
  };
}

export function setPageHeaders(reply: FastifyReply, { headers }: Site): void {
  reply.header('Content-Type', PAGE_TYPE);
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!);
}

/** The page of an error, at the address of `subject`, where there is one. */
export function errorPage(
  site: Site,
  subject: Subject | undefined,
  { method, target }: { readonly method: string; readonly target: string },
  { status, body }: HttpError,
): Buffer<ArrayBuffer> {
  const { detail } = body;
  return renderPage(site, subject ?? PLAIN_SUBJECT, {
    title: `${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...{ method, target, status, list: undefined, alternatives: [] },
    records: [Buffer.from(JSON.stringify(body))],
    problems: typeof detail === 'string' ? { detail: [detail] } : (body as Problems),
  });
}
