import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { JSON_FORMAT, shownRecords } from '../formats/json-format.js';
import type { Format } from '../formats/representation.js';
import { type ErrorBody, type HttpError, RefusedForm } from '../request/http-error.js';
import { Negotiation, type Offer } from '../request/negotiation.js';
import { pathOf } from '../request/origin.js';
import type { Problems } from './filter-form.js';
import { renderPage, type Shown } from './page-template.js';
import { HOME, PLAIN_SUBJECT, type Site, type Subject } from './site.js';

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
    isNamedByBody: true,
    isTimed: true,
    encode(page, { target, snapshot, headers, memory, budget }) {
      const shown = {
        title: page.title,
        method: 'GET',
        target,
        status: 200,
        headers,
        snapshot,
        list: page.list,
        records: shownRecords(page),
        alternatives,
        offered: page.offered,
        needsToken: page.needsToken ?? false,
      };
      return renderPage(site, subject, shown, memory, budget);
    },
  };
}

export function setPageHeaders(reply: FastifyReply, { headers }: Site): void {
  reply.header('Content-Type', PAGE_TYPE);
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!);
}

/** Headers of an answer as far as they are known, names and values in turn. */
export function headerList(reply: FastifyReply): string[] {
  // the id of a request is not shown: its length is another each time, and answers to HEAD tell the
  // length
  return Object.entries(reply.getHeaders())
    .filter(([name]) => name !== 'x-request-id')
    .flatMap(([name, value]) => [name, String(value)]);
}

export interface PageRequest {
  readonly method: string;
  readonly target: string;
}

/** Of an address that is none. */
const NOWHERE: Subject = { ...PLAIN_SUBJECT, crumbs: [HOME] };

/** The page of an error; `headers` are those of the answer as far as they are known. */
export function errorPage(
  site: Site,
  subject: Subject | undefined,
  { method, target }: PageRequest,
  error: HttpError,
  headers: readonly string[],
): Buffer<ArrayBuffer> {
  const { status, body } = error;
  const { name, crumbs } = subject ?? NOWHERE;
  const shown: Shown = {
    title: `${status} ${STATUS_CODES[status] ?? 'Error'}`,
    method,
    target,
    status,
    headers,
    list: undefined,
    records: [Buffer.from(JSON.stringify(body))],
    alternatives: [],
    problems: problemsOf(body),
    ...(error instanceof RefusedForm && { posted: error.posted }),
  };
  const parent = { label: name, path: pathOf(target) };
  const above = subject === undefined ? crumbs : [...crumbs, parent];
  return renderPage(site, { ...(subject ?? NOWHERE), crumbs: above }, shown);
}

/** The page of a record that a form has made, whose own address is `made`. */
export function createdPage(
  site: Site,
  subject: Subject,
  { method, target }: PageRequest,
  title: string,
  made: string,
  record: Uint8Array,
  headers: readonly string[],
): Buffer<ArrayBuffer> {
  const crumbs = [...subject.crumbs, { label: subject.name, path: pathOf(target) }];
  return renderPage(
    site,
    { ...subject, crumbs },
    {
      title,
      method,
      target,
      status: 201,
      headers,
      list: undefined,
      records: [record],
      alternatives: [],
      made,
    },
  );
}

function problemsOf(body: ErrorBody): Problems {
  const { detail } = body;
  if (typeof detail === 'string') return { detail: [detail] };
  return body as Problems;
}
