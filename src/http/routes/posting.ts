import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { byteText } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import type { SharedRoom } from '../../model/turns.js';
import type { Upload } from '../../posts/media/upload.js';
import type { PostRequest } from '../../posts/posts.js';
import type { Context, Posting } from '../answer/context.js';
import { fixedHeaders, linesOf } from '../answer/head.js';
import { Sender } from '../answer/sender.js';
import { PAGE_NEGOTIATION, PAGE_OFFER, sendPage } from '../pages/page-format.js';
import { bodyOfForm, PAGE_FIELD, postedOf } from '../pages/post-form.js';
import type { Subject } from '../pages/site.js';
import { ALLOW_POINTS, POINTS_PATH } from '../request/addresses.js';
import {
  type Body,
  hasBody,
  POST_TYPES,
  type PostType,
  parseFormBody,
  parseJsonBody,
  receiveBody,
  typeOfBody,
} from '../request/body.js';
import { clientOf } from '../request/client.js';
import { credentialsMissing, HttpError, keyReused, unavailable } from '../request/http-error.js';
import { readMultipart } from '../request/multipart.js';
import { checkSameSite } from '../request/origin.js';
import { readDraft } from '../request/post-fields.js';
import { parametersOf } from '../request/query-string.js';

/** Header of a 201: a state that has this sequence of the journal has the point. */
const SEQUENCE = 'Waypost-Sequence';
const REPLAYED = {
  'Idempotency-Replayed': 'true',
  'Access-Control-Expose-Headers': 'Idempotency-Replayed',
};
const SHARED = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };

/** Adds `POST /rest/map_data_points/`, which answers once the point is durable and visible. */
export function addPosting(
  app: FastifyInstance,
  context: Context,
  posting: Posting,
  subject: Subject,
): void {
  const { posts, uploads } = posting;
  const { corsOrigin, compress, site, bodies } = context;
  const fixed = { ...fixedHeaders(ALLOW_POINTS, { compress, corsOrigin }), ...SHARED };
  const fixedLines = linesOf(fixed);
  const sender = new Sender(context, 'posting');

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const admission = admit(request, context, posting);
    const { body, image } = await read(request.raw, admission, posting, bodies);
    const form = admission.isPage && body.kind === 'form' ? body.fields : undefined;
    try {
      const said = form === undefined ? body : bodyOfForm(form);
      const page = form?.get(PAGE_FIELD)?.at(-1);
      return await accept(reply, admission, requestOf(admission, { body: said, image }, page));
    } catch (error) {
      if (form !== undefined && error instanceof HttpError) error.posted = postedOf(form);
      throw error;
    } finally {
      // in any case: the image of a point is another file
      if (image !== undefined) await uploads?.discard(image);
    }
  }

  async function accept(
    reply: FastifyReply,
    { origin, isPage }: Admission,
    post: PostRequest,
  ): Promise<FastifyReply> {
    const answer = await posts.post(post);
    if (answer.kind === 'refused') throw new HttpError(400, answer.problems);
    if (answer.kind === 'key_reused') throw keyReused();
    if (answer.kind === 'unavailable') throw unavailable(answer.reason);
    const { id, record, sequence } = answer;
    const location = `${origin}${POINTS_PATH}${id}/`;
    const own = { [SEQUENCE]: String(sequence), Location: location };
    // scripts may read what any of several such headers names
    if (answer.kind === 'replayed') Object.assign(own, REPLAYED);
    if (isPage) {
      reply.code(201).headers({ ...fixed, ...own });
      const made = `${site.prefix}${POINTS_PATH}${id}/`;
      sendPage(reply, site, subject, `Map data point ${id}`, record, { made });
      return reply;
    }
    const body = byteText(record);
    const lines = `${linesOf(own)}${fixedLines}Content-Length: ${body.length}\r\n`;
    sender.write(reply, 201, 'none', lines, body);
    return reply;
  }

  app.route({
    method: 'POST',
    url: POINTS_PATH,
    config: { observe: sender.observe },
    handler: handle,
  });
}

const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

/** What the head of a post says. */
interface Admission extends Pick<PostRequest, 'user' | 'address'> {
  readonly origin: string;
  readonly isPage: boolean;
  readonly keyName: string | undefined;
  /** Undefined without a body. */
  readonly type: PostType | undefined;
}

/** Throws an HttpError for what can be refused without the body. */
function admit({ raw, user }: FastifyRequest, context: Context, posting: Posting): Admission {
  const { headers } = raw;
  const address = clientOf(raw, context.origin.trustProxy);
  if (user === undefined && posting.requireToken) throw credentialsMissing();
  if (user === undefined) posting.addressThrottle(address);
  else posting.tokenThrottle(`user ${user}`);
  const origin = context.originOf(raw);
  const chosen = PAGE_NEGOTIATION.chosen(parametersOf(raw.url!), headers.accept);
  const isPage = chosen === PAGE_OFFER;
  // a page of another site could have sent this form, whatever format it names
  if (isPage || headers['sec-fetch-mode'] === 'navigate') checkSameSite(raw, origin);
  const keyName = keyNameOf(headers['idempotency-key'], user);
  const type = hasBody(headers) ? typeOfBody(headers, POST_TYPES) : undefined;
  return { user, address, origin, isPage, keyName, type };
}

interface Submission {
  readonly body: Body;
  readonly image: Upload | undefined;
}

/** No body counts as an empty one. Throws an HttpError; no image is left then. */
async function read(
  raw: IncomingMessage,
  { type, address }: Admission,
  { uploads }: Posting,
  room: SharedRoom,
): Promise<Submission> {
  if (type === 'multipart/form-data') {
    const { fields, image } = await readMultipart(raw, { uploads, room, address });
    return { body: { kind: 'form', fields }, image };
  }
  const bytes = type === undefined ? Buffer.alloc(0) : await receiveBody(raw, room, address);
  const body = type === 'application/json' ? parseJsonBody(bytes) : parseFormBody(bytes);
  return { body, image: undefined };
}

/** Throws a 400 HttpError where fields are wrong, unless an image may be wrong, too. */
function requestOf(
  { user, address, keyName }: Admission,
  { body, image: upload }: Submission,
  page?: string,
): PostRequest {
  const draft = readDraft(body);
  const post = { draft, user, address, upload, key: undefined };
  if ('problems' in draft) {
    if (upload === undefined) throw new HttpError(400, draft.problems);
    return post;
  }
  if (keyName === undefined && !page) return post;
  const { lat, lon, comment, tags } = draft;
  // what the body says, however it is written down
  const said = hash('sha256', JSON.stringify([lat, lon, comment, tags, upload?.sha256]));
  // a form without a key counts once for its fields, sender and page; its name has two blanks, and
  // that of a key one
  const name = keyName ?? `- form ${hash('sha256', JSON.stringify([address, user, page]) + said)}`;
  return { ...post, key: { name, body: said } };
}

/** With the user in front, so that users' keys cannot collide. Throws a 400 HttpError. */
function keyNameOf(header: string | string[] | undefined, user: number | undefined) {
  if (header === undefined) return undefined;
  const key = String(header);
  if (KEY_SHAPE.test(key)) return `${user ?? '-'} ${key}`;
  const expected = '1 to 255 visible ASCII characters without blanks, such as a UUID';
  const detail = `Got Idempotency-Key ${quote(key)}. Expected ${expected}.`;
  throw new HttpError(400, { detail });
}
