import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PostRequest } from '../../posts/posts.js';
import type { Context, Posting } from '../answer/context.js';
import { corsHeaders, linesOf, varyOf } from '../answer/head.js';
import type { Observe } from '../answer/request-stats.js';
import { createWrite } from '../answer/sender.js';
import { createdPage, headerList, setPageHeaders } from '../pages/page-format.js';
import { bodyOfForm, PAGE_FIELD, postedOf } from '../pages/post-form.js';
import type { Site, Subject } from '../pages/site.js';
import { ALLOW_POINTS, POINTS_PATH } from '../request/addresses.js';
import { HttpError, keyReused, RefusedForm, unavailable } from '../request/http-error.js';
import { Admission } from './admission.js';

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
    let lines = `${SEQUENCE}: ${sequence}\r\nLocation: ${location}\r\n${fixed}Content-Length: ${Buffer.byteLength(record)}\r\n`;
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
