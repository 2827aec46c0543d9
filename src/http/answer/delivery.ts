import type { FastifyReply, FastifyRequest } from 'fastify';
import { FRESH_MEMORY, type Page, type QueryWork } from '../formats/format.js';
import { pageTooLarge } from '../request/errors.js';
import type { Coverage } from './additions.js';
import type { AnswerCache, AnswerKey } from './answer-cache.js';
import { createCompression, LEAST_COMPRESSED_BYTES } from './compression.js';
import type { Context } from './context.js';
import { type AnswerHead, headersOf } from './head.js';
import { createOutbox } from './outbox.js';
import { createPageBuffers } from './page-buffers.js';
import type { DoInPieces, Waiter } from './pieces.js';
import type { Answer, Renew, Sender } from './sender.js';

/** An answer that is being made. */
export interface Job {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  /** The answers that the client may get: compressed, where it may be, then as it is. */
  readonly heads: readonly AnswerHead[];
  /** Of the generation that the answer is made from. */
  readonly lineage: string;
  /** Undefined where accepted points never belong to the answer. */
  readonly coverage: Coverage | undefined;
  /** Puts the answer's own names in the place of older ones in a header with preconditions. */
  readonly renew: Renew | undefined;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: AnswerKey | undefined;
}

/** A whole answer that waits to be sent. */
interface Waiting {
  readonly job: Job;
  readonly answer: Answer;
  readonly onSent: (() => void) | undefined;
}

/**
 * Turns a page into the answer of a job and sends it. Throws ParameterErrors for a page that is too
 * large.
 */
export type Deliver = (page: Page, job: Job) => void;

/** Makes the delivery of a thread's pages: bound, body, compression, answer cache, outbox. */
export function createDelivery(
  { logger, maxPageBytes }: Context,
  answers: AnswerCache,
  doInPieces: DoInPieces,
): Deliver {
  const buffers = createPageBuffers();
  const compression = createCompression();
  const outbox = createOutbox<Waiting>(
    ({ job, answer, onSent }) => job.sender.send(job.request, job.reply, answer, onSent),
    ({ job: { request, reply } }, error) => {
      logger.error({ reqId: request.id, err: error, url: request.raw.url }, 'answer not sent');
      reply.raw.destroy();
    },
  );

  function compress(
    job: Job,
    work: QueryWork | undefined,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): void {
    const [head, plain = head!] = job.heads;
    const { coding } = head!;
    if (coding === undefined || body.length < LEAST_COMPRESSED_BYTES) {
      finish(job, work, plain, body, onSent);
      return;
    }
    const isStarted = compression.start(coding, body, (compressed) => {
      if (compressed === undefined) {
        finish({ ...job, key: undefined }, work, plain, body, onSent);
        return;
      }
      onSent?.();
      finish(job, work, head!, compressed);
    });
    // what is not compressed for want of a thread is not kept: the next one may find a thread
    if (!isStarted) finish({ ...job, key: undefined }, work, plain, body, onSent);
  }

  function finish(
    job: Job,
    work: QueryWork | undefined,
    { format, etag, snapshot, coding, lines, bodyLines }: AnswerHead,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): void {
    const { lineage, coverage, key } = job;
    // named one by one: a spread costs a microsecond
    const answer = { format, etag, snapshot, coding, lines, bodyLines, body, work };
    if (key !== undefined) {
      answers.keep(lineage, key, {
        ...answer,
        coverage,
        body: withoutRoom(body),
        work: undefined,
      });
    }
    outbox({ job, answer, onSent });
  }

  return (page, job) => {
    const { request, reply, sender, heads, key } = job;
    const { format } = heads[0]!;
    checkSize(page, Math.min(maxPageBytes, format.maxBytes), format.sizeParameter);
    if (sender.sendByConditions(request, reply, heads, true, job.renew)) return;
    // what is kept is not given back
    const memory = key === undefined ? buffers : FRESH_MEMORY;
    const headers = (): string[] => headersOf(heads[0]!);
    const made = format.encode(page, { target: request.raw.url!, headers, memory });
    if (!Buffer.isBuffer(made)) {
      doInPieces(
        made,
        waiterOf(job, (body) => compress(job, page.work, body, () => memory.give(body))),
      );
    } else {
      compress(job, page.work, made, () => memory.give(made));
    }
  };
}

/** Lets a job wait for a result; errors are answered as those of the handler are. */
export function waiterOf<Result>(
  { request, reply }: Pick<Job, 'request' | 'reply'>,
  done: (result: Result) => void,
): Waiter<Result> {
  return {
    isGone: () => request.raw.socket.destroyed,
    done,
    failed: (error) => void reply.send(error),
  };
}

/** Refuses a page whose records have more bytes than `limit`, before there is memory for them. */
function checkSize({ records }: Page, limit: number, parameter?: string): void {
  const { count, size } = records;
  if (size <= limit || count <= 1) return;
  throw pageTooLarge({ count, size, longest: records.longest(), limit }, parameter);
}

/** The same bytes in memory that has no room beside them, which a cache would not count. */
function withoutRoom(body: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (body.buffer.byteLength === body.length) return body;
  const copy = Buffer.allocUnsafeSlow(body.length);
  copy.set(body);
  return copy;
}
