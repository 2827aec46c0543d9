import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { createAtLeast } from './answer/at-least.js';
import type { Context, Observe } from './answer/context.js';
import { corsHeaders, KEEP_ALIVE_MS, varyOf } from './answer/head.js';
import { responseOf } from './answer/node-internals.js';
import type { Address } from './answer/question.js';
import { JSON_FORMAT } from './formats/json-format.js';
import { createGate, type Handler } from './gate.js';
import {
  type CutCounts,
  checkHead,
  type Limits,
  limitBodyTime,
  refuseBrokenRequest,
  watchLoop,
} from './limits.js';
import { addOperations, type Service } from './operations.js';
import { PAGE_NEGOTIATION, PAGE_OFFER, sendErrorPage } from './pages/page-format.js';
import type { Subject } from './pages/site.js';
import { BATCH_PATH, POINTS_PATH, patternOf } from './request/addresses.js';
import { userOf } from './request/client.js';
import {
  internalError,
  isHttpError,
  NotFound,
  overloaded,
  wrongMethod,
} from './request/http-error.js';
import { originForm, pathOf } from './request/origin.js';
import { last, parametersOf } from './request/query-string.js';
import { addBatch } from './routes/batch.js';
import { addMedia, addStatic, addViewer } from './routes/files.js';
import { addPosting } from './routes/posting.js';
import { addFrontDoor, addResource, addSlash, createResources } from './routes/resources.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the head had been read, by `performance.now()`. */
    startedAt: number;
    /** The user of the token; undefined on routes of operators, which check tokens themselves. */
    user: number | undefined;
  }
  interface FastifyContextConfig {
    /** Whether the route is for operators: answered under load, too. */
    isOperation?: boolean;
    /** Counts the requests of the route; where absent they count as `other`. */
    observe?: Observe;
    /** Whether the route sends files, whatever a client accepts. */
    isFile?: boolean;
    /** Absent on routes of operators, and where another route has the address. */
    address?: Pick<Address, 'path' | 'allow' | 'subject'>;
  }
}

/** Whom an app answers; `operators` alone have a port of their own. */
export type Audience = 'clients' | 'operators' | 'all';

function refuseSchemas(): never {
  throw new Error('A route has a schema, which nothing would check; read its parameters in code.');
}

interface AppParts {
  readonly context: Context;
  readonly service: Service;
  readonly limits: Limits;
  readonly cut: CutCounts;
  readonly adminToken: string | undefined;
  readonly audience: Audience;
}

/** Builds the HTTP service, not yet listening; closing it is up to the caller. */
export function createApp(parts: AppParts): FastifyInstance {
  const { context, service, limits, cut, adminToken, audience } = parts;
  const { posting, media } = context;
  const observeOther = context.stats.route('other');
  const answerError = createErrorAnswer(context);
  const waitFor = createAtLeast(context.current);
  const isBehind = watchLoop(limits.maxLoopDelay);
  const app = fastify({
    serverFactory: (handle) => createHttpServer(handle, limits, cut),
    // with a logger, Fastify makes a child logger and two listeners for every request
    logger: false,
    genReqId: ({ headers }) => idOf(headers['x-request-id']) ?? randomUUID(),
    rewriteUrl: originForm,
    // the handlers read the query themselves, from the raw target
    routerOptions: { querystringParser: () => ({}) },
    frameworkErrors: (_error, request, reply) => {
      addCommonHeaders(request, reply, context);
      answerError(new NotFound(), reply);
    },
    clientErrorHandler: refuseBrokenRequest,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // without these Fastify loads compilers of its own, Ajv and more: 60 ms of CPU a thread
    schemaController: {
      compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas },
    },
  });
  // handlers read the bodies that they want, and Node passes over all others
  for (const method of app.supportedMethods) app.addHttpMethod(method, { overrideExisting: true });
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('user', undefined);
  // Node itself would answer 417, without a body
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    limitBodyTime(request.raw, limits);
    checkHead(request.raw, reply.raw);
    // routes of operators look at tokens themselves
    if (request.routeOptions.config?.isOperation === true) return done();
    const { url, headers } = request.raw;
    const isAdmin = url!.startsWith('/admin/');
    if (!isAdmin) request.user = userOf(headers.authorization, context.tokens);
    if (isBehind()) throw overloaded();
    const waiting = waitFor(request.raw);
    if (waiting === undefined) done();
    else waiting.then(() => done(), done);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const note = (): void => context.note(reply.raw);
    // on the next tick Fastify has ended the response, or pipes a stream, which waits for the client
    process.nextTick(note);
    if (payload instanceof Readable) payload.on('pause', note);
    addCommonHeaders(request, reply, context);
    const { observe = observeOther } = request.routeOptions.config ?? {};
    observe(reply.statusCode, 'none', (performance.now() - request.startedAt) / 1000);
    done();
  });

  const addresses: (readonly [RegExp, NonNullable<FastifyContextConfig['address']>])[] = [];
  app.addHook('onRoute', ({ config: { address } = {} }) => {
    if (address !== undefined) addresses.push([patternOf(address.path), address]);
  });
  const fail = ({ method, raw }: FastifyRequest, reply: FastifyReply, error?: Error): void => {
    const path = pathOf(raw.url!);
    const [, resource] = addresses.find(([pattern]) => pattern.test(path)) ?? [];
    if (resource !== undefined && !reply.hasHeader('Allow')) reply.header('Allow', resource.allow);
    const missing = resource === undefined ? new NotFound() : wrongMethod(method, resource.allow);
    answerError(error ?? missing, reply, resource?.subject);
  };
  app.setErrorHandler((error: Error, request, reply) => fail(request, reply, error));
  // methods that the router does not know come here at any address
  app.setNotFoundHandler((request, reply) => fail(request, reply));
  if (audience !== 'clients') {
    addOperations(app, service, context, adminToken, audience === 'operators');
  }
  if (audience !== 'operators') {
    // before the route of a point, which matches this address, too
    addBatch(app, context);
    addSlash(app, BATCH_PATH, context);
    const resources = createResources(context);
    for (const resource of resources) addResource(app, resource, context);
    addFrontDoor(app, context);
    const { subject } = resources.find(({ path }) => path === POINTS_PATH)!;
    if (posting !== undefined) addPosting(app, context, posting, subject!);
    addStatic(app, context);
    addViewer(app, context);
    if (media !== undefined) addMedia(app, media);
  }
  return app;
}

function createHttpServer(
  handle: Handler,
  { maxHeaderSize, requestTimeout, uploadTimeout }: Limits,
  cut: CutCounts,
): Server {
  const options = {
    maxHeaderSize,
    // the time of an upload for all; `limitBodyTime` holds other bodies to less
    requestTimeout: Math.max(requestTimeout, uploadTimeout),
    headersTimeout: requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.max(500, Math.min(requestTimeout / 4, 5_000)),
    // `checkHead` refuses a missing one, in the shape of all errors
    requireHostHeader: false,
  };
  const server = createServer(options, createGate(handle, cut));
  // Node would leave out headers behind the thousandth, a key or a token, too; the size bounds them
  server.maxHeadersCount = 0;
  // for a connection on which nothing moves; longer than an idle one is kept
  server.setTimeout(Math.max(requestTimeout, KEEP_ALIVE_MS + 1_000), (socket: Socket) => {
    const response = responseOf(socket);
    if (response === undefined) socket.destroy();
    // the backlog sees whether a client takes what is there
    else if (response.writableLength > 0) return;
    // a client that waits for an answer, such as to a long reload, has not gone
    else if (response.headersSent || !response.req.complete) socket.resetAndDestroy();
  });
  return server;
}

/** Headers of answers that go through Fastify's reply. */
function addCommonHeaders(request: FastifyRequest, reply: FastifyReply, context: Context): void {
  const { corsOrigin } = context;
  reply.headers(corsHeaders(request.headers.origin, corsOrigin));
  reply.headers({ 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': request.id });
  const { isFile = false, isOperation = false } = request.routeOptions.config ?? {};
  const vary = varyOf({ corsOrigin, isFile });
  if (vary !== '' && !reply.hasHeader('Vary')) reply.header('Vary', vary);
  // caches would keep an answer that says nothing for some minutes, but none to OPTIONS
  const mayKeep = request.method !== 'OPTIONS' && !reply.hasHeader('Cache-Control');
  if (mayKeep) reply.header('Cache-Control', isOperation ? 'no-store' : 'no-cache');
  if (context.closing()) reply.header('Connection', 'close');
}

/** The client's own id of the request, where it may stand in a header and a log. */
function idOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w.:/+=-]{1,128}$/.test(header) ? header : undefined;
}

/** Makes the one place where an error becomes an answer, as JSON or as a page about `subject`. */
function createErrorAnswer({
  logger,
  site,
  corsOrigin,
}: Context): (thrown: Error, reply: FastifyReply, subject?: Subject) => void {
  const vary = varyOf({ corsOrigin });

  function prefersPage({ url, headers }: IncomingMessage): boolean {
    const format = last(parametersOf(url!), 'format');
    if (format === PAGE_OFFER.parameter) return true;
    if (format === JSON_FORMAT.parameter) return false;
    try {
      return PAGE_NEGOTIATION.accepted(headers.accept) === PAGE_OFFER;
    } catch {
      return false;
    }
  }

  return (thrown, reply, subject) => {
    const error = isHttpError(thrown) ? thrown : internalError();
    const { raw, id } = reply.request;
    const log = (err: unknown): void =>
      logger.error({ reqId: id, err, url: raw.url }, 'request failed');
    if (error.status === 500) log(thrown);
    // unlike files, their errors depend on Accept and do not last
    reply.code(error.status).headers({ Vary: vary, 'Cache-Control': 'no-cache' });
    if (prefersPage(raw)) {
      try {
        sendErrorPage(reply, site, subject, error);
        return;
      } catch (failure) {
        // Fastify's own answer would tell paths of files
        log(failure);
      }
    }
    reply.headers({ 'Content-Type': 'application/json', ...error.headers });
    reply.send(Buffer.from(JSON.stringify(error.body)));
  };
}
