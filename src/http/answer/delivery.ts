import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BodyMemory } from '../formats/format.js';
import type { AnswerCache, AnswerKey } from './answer-cache.js';
import { createCompression, LEAST_COMPRESSED_BYTES } from './compression.js';
import type { Answering } from './context.js';
import type { AnswerHead } from './head.js';
import type { Made } from './making.js';
import { createOutbox } from './outbox.js';
import { createPageBuffers } from './page-buffers.js';
import type { Answer, Sender } from './sender.js';

/** Whom an answer is for, and what becomes of it. */
export interface Job {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: AnswerKey | undefined;
  /** To be called when the answer is kept. */
  readonly onKept: (() => void) | undefined;
  /** Where the memory of the body comes from. */
  readonly memory: BodyMemory;
}

/** A whole answer that waits to be sent. */
interface Waiting {
  readonly job: Job;
  readonly answer: Answer;
  readonly onSent: (() => void) | undefined;
}

/** The delivery of a thread's answers: compression, answer cache, outbox. */
export interface Delivery {
  /** Memory for bodies that are not kept. */
  readonly memory: BodyMemory;
  send(made: Made, job: Job): void;
}

/** Makes the delivery of a thread. */
export function createDelivery({ logger }: Answering, answers: AnswerCache): Delivery {
  const compression = createCompression();
  const outbox = createOutbox<Waiting>(
    ({ job, answer, onSent }) => job.sender.send(job.request, job.reply, answer, onSent),
    ({ job: { request, reply } }, error) => {
      logger.error({ reqId: request.id, err: error, url: request.raw.url }, 'answer not sent');
      reply.raw.destroy();
    },
  );

  function finish(
    job: Job,
    { work, state }: Made,
    { format, etag, coding, lines, bodyLines }: AnswerHead,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): void {
    const { key } = job;
    // named one by one: a spread costs a microsecond
    const answer = { format, etag, coding, lines, bodyLines, body, work };
    if (key !== undefined) {
      answers.keep(state.name, key, { ...answer, body: withoutRoom(body), work: undefined });
    }
    job.onKept?.();
    outbox({ job, answer, onSent });
  }

  return {
    memory: createPageBuffers(),
    send(made, job) {
      const { heads, body } = made;
      const [head, plain = head!] = heads;
      const { coding } = head!;
      const onSent = (): void => job.memory.give(body);
      if (coding === undefined || body.length < LEAST_COMPRESSED_BYTES) {
        finish(job, made, plain, body, onSent);
        return;
      }
      const isStarted = compression.start(coding, body, (compressed) => {
        if (compressed === undefined) {
          finish({ ...job, key: undefined }, made, plain, body, onSent);
          return;
        }
        onSent();
        finish(job, made, head!, compressed);
      });
      // what is not compressed for want of a thread is not kept: the next one may find a thread
      if (!isStarted) finish({ ...job, key: undefined }, made, plain, body, onSent);
    },
  };
}

/** The same bytes in memory that has no room beside them, which a cache would not count. */
function withoutRoom(body: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (body.buffer.byteLength === body.length) return body;
  const copy = Buffer.allocUnsafeSlow(body.length);
  copy.set(body);
  return copy;
}
