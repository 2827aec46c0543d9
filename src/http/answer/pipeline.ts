import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Generation } from '../../live/generation.js';
import type { Context } from '../context.js';
import { pageTooLarge } from '../errors.js';
import type { Format, Page } from '../formats/format.js';
import { createNegotiation } from '../request/negotiation.js';
import { createOriginOf } from '../request/origin.js';
import { last, type Pair, parseQueryString } from '../request/query-string.js';
import { queryOf } from '../request/target.js';
import { userOf } from '../request/token.js';
import { createAnswerCache } from './answer-cache.js';
import { hashAddress, hashSettings } from './etag.js';
import { createOutbox } from './outbox.js';
import { createPageBuffers } from './page-buffers.js';
import { doInPieces, Later, type Waiter } from './pieces.js';
import { type AnswerHead, createSender, type Facts, headersOf, type Sender } from './sender.js';

/** A request as handlers see it. */
export interface Asked {
  /** What links in the answer begin with. */
  readonly origin: string;
  readonly pairs: readonly Pair[];
  /** What stands in the variable parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Whom the token names, at an address whose answers are personal. */
  readonly user: number | undefined;
}

/** What an address answers to GET, step by step. */
export interface View<Wanted> extends Facts {
  readonly formats: readonly Format[];
  /** Reads what is wanted. Throws an HttpError for what cannot be used. */
  read(asked: Asked): Wanted;
  /** Looks it up, at once or later. Throws NotFound where there is nothing. */
  find(wanted: Wanted, asked: Asked, generation: Generation): Page | Later<Page>;
}

/** An answer that is being made. */
interface Job {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  readonly head: AnswerHead;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: string | undefined;
}

/** A whole answer, and what to do once it is sent. */
interface Waiting {
  readonly job: Job;
  readonly body: Buffer<ArrayBuffer>;
  readonly onSent: (() => void) | undefined;
}

/** Makes the handler of a view's GET and HEAD. */
export type Pipeline = <Wanted>(view: View<Wanted>) => RouteHandlerMethod;

/**
 * Makes the one way from a request to its answer: origin, answer cache, parameters, format, validators, page, body.
 * All views of a thread share an answer cache, the memory of pages and an outbox.
 */
export function createPipeline(context: Context): Pipeline {
  const { current, stats, logger } = context;
  const originOf = createOriginOf(context.origin);
  const answers = createAnswerCache(context.answerCacheBytes);
  const buffers = createPageBuffers();
  const outbox = createOutbox<Waiting>(sendAnswer, (waiting, error) => {
    const { request, reply } = waiting.job;
    logger.error({ reqId: request.id, err: error, url: request.raw.url }, 'answer not sent');
    reply.raw.destroy();
  });
  const seed = hashSettings(decidingSettings(context));

  return function serve(view) {
    const { formats, isPersonal } = view;
    const sender = createSender(context, view);
    const negotiation = createNegotiation(formats);

    return function handle(request: FastifyRequest, reply: FastifyReply): void {
      const { raw } = request;
      const target = raw.url!;
      const { accept, authorization } = raw.headers;
      const { generation } = current;
      const origin = originOf(raw);
      const address = origin + target;
      const key = `${address} ${accept}`;
      if (!isPersonal) {
        const kept = answers.get(generation.tag, key);
        if (kept !== undefined) {
          stats.cacheHits++;
          if (!sender.sendByConditions(request, reply, kept, true)) {
            sender.send(request, reply, kept);
          }
          return;
        }
        stats.cacheMisses++;
      }

      const pairs = parseQueryString(queryOf(target));
      const named = negotiation.named(last(pairs, 'format'));
      const user = isPersonal ? userOf(authorization, context.tokens) : undefined;
      const path = request.params as Readonly<Record<string, string>>;
      const asked: Asked = { origin, pairs, path, user };
      const wanted = view.read(asked);
      const format = named ?? negotiation.accepted(accept);
      const { low, high } = hashAddress(address, seed);
      const owner = user === undefined ? '' : `-${user}`;
      const head = sender.head(generation, format, `${low}${high}${owner}`);
      if (sender.sendByConditions(request, reply, head, false)) return;

      const isKept = !isPersonal && answers.wants(low);
      const job = { request, reply, sender, head, key: isKept ? key : undefined };
      const found = view.find(wanted, asked, generation);
      if (found instanceof Later) found.start(waiterOf(job, (page) => makeBody(page, job)));
      else makeBody(found, job);
    };
  };

  function makeBody(page: Page, job: Job): void {
    const { request, reply, sender, head, key } = job;
    const { format } = head;
    checkSize(page, Math.min(context.maxPageBytes, format.maxBytes));
    if (sender.sendByConditions(request, reply, head, true)) return;
    const allocate = key === undefined ? buffers.take : Buffer.allocUnsafeSlow;
    const exchange = { target: request.raw.url!, headers: () => headersOf(head), allocate };
    const made = format.encode(page, exchange);
    if (!Buffer.isBuffer(made)) {
      doInPieces(
        made,
        waiterOf(job, (body) => finish(job, body, undefined)),
      );
    } else {
      finish(job, made, key === undefined ? () => buffers.give(made) : undefined);
    }
  }

  function finish(job: Job, body: Buffer<ArrayBuffer>, onSent: (() => void) | undefined): void {
    const { key, head } = job;
    // named one by one: a spread costs a microsecond
    const { format, etag, snapshot, common } = head;
    if (key !== undefined) answers.keep(key, { format, etag, snapshot, common, body });
    outbox({ job, body, onSent });
  }
}

/** The settings that decide what an answer says, and so whether a client's copy of it is still good. */
function decidingSettings({ zone, origin, maxPageBytes }: Context): object {
  const { publicUrl, trustProxy } = origin;
  const zoneRules = process.versions['tz'];
  return { zone: zone.name, zoneRules, publicUrl, trustProxy, maxPageBytes };
}

/** Refuses a page whose records have more bytes than `limit`, before there is memory for them. */
function checkSize({ records }: Page, limit: number): void {
  const { count, size } = records;
  if (size <= limit || count <= 1) return;
  throw pageTooLarge({ count, size, longest: records.longest(), limit });
}

/** Lets a job wait for a result; errors are answered as those of the handler are. */
function waiterOf<Result>({ request, reply }: Job, done: (result: Result) => void): Waiter<Result> {
  return {
    isGone: () => request.raw.socket.destroyed,
    done,
    failed: (error) => void reply.send(error),
  };
}

function sendAnswer({ job, body, onSent }: Waiting): void {
  const { request, reply, sender, head } = job;
  const { format, etag, snapshot, common } = head;
  sender.send(request, reply, { format, etag, snapshot, common, body }, onSent);
}
