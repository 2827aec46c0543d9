import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { JSON_FORMAT } from '../formats/json-format.js';
import type { Format } from '../formats/representation.js';
import type { HttpError } from '../request/http-error.js';
import { Negotiation, type Offer } from '../request/negotiation.js';
import { pathOf } from '../request/origin.js';
import type { Problems } from './filter-form.js';
import { renderPage, type Shown } from './page-template.js';
import { HOME, PLAIN_SUBJECT, type Site, type Subject } from './site.js';

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
    isNamedByBody: true,
    encode(page, { target, snapshot, headers, memory, budget }) {
      const records = page.records.json(page.keys);
      const answer = { method: 'GET', target, status: 200, headers, snapshot };
      return renderPage(
        site,
        subject,
        { ...page, ...answer, records, alternatives },
        memory,
        budget,
      );
    },
  };
}

export function sendErrorPage(
  reply: FastifyReply,
  site: Site,
  subject: Subject | undefined,
  error: HttpError,
): void {
  const { status, headers, body } = error;
  const problems = typeof body.detail === 'string' ? { detail: [body.detail] } : (body as Problems);
  const title = `${status} ${STATUS_CODES[status] ?? 'Error'}`;
  reply.headers(headers);
  const more = { problems, ...(error.posted && { posted: error.posted }) };
  sendPage(reply, site, subject, title, JSON.stringify(body), more);
}

/** Answers with a page about one record, a breadcrumb below the pages about `subject`. */
export function sendPage(
  reply: FastifyReply,
  site: Site,
  subject: Subject | undefined,
  title: string,
  record: string,
  more: Pick<Shown, 'problems' | 'posted' | 'made'>,
): void {
  const { method, url } = reply.request.raw;
  const about =
    subject === undefined
      ? { ...PLAIN_SUBJECT, crumbs: [HOME] }
      : { ...subject, crumbs: [...subject.crumbs, { label: subject.name, path: pathOf(url!) }] };
  reply.header('Content-Type', JSON_FORMAT.mediaType);
  // no id of the request: its length varies, and answers to HEAD tell the length
  const headers = Object.entries(reply.getHeaders()).filter(([name]) => name !== 'x-request-id');
  const shown = {
    title,
    // the answer to HEAD has the length of that to GET
    method: method === 'HEAD' ? 'GET' : method!,
    target: url!,
    status: reply.statusCode,
    headers: Object.fromEntries(headers),
    list: undefined,
    records: [record],
    alternatives: [],
  };
  reply.headers({ 'Content-Type': PAGE_TYPE, ...site.headers });
  void reply.send(renderPage(site, about, { ...shown, ...more }));
}
