import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Upload, Uploads } from '../../media/upload.js';
import type { Draft, Refused } from '../../model/draft.js';
import { quote } from '../../model/quote.js';
import type { PostKey } from '../../posts/journal.js';
import type { Context, Posting } from '../answer/context.js';
import { corsHeaders } from '../answer/cors.js';
import { varyOf } from '../answer/head.js';
import { linesOf } from '../answer/head-lines.js';
import type { Observe } from '../answer/request-stats.js';
import { createWrite } from '../answer/write.js';
import { JSON_FORMAT } from '../formats/json.js';
import { createdPage } from '../pages/answer.js';
import { PAGE_OFFER } from '../pages/format.js';
import { headerList, setPageHeaders } from '../pages/headers.js';
import { PAGE_FIELD } from '../pages/post-form.js';
import { bodyOfForm, postedOf } from '../pages/posted.js';
import type { Site } from '../pages/site.js';
import type { Subject } from '../pages/subject.js';
import { ALLOW_POINTS, POINTS_PATH } from '../request/addresses.js';
import { type Body, kindOfBody, parseFormBody, parseJsonBody } from '../request/body.js';
import {
  credentialsMissing,
  HttpError,
  keyReused,
  RefusedForm,
  unavailable,
} from '../request/errors.js';
import { readDraft } from '../request/fields.js';
import { addMultipart, readMultipart } from '../request/multipart.js';
import { createNegotiation, type Offer } from '../request/negotiation.js';
import { createOriginOf, forwardedAddress } from '../request/origin.js';
import { checkSameSite } from '../request/same-site.js';
import { clientOf } from '../request/throttle.js';
import { userOf } from '../request/token.js';

const PARSED = ['application/json', 'application/x-www-form-urlencoded'];
/** Header of the answer to a post that was accepted before. */
export const REPLAYED = 'Idempotency-Replayed';
/** Header of the answer to an accepted point: what has this sequence of the journal has the point. */
const SEQUENCE = 'Waypost-Sequence';
/** Headers that all answers to accepted points have in common. */
const SHARED = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };
const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

/** What was sent. */
interface Submission {
  readonly body: Body;
  readonly image: Upload | undefined;
  /** Whether the answer is a page. */
  readonly isPage: boolean;
  /** What a form says of the page that it stands on. */
  readonly page?: string | undefined;
}

/**
 * Adds `POST /rest/map_data_points/`, which accepts a point: limits and types are looked at before
 * the body is read, fields before the point is stored, and the answer comes once the point is
 * durable and visible.
 */
export function addPosting(
  app: FastifyInstance,
  context: Context,
  posting: Posting,
  subject: Subject,
  observe: Observe,
): void {
  const { posts, requireToken, addressThrottle, tokenThrottle, uploads } = posting;
  const { tokens, corsOrigin, compress, site } = context;
  const { trustProxy } = context.origin;
  const originOf = createOriginOf(context.origin);
  const negotiation = createNegotiation<Offer>([JSON_FORMAT, PAGE_OFFER]);
  const vary = varyOf({ isPersonal: false, compress, corsOrigin });
  const fixed = linesOf([
    ...['Allow', ALLOW_POINTS, 'Vary', vary, 'X-Content-Type-Options', 'nosniff'],
    ...Object.entries(SHARED).flat(),
    ...(corsOrigin[0] === '*' ? corsHeaders(undefined, corsOrigin) : []),
  ]);
  const write = createWrite(context, observe);

  /** Refuses what can be refused without the body. */
  function admit({ raw }: FastifyRequest): void {
    const { headers } = raw;
    const user = userOf(headers.authorization, tokens);
    if (user === undefined && requireToken) throw credentialsMissing();
    if (user !== undefined) {
      tokenThrottle.take(String(user));
    } else {
      addressThrottle.take(senderOf(raw, trustProxy));
    }
    const origin = originOf(raw);
    // a form of a page, which a page of another site could have sent just as well
    if (negotiation.accepted(headers.accept) === PAGE_OFFER) checkSameSite(raw, origin);
    keyName(headers['idempotency-key'], user);
    if (hasBody(raw.headers)) kindOfBody(headers['content-type'], headers['content-encoding']);
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { body, image } = await bodyOf(request, uploads);
    const isPage = negotiation.accepted(request.raw.headers.accept) === PAGE_OFFER;
    if (!isPage || body.kind === 'json') return accept(request, reply, { body, image, isPage });
    const page = body.fields.get(PAGE_FIELD)?.at(-1);
    try {
      return await accept(request, reply, { body: bodyOfForm(body.fields), image, isPage, page });
    } catch (error) {
      throw error instanceof HttpError ? new RefusedForm(error, postedOf(body.fields)) : error;
    }
  }

  async function accept(
    request: FastifyRequest,
    reply: FastifyReply,
    { body, image, isPage, page }: Submission,
  ): Promise<FastifyReply> {
    const { raw } = request;
    const user = userOf(raw.headers.authorization, tokens);
    const draft = readDraft(body);
    // an image may be wrong, too, and both are told together
    if ('problems' in draft && image === undefined) throw new HttpError(400, draft.problems);
    const name = keyName(raw.headers['idempotency-key'], user);
    const form = page ? JSON.stringify([senderOf(raw, trustProxy), user, page]) : undefined;
    const key = keyOf(name, form, draft, image);
    const answer = await posts.post({ draft, user, key, upload: image });
    if (answer.kind === 'refused') throw new HttpError(400, answer.problems);
    if (answer.kind === 'key_reused') throw keyReused();
    if (answer.kind === 'unavailable') throw unavailable(answer.reason);
    const { id, record, sequence } = answer;
    const location = `${originOf(raw)}${POINTS_PATH}${id}/`;
    if (isPage || answer.kind === 'replayed') {
      reply.code(201).headers({ Allow: ALLOW_POINTS, Vary: vary, Location: location, ...SHARED });
      reply.header(SEQUENCE, sequence);
      if (answer.kind === 'replayed') reply.header(REPLAYED, 'true');
      const bytes = Buffer.from(record);
      return isPage ? sendPage(reply, site, subject, id, bytes) : reply.send(bytes);
    }
    let lines = `${SEQUENCE}: ${sequence}\r\nLocation: ${location}\r\n${fixed}Content-Length: ${Buffer.byteLength(record)}\r\n`;
    // where the client did, the writer adds it
    if (raw.headers['x-request-id'] === undefined) lines += `X-Request-Id: ${request.id}\r\n`;
    write(request, reply, 201, 'none', lines, record);
    return reply;
  }

  app.register(async (scope) => {
    await addMultipart(scope);
    scope.addContentTypeParser(PARSED, { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body);
    });
    scope.route({
      method: 'POST',
      url: POINTS_PATH,
      config: { isPosting: true },
      onRequest: (request, _reply, done) => {
        admit(request);
        done();
      },
      handler: handle,
    });
  });
}

/** Names who sent a request, by the address. */
function senderOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? forwardedAddress(request) : undefined;
  return clientOf(forwarded ?? request.socket.remoteAddress ?? '');
}

/** Sends the page of a point that was accepted. */
function sendPage(
  reply: FastifyReply,
  site: Site,
  subject: Subject,
  id: number,
  record: Buffer,
): FastifyReply {
  setPageHeaders(reply, site);
  const asked = { method: 'POST', target: reply.request.raw.url! };
  const title = `Map data point ${id}`;
  const made = `${site.prefix}${POINTS_PATH}${id}/`;
  return reply.send(createdPage(site, subject, asked, title, made, record, headerList(reply)));
}

/**
 * What the body says, and its image; none at all says nothing. Throws an HttpError for what is no
 * body.
 */
async function bodyOf(
  request: FastifyRequest,
  uploads: Uploads | undefined,
): Promise<{ readonly body: Body; readonly image: Upload | undefined }> {
  const { headers } = request.raw;
  const kind = hasBody(headers) ? kindOfBody(headers['content-type'], undefined) : 'form';
  if (kind === 'multipart') {
    const { fields, image } = await readMultipart(request, uploads);
    return { body: { kind: 'form', fields }, image };
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const body = kind === 'json' ? parseJsonBody(bytes) : parseFormBody(bytes);
  return { body, image: undefined };
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/**
 * The Idempotency-Key of a request, with the user in front: nobody's key is in the way of
 * another's. Throws a 400 HttpError for one that is none.
 */
function keyName(header: string | string[] | undefined, user: number | undefined) {
  if (header === undefined) return undefined;
  const key = String(header);
  if (KEY_SHAPE.test(key)) return `${user ?? '-'} ${key}`;
  const detail = `Got Idempotency-Key ${quote(key)}. Expected 1 to 255 visible ASCII characters without blanks, such as a UUID.`;
  throw new HttpError(400, { detail });
}

/**
 * What makes a post count once: the key, and what the body says however it is written down. A form
 * has no key, but counts once for what it says and `form`, which tells who sent it from which page.
 */
function keyOf(
  name: string | undefined,
  form: string | undefined,
  draft: Draft | Refused,
  image: Upload | undefined,
): PostKey | undefined {
  if ((name ?? form) === undefined || 'problems' in draft) return undefined;
  const { lat, lon, comment, tags } = draft;
  const body = sha256(JSON.stringify([lat, lon, comment, tags, image?.sha256]));
  // a key of a client's own has one blank, behind the user
  return { name: name ?? `- form ${sha256(form + body)}`, body };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
