import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Hash, hashBytes } from '../../dataset/content-hash.js';
import type { State } from '../../live/generation.js';
import { type Format, FRESH_MEMORY, type Page, type QueryWork } from '../formats/format.js';
import { pageTooLarge } from '../request/errors.js';
import type { AnswerCache, AnswerKey } from './answer-cache.js';
import { type Coding, createCompression, LEAST_COMPRESSED_BYTES } from './compression.js';
import type { Answering } from './context.js';
import { hashPage, spellHash } from './etag.js';
import { type AnswerHead, codedHead } from './head.js';
import { createOutbox } from './outbox.js';
import { createPageBuffers } from './page-buffers.js';
import type { DoInPieces, Waiter } from './pieces.js';
import type { Answer, Sender } from './sender.js';

/** An answer that is being made. */
export interface Job {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  readonly format: Format;
  /** How the body may be compressed. */
  readonly coding: Coding | undefined;
  readonly state: State;
  /** Names the request: whatever decides about the answer besides state and format. */
  readonly name: string;
  /** Whether the address will never have another answer. */
  readonly lasts: boolean;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: AnswerKey | undefined;
  /** To be called when the answer is kept. */
  readonly onKept: (() => void) | undefined;
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
  { logger, maxPageBytes }: Answering,
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
    [head, plain = head!]: readonly AnswerHead[],
    work: QueryWork | undefined,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): void {
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
    { format, etag, coding, lines, bodyLines }: AnswerHead,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): void {
    const { state, key } = job;
    // named one by one: a spread costs a microsecond
    const answer = { format, etag, coding, lines, bodyLines, body, work };
    if (key !== undefined) {
      answers.keep(state.name, key, { ...answer, body: withoutRoom(body), work: undefined });
    }
    job.onKept?.();
    outbox({ job, answer, onSent });
  }

  return (page, job) => {
    const { request, reply, sender, format, state, key } = job;
    checkSize(page, Math.min(maxPageBytes, format.maxBytes), format.sizeParameter);
    const heads = format.isNamedByBody ? undefined : headsOf(job, hashPage(page));
    if (heads !== undefined && sender.sendKnown(request, reply, state, heads)) return;
    // what is kept is not given back
    const memory = key === undefined ? buffers : FRESH_MEMORY;
    const { snapshot } = state;
    const headers = format.isNamedByBody ? sender.heads.shared(format) : [];
    const made = format.encode(page, { target: request.raw.url!, snapshot, headers, memory });
    if (Buffer.isBuffer(made)) deliverBody(made);
    else doInPieces(made, waiterOf(job, deliverBody));

    function deliverBody(body: Buffer<ArrayBuffer>): void {
      const onSent = (): void => memory.give(body);
      if (heads !== undefined) {
        compress(job, heads, page.work, body, onSent);
        return;
      }
      const named = headsOf(job, hashBytes([body]));
      if (sender.sendKnown(request, reply, state, named)) onSent();
      else compress(job, named, page.work, body, onSent);
    }
  };
}

/** What the answers begin with that the client may get: compressed, where it may be, then as it is. */
function headsOf({ sender, state, format, name, lasts, coding }: Job, content: Hash): AnswerHead[] {
  const plain = sender.heads.of(state, format, name + spellHash(content), lasts);
  return coding === undefined ? [plain] : [codedHead(plain, coding), plain];
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
