import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BodyMemory } from '../formats/representation.js';
import type { AnswerCache, AnswerKey } from './answer-cache.js';
import { Compression, LEAST_COMPRESSED_BYTES } from './compression.js';
import type { Answering } from './context.js';
import type { AnswerHead } from './head.js';
import type { Made } from './making.js';
import type { Answer, Sender } from './sender.js';

export interface Job {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: AnswerKey | undefined;
  readonly onKept: (() => void) | undefined;
  readonly memory: BodyMemory;
}

/** The delivery of a thread's answers: compression, answer cache, outbox. */
export class Delivery {
  readonly memory: BodyMemory = new PageBuffers();
  readonly #compression = new Compression();
  readonly #answers: AnswerCache;
  readonly #outbox: Outbox<Waiting>;

  constructor({ logger }: Answering, answers: AnswerCache) {
    this.#answers = answers;
    this.#outbox = createOutbox<Waiting>(
      ({ job, answer, onSent }) => job.sender.send(job.request, job.reply, answer, onSent),
      ({ job: { request, reply } }, error) => {
        logger.error({ reqId: request.id, err: error, url: request.raw.url }, 'answer not sent');
        reply.raw.destroy();
      },
    );
  }

  send(made: Made, job: Job): void {
    const { heads, body } = made;
    const [head, plain = head!] = heads;
    const { coding } = head!;
    const onSent = (): void => job.memory.give(body);
    if (coding === undefined || body.length < LEAST_COMPRESSED_BYTES) {
      this.#finish(job, made, plain, body, onSent);
      return;
    }
    const sendPlain = (): void =>
      this.#finish({ ...job, key: undefined }, made, plain, body, onSent);
    const isStarted = this.#compression.start(coding, body, (compressed) => {
      if (compressed === undefined) return sendPlain();
      onSent();
      this.#finish(job, made, head!, compressed);
    });
    // what is not compressed for want of a thread is not kept: the next one may find a thread
    if (!isStarted) sendPlain();
  }

  #finish(
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
      const kept = { ...answer, body: withoutRoom(body), work: undefined };
      this.#answers.keep(state.name, key, kept);
    }
    job.onKept?.();
    this.#outbox({ job, answer, onSent });
  }
}

interface Waiting {
  readonly job: Job;
  readonly answer: Answer;
  readonly onSent: (() => void) | undefined;
}

/** The same bytes in memory that has no room beside them, which a cache would not count. */
function withoutRoom(body: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (body.buffer.byteLength === body.length) return body;
  const copy = Buffer.allocUnsafeSlow(body.length);
  copy.set(body);
  return copy;
}

/** So many answers are sent without waiting for more. */
const MOST = 8;
/** Milliseconds after which no more are waited for. */
const LONGEST_MS = 1;

/** Takes an answer that is to be sent before the event loop waits again. */
export type Outbox<Answer> = (answer: Answer) => void;

/**
 * Makes an outbox, which holds answers back while the requests that arrived with theirs are worked
 * on. Sent one after the other they wake up their receiver once, not each time, and the memory that
 * queries read is not pushed out of the processor's caches by the system's network code in between.
 * When the first has waited for `longestMs`, the next one does not wait. What `send` throws ends
 * that answer alone, by `fail`.
 */
export function createOutbox<Answer>(
  send: (answer: Answer) => void,
  fail: (answer: Answer, error: unknown) => void,
  longestMs: number = LONGEST_MS,
): Outbox<Answer> {
  let waiting: Answer[] = [];
  let since = 0;

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    for (const answer of all) {
      try {
        send(answer);
      } catch (error) {
        fail(answer, error);
      }
    }
  }

  return (answer) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(sendAll);
    }
    waiting.push(answer);
    if (waiting.length === MOST || performance.now() - since > longestMs) sendAll();
  };
}

/** Buffers come in multiples of this size, so that pages of about the same size share them. */
const STEP = 16 * 1024;
/** Larger ones are rare, and not kept. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Idle memory beyond this is left to the garbage collector. */
const MOST_IDLE_BYTES = 16 * 1024 * 1024;

/**
 * Memory that pages are written to, used again once a page is sent. Fresh memory would be cold for
 * every page, and each 64 MB of it would make V8 look for garbage in the whole heap.
 */
export class PageBuffers implements BodyMemory {
  readonly #idle: ArrayBuffer[][] = Array.from({ length: MOST_BYTES / STEP + 1 }, () => []);
  #idleBytes = 0;

  take(bytes: number): Buffer<ArrayBuffer> {
    const steps = Math.ceil(bytes / STEP);
    // the last one given back is the likeliest to be in the processor's cache
    const memory = this.#idle[steps]?.pop();
    if (memory === undefined) return Buffer.from(new ArrayBuffer(steps * STEP), 0, bytes);
    this.#idleBytes -= memory.byteLength;
    return Buffer.from(memory, 0, bytes);
  }

  give({ buffer }: Buffer<ArrayBuffer>): void {
    const { byteLength } = buffer;
    if (byteLength > MOST_BYTES || this.#idleBytes + byteLength > MOST_IDLE_BYTES) return;
    this.#idle[byteLength / STEP]!.push(buffer);
    this.#idleBytes += byteLength;
  }
}
