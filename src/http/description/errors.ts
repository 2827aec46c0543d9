import type { IncomingMessage } from 'node:http';
import { kindOfBody, parseJsonBody } from '../request/body.js';
import {
  credentialsMissing,
  HttpError,
  internalError,
  invalidPage,
  keyReused,
  NotFound,
  otherSnapshot,
  overloaded,
  pageTooLarge,
  tooManyQueries,
  unavailable,
  wrongMethod,
} from '../request/errors.js';
import { readDraft } from '../request/fields.js';
import { createNegotiation, type Offer } from '../request/negotiation.js';
import { createOriginOf } from '../request/origin.js';
import type { Schema } from '../request/parameter.js';
import { throttled } from '../request/throttle.js';
import { invalidToken } from '../request/token.js';
import { PAGE, reference } from './description.js';
import { headerReferences, SENT } from './headers.js';

/** An error that a request may be answered with. */
export interface ErrorCase {
  /** Tells it from others of its status. */
  readonly name: string;
  readonly when: string;
  readonly error: HttpError;
}

/** What a piece of code throws. Anything but an HttpError goes on. */
export function thrownBy(run: () => unknown): HttpError | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  return undefined;
}

/** Errors that every address answers with; `formats` are those that it has. */
export function commonErrors(formats: readonly Offer[]): ErrorCase[] {
  const originOf = createOriginOf({ publicUrl: undefined, trustProxy: false, allowedHosts: ['*'] });
  const request = { headers: { host: 'a b' } } as IncomingMessage;
  const negotiation = createNegotiation(formats);
  return [
    one(
      'host',
      'the Host header is none',
      thrownBy(() => originOf(request)),
    ),
    one('token', 'the token is not known', invalidToken('Token')),
    nothingThere(),
    one(
      'format',
      'the format is not known',
      thrownBy(() => negotiation.named('xml')),
    ),
    one(
      'accept',
      'the header accepts no format',
      thrownBy(() => negotiation.accepted('image/png')),
    ),
    one('snapshot', 'the data has changed since', otherSnapshot('"72f5812cdf281718"', '"0c"')),
    one('queries', 'too many long queries wait', tooManyQueries()),
  ];
}

/** The error of an address that has nothing. */
export function nothingThere(): ErrorCase {
  return one('address', 'there is nothing at the address', new NotFound());
}

/** Errors of a list that has pages. */
export function pageErrors(): ErrorCase[] {
  const sizes = { count: 1000, size: 9_000_000, longest: 64_000, limit: 8 * 1024 * 1024 };
  return [
    one('page', 'the page does not exist', invalidPage()),
    one('bytes', 'the records of the page have too many bytes', pageTooLarge(sizes)),
  ];
}

/** Errors of a post, besides the common ones. */
export function postErrors(): ErrorCase[] {
  const draft = readDraft({ kind: 'json', value: { lat: 'far', tags: [''] } });
  const problems = 'problems' in draft ? draft.problems : {};
  return [
    one('fields', 'fields break a rule', new HttpError(400, problems)),
    one(
      'json',
      'the body is no JSON',
      thrownBy(() => parseJsonBody(Buffer.from('{bad'))),
    ),
    one('credentials', 'only holders of a token may post', credentialsMissing()),
    one('size', 'the body is too large', new HttpError(413, { detail: BODY_TOO_LARGE })),
    one(
      'type',
      'the type is not read',
      thrownBy(() => kindOfBody('text/plain', undefined)),
    ),
    one('key', 'the Idempotency-Key named another point', keyReused()),
    one('throttle', 'there were too many posts', throttled(12)),
    one('storage', 'the point could not be stored', unavailable('the disk is full')),
  ];
}

/** Errors that may come instead of any answer. */
export function otherErrors(): ErrorCase[] {
  return [
    one('method', 'the address does not take the method', wrongMethod('PUT', 'GET, HEAD, OPTIONS')),
    one('overload', 'the service has more to do than it can', overloaded()),
    one('internal', 'the service itself is at fault', internalError()),
  ];
}

/** What Fastify says of a body that is too large. */
const BODY_TOO_LARGE = 'Request body is too large';

/** The answers of some errors: one for each status, with an example of each error. */
export function errorAnswers(cases: readonly ErrorCase[]): Readonly<Record<string, Schema>> {
  const byStatus = new Map<number, ErrorCase[]>();
  for (const one of cases) {
    const { status } = one.error;
    byStatus.set(status, [...(byStatus.get(status) ?? []), one]);
  }
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, errorAnswer(some)]));
}

/** One answer for some errors, whatever their status. */
export function errorAnswer(cases: readonly ErrorCase[]): Schema {
  const names = new Set(cases.map(({ error }) => ('detail' in error.body ? DETAIL : FIELDS)));
  const schemas = [...names].map(reference);
  const headers = new Set(cases.flatMap(({ error }) => Object.keys(error.headers)));
  const examples = cases.map(({ name, when, error }) => [
    name,
    { summary: `${error.status}: ${when}`, value: error.body },
  ]);
  return {
    description: sentence([...new Set(cases.map(({ when }) => when))].join('; or ')),
    headers: headerReferences([...new Set([...SENT.refused, ...headers])]),
    content: {
      'application/json': {
        schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
        examples: Object.fromEntries(examples),
      },
      // for browsers
      'text/html': PAGE,
    },
  };
}

const DETAIL = 'Detail';
const FIELDS = 'FieldErrors';

function one(name: string, when: string, error: HttpError | undefined): ErrorCase {
  if (error === undefined) throw new Error(`The error of ${name} was not thrown.`);
  return { name, when, error };
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
