import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { quote, version } from '../model/quote.js';
import { type JournalReader, postLine, readAll } from '../posts/journal.js';
import type { Posts } from '../posts/posts.js';
import { type Current, pointsServed } from '../reload/current.js';
import { createKeptState } from './answer/at-least.js';
import type { Context } from './answer/context.js';
import type { SlowLane } from './answer/question.js';
import { isAdmin, userOf } from './request/client.js';
import { HttpError, NotFound, unauthorized } from './request/http-error.js';
import { parseAfter } from './request/list-parameters.js';
import { last, parametersOf } from './request/query-string.js';

/** What the main thread does for web servers, which read points themselves. */
export type Service = Readonly<Posts & JournalReader & SlowLane & ForOperators>;

interface ForOperators {
  /** `accept` takes a snapshot that shrank. Resolves when the newest is served, or will not be. */
  reload(accept: boolean): Promise<void>;
  metrics(): Promise<string>;
}

const VERSION = version();

/** On a port that only operators reach (`isPrivate`), anybody may see names of files. */
export function addOperations(
  app: FastifyInstance,
  service: Service,
  { current, tokens, posting, site }: Context,
  adminToken: string | undefined,
  isPrivate: boolean,
): void {
  const config = { isOperation: true };
  const read = (url: string, handler: RouteHandlerMethod): unknown =>
    app.route({ method: ['GET', 'HEAD'], url, config, handler });

  const mayAll = ({ headers }: FastifyRequest): boolean =>
    isAdmin(headers.authorization, tokens, adminToken);
  /** Whether the request may see names of files. Throws a 401 HttpError for an unknown token. */
  const seesAll = (request: FastifyRequest): boolean => {
    if (mayAll(request)) return true;
    userOf(request.headers.authorization, tokens);
    return isPrivate;
  };
  /** Throws NotFound where there are no admins, and a 401 HttpError for anybody else. */
  const demandAdmin = (request: FastifyRequest): void => {
    const hasAdmins = [...tokens.table.values()].some((one) => one.isAdmin);
    if (adminToken === undefined && !hasAdmins) throw new NotFound();
    if (!mayAll(request)) throw unauthorized('Invalid token.', 'Bearer');
  };
  read('/health/live', (request) => {
    seesAll(request);
    return { status: 'live' };
  });
  read('/health/ready', (request, reply) => {
    if (current.leaving) reply.code(503);
    return sendReadiness(reply, current, seesAll(request));
  });
  read('/metrics', (request, reply) => {
    seesAll(request);
    reply.header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    return service.metrics();
  });
  const keptState = createKeptState(current, service);
  read('/admin/posts', async (request, reply) => {
    demandAdmin(request);
    if (posting === undefined) throw new NotFound('This instance has no journal.');
    const after = parseAfter(parametersOf(request.raw.url!));
    const { name, lastSequence } = await keptState(after);
    reply.headers({
      'Content-Type': 'application/x-ndjson',
      'Waypost-Journal': name,
      'Waypost-Sequence': lastSequence,
    });
    if (request.method === 'HEAD') return reply.send();
    return reply.send(Readable.from(postLines(service, after ?? 0, lastSequence)));
  });
  app.post('/admin/reload', { config }, async (request, reply) => {
    demandAdmin(request);
    const target = request.raw.url!;
    const done = service.reload(flagOf(target, 'accept'));
    if (flagOf(target, 'wait')) await done;
    else reply.code(202).header('Location', `${isPrivate ? '' : site.prefix}/health/ready`);
    return sendReadiness(reply, current, true);
  });
}

/** Posts behind a sequence as NDJSON, made as the client takes them. */
async function* postLines(
  journal: JournalReader,
  after: number,
  through: number,
): AsyncGenerator<string, void, undefined> {
  for await (const posts of readAll(journal, after, through)) yield posts.map(postLine).join('');
}

function sendReadiness(reply: FastifyReply, current: Current, seesAll: boolean): FastifyReply {
  const { generation, stale, building, posts, leaving } = current;
  const { tag, parts } = generation;
  return reply.send({
    status: leaving ? 'leaving' : 'ready',
    version: VERSION,
    points: pointsServed(generation),
    snapshot: tag,
    exported_at: timeText(parts.dataset.report.createdAt),
    loaded_at: timeText(parts.loadedAt),
    stale: stale !== undefined,
    ...(stale && { ...(seesAll && { reason: stale.reason }), since: timeText(stale.since) }),
    posts,
    ...(building && {
      building: {
        ...(seesAll && { path: building.path }),
        since: timeText(building.since),
        bytes_read: building.bytesRead,
        bytes_total: building.bytesTotal,
      },
    }),
  });
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Whether a flag is set: by its name alone, too. Throws a 400 HttpError for any other value. */
function flagOf(target: string, name: string): boolean {
  const value = last(parametersOf(target), name);
  if (value === undefined || value === 'false') return false;
  if (value === '' || value === 'true') return true;
  throw new HttpError(400, { [name]: [`Got ${quote(value)}. Expected true or false.`] });
}
