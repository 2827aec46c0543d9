import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Draft } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import type { PostKey } from '../../posts/journal.js';
import type { SharedRoom } from '../../posts/media/shared-room.js';
import type { Upload } from '../../posts/media/upload.js';
import type { PostRequest } from '../../posts/posts.js';
import type { Context, Observe, Posting } from '../answer/context.js';
import { corsHeaders, linesOf, varyOf } from '../answer/head.js';
import { createWrite } from '../answer/sender.js';
import {
  createdPage,
  headerList,
  PAGE_NEGOTIATION,
  PAGE_OFFER,
  setPageHeaders,
} from '../pages/page-format.js';
import { bodyOfForm, PAGE_FIELD, postedOf } from '../pages/post-form.js';
import type { Site, Subject } from '../pages/site.js';
import { ALLOW_POINTS, POINTS_PATH } from '../request/addresses.js';
import {
  type Body,
  type BodyKind,
  kindOfBody,
  POST_KINDS,
  parseFormBody,
  parseJsonBody,
  receiveBody,
} from '../request/body.js';
import { clientOf } from '../request/client.js';
import {
  credentialsMissing,
  HttpError,
  keyReused,
  RefusedForm,
  unavailable,
} from '../request/http-error.js';
import { readMultipart } from '../request/multipart.js';
import { checkSameSite, type OriginOf } from '../request/origin.js';
import { readDraft } from '../request/post-fields.js';

export const REPLAYED = 'Idempotency-Replayed';
/** Header of the answer to an accepted point: what has this sequence of the journal has the point. */
const SEQUENCE = 'Waypost-Sequence';
const SHARED = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };

declare module 'fastify' {
  interface FastifyRequest {
    admission: Admission | undefined;
  }
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
  const { posts, uploads } = posting;
  const { corsOrigin, compress, site, bodies, originOf } = context;
  const { trustProxy } = context.origin;
  const admitting = { posting, trustProxy, originOf, bodies };
  const vary = varyOf({ isPersonal: false, compress, corsOrigin });
  const fixed = linesOf([
    ...['Allow', ALLOW_POINTS, 'Vary', vary, 'X-Content-Type-Options', 'nosniff'],
    ...Object.entries(SHARED).flat(),
    ...(corsOrigin[0] === '*' ? corsHeaders(undefined, corsOrigin) : []),
  ]);
  const write = createWrite(context, observe);

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const admission = request.admission!;
    const sent = await admission.read(request.raw);
    try {
      const { body } = sent;
      if (!admission.isPage || body.kind === 'json') {
        return await accept(request, reply, admission.requestOf(sent));
      }
      try {
        const said = { ...sent, body: bodyOfForm(body.fields) };
        const page = body.fields.get(PAGE_FIELD)?.at(-1);
        return await accept(request, reply, admission.requestOf(said, page));
      } catch (error) {
        throw error instanceof HttpError ? new RefusedForm(error, postedOf(body.fields)) : error;
      }
    } finally {
      // whatever became of the post: an image of a point is another file
      if (sent.image !== undefined) await uploads?.discard(sent.image);
    }
  }

  async function accept(
    request: FastifyRequest,
    reply: FastifyReply,
    post: PostRequest,
  ): Promise<FastifyReply> {
    const { raw } = request;
    const { origin, isPage } = request.admission!;
    const answer = await posts.post(post);
    if (answer.kind === 'refused') throw new HttpError(400, answer.problems);
    if (answer.kind === 'key_reused') throw keyReused();
    if (answer.kind === 'unavailable') throw unavailable(answer.reason);
    const { id, record, sequence } = answer;
    const location = `${origin}${POINTS_PATH}${id}/`;
    if (isPage || answer.kind === 'replayed') {
      reply.code(201).headers({ Allow: ALLOW_POINTS, Vary: vary, Location: location, ...SHARED });
      reply.header(SEQUENCE, sequence);
      if (answer.kind === 'replayed') reply.header(REPLAYED, 'true');
      const bytes = Buffer.from(record);
      return isPage ? sendPage(reply, site, subject, id, bytes) : reply.send(bytes);
    }
    let lines = `${SEQUENCE}: ${sequence}\r\nLocation: ${location}\r\n${fixed}`;
    lines += `Content-Length: ${Buffer.byteLength(record)}\r\n`;
    // where the client did, the writer adds it
    if (raw.headers['x-request-id'] === undefined) lines += `X-Request-Id: ${request.id}\r\n`;
    write(request, reply, 201, 'none', lines, record);
    return reply;
  }

  app.register(async (scope) => {
    scope.decorateRequest('admission', undefined);
    // the handler reads the body: it knows who sends it
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.route({
      method: 'POST',
      url: POINTS_PATH,
      config: { observe },
      onRequest(request, _reply, done) {
        request.admission = new Admission(request, admitting);
        done();
      },
      handler: handle,
    });
  });
}

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

const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

export interface Admitting {
  readonly posting: Posting;
  readonly trustProxy: boolean;
  readonly originOf: OriginOf;
  readonly bodies: SharedRoom;
}

export interface Submission {
  readonly body: Body;
  readonly image: Upload | undefined;
}

/**
 * One post from its head to its answer: who sends it, what it is, and what makes it count once. It
 * is made before the body is read, and refuses what can be refused without: throws an HttpError.
 */
export class Admission {
  /** Of the token that came with it. */
  readonly user: number | undefined;
  /** By which its client is counted. */
  readonly address: string;
  readonly origin: string;
  readonly isPage: boolean;
  readonly #posting: Posting;
  readonly #bodies: SharedRoom;
  readonly #keyName: string | undefined;
  readonly #kind: BodyKind | undefined;

  constructor({ raw, user }: FastifyRequest, { posting, trustProxy, originOf, bodies }: Admitting) {
    const { headers } = raw;
    this.#posting = posting;
    this.#bodies = bodies;
    this.user = user;
    this.address = clientOf(raw, trustProxy);
    if (user === undefined && posting.requireToken) throw credentialsMissing();
    if (user === undefined) posting.addressThrottle.take(this.address);
    else posting.tokenThrottle.take(String(user));
    this.origin = originOf(raw);
    this.isPage = PAGE_NEGOTIATION.accepted(headers.accept) === PAGE_OFFER;
    // a form of a page, which a page of another site could have sent just as well
    if (this.isPage) checkSameSite(raw, this.origin);
    this.#keyName = keyName(headers['idempotency-key'], user);
    this.#kind = hasBody(headers) ? kindOfBody(headers, POST_KINDS) : undefined;
  }

  /** Without a body nothing was said. Throws an HttpError; no image is left then. */
  async read(raw: IncomingMessage): Promise<Submission> {
    const { uploads } = this.#posting;
    const { address } = this;
    const room = this.#bodies;
    if (this.#kind === 'multipart') {
      const { fields, image } = await readMultipart(raw, { uploads, room, address });
      return { body: { kind: 'form', fields }, image };
    }
    if (this.#kind === undefined) return { body: parseFormBody(Buffer.alloc(0)), image: undefined };
    const bytes = await receiveBody(raw, room, address);
    const body = this.#kind === 'json' ? parseJsonBody(bytes) : parseFormBody(bytes);
    return { body, image: undefined };
  }

  /**
   * The post itself, of what was sent; a form has the `page` that it stands on. Throws a 400
   * HttpError where fields are wrong and there is no image, which may be wrong, too: both are told
   * together.
   */
  requestOf({ body, image }: Submission, page?: string): PostRequest {
    const { user, address } = this;
    const draft = readDraft(body);
    if ('problems' in draft) {
      if (image === undefined) throw new HttpError(400, draft.problems);
      return { draft, user, address, key: undefined, upload: image };
    }
    return { draft, user, address, key: this.#keyOf(draft, image, page), upload: image };
  }

  /**
   * What makes a post count once: the key, and what the body says however it is written down. A
   * form has no key, but counts once for what it says and who sent it from which page.
   */
  #keyOf(
    { lat, lon, comment, tags }: Draft,
    image: Upload | undefined,
    page: string | undefined,
  ): PostKey | undefined {
    if (this.#keyName === undefined && !page) return undefined;
    const body = sha256(JSON.stringify([lat, lon, comment, tags, image?.sha256]));
    if (this.#keyName !== undefined) return { name: this.#keyName, body };
    const form = JSON.stringify([this.address, this.user, page]);
    // a key of a client's own has one blank, behind the user
    return { name: `- form ${sha256(form + body)}`, body };
  }
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

/** With the user in front: nobody's key is in the way of another's. Throws a 400 HttpError. */
function keyName(header: string | string[] | undefined, user: number | undefined) {
  if (header === undefined) return undefined;
  const key = String(header);
  if (KEY_SHAPE.test(key)) return `${user ?? '-'} ${key}`;
  const expected = '1 to 255 visible ASCII characters without blanks, such as a UUID';
  const detail = `Got Idempotency-Key ${quote(key)}. Expected ${expected}.`;
  throw new HttpError(400, { detail });
}

function sha256(text: string): string {
  return hash('sha256', text);
}
