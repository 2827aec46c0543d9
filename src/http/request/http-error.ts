import { cut } from '../../model/quote.js';

/** The body of every error: one text, or texts by parameter or field. */
type ErrorBody = { readonly detail: string } | Readonly<Record<string, readonly string[]>>;

export class HttpError extends Error {
  override readonly name: string = 'HttpError';
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
  /** What the form of a page said, which is shown again. */
  posted?: Readonly<Record<string, string>>;

  constructor(status: number, body: ErrorBody, headers: Readonly<Record<string, string>> = {}) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Also true of an HttpError from another thread, which has lost its class. */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && thrown.name === 'HttpError';
}

export class NotFound extends HttpError {
  constructor(detail = 'Not found.') {
    super(404, { detail });
  }
}

export function invalidPage(): NotFound {
  return new NotFound('Invalid page.');
}

export function otherState(ifMatch: string, state: string): HttpError {
  const states = `If-Match asks for ${cut(ifMatch)}, and the state served is ${state}`;
  const detail = `The data has changed: ${states}. Begin again with the first page.`;
  return new HttpError(412, { detail }, { 'Waypost-Snapshot': state });
}

/** A 503 for what may work `seconds` later. */
export function tryLater(detail: string, seconds = 1): HttpError {
  return new HttpError(503, { detail }, { 'Retry-After': String(seconds) });
}

export const tookTooLong = (): HttpError =>
  tryLater('The answer took too long; try again in a moment, or ask for less.');
export const threadDied = (): HttpError => tryLater('The answer could not be made; ask for less.');
export const tooManyQueries = (): HttpError =>
  tryLater('Too many queries are waiting that take long; try again in a moment.');
export const tooManyExports = (most: number): HttpError =>
  tryLater(`${most} exports are under way already; try again in a while.`, 10);
export const tooManyStreams = (most: number): HttpError =>
  tryLater(`${most} streams are open already; try again in a while.`, 10);
export const exportEnded = (): HttpError =>
  tryLater('The export was ended: its points were replaced too often meanwhile.');
export const overloaded = (): HttpError =>
  tryLater('The service is overloaded; try again in a moment.');
/** For a post that was not stored, or of which that is not known. */
export const unavailable = (reason: string): HttpError =>
  tryLater(`The point was not accepted: ${reason}. Try again in a moment.`);

export const internalError = (): HttpError =>
  new HttpError(500, { detail: 'Internal server error.' });

export const wrongMethod = (method: string, allow: string): HttpError =>
  new HttpError(405, { detail: `Method "${method}" not allowed.` }, { Allow: allow });

export const unauthorized = (detail: string, scheme: 'Token' | 'Bearer'): HttpError =>
  new HttpError(401, { detail }, { 'WWW-Authenticate': scheme });
export const credentialsMissing = (): HttpError =>
  unauthorized('Authentication credentials were not provided.', 'Token');

export function keyReused(): HttpError {
  const why = 'The Idempotency-Key was used for another point';
  return new HttpError(422, { detail: `${why}. Expected the same body again, or another key.` });
}
