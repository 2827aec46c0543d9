import { STATUS_CODES } from 'node:http';
import { type ErrorBody, type HttpError, RefusedForm } from '../request/errors.js';
import { pathOf } from '../request/target.js';
import type { Problems } from './fields.js';
import { renderPage, type Shown } from './page.js';
import type { Site } from './site.js';
import { HOME, plainSubject, type Subject } from './subject.js';

/** The request of a page that is made at once. */
export interface PageRequest {
  readonly method: string;
  readonly target: string;
}

/** Of an address that is none. */
const NOWHERE: Subject = {
  ...plainSubject(HOME.label, ''),
  crumbs: [HOME],
};

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
