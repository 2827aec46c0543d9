import zlib, { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { BodyMemory } from '../formats/representation.js';
import type { Coding } from '../request/negotiation.js';
import type { AnswerCache, AnswerKey } from './answer-cache.js';
import type { Context } from './context.js';
import type { AnswerHead } from './head.js';
import type { Made } from './question.js';
import type { Sender } from './sender.js';

/** Sends an answer. Never throws. */
export type Send = () => void;

export interface Job {
  readonly reply: FastifyReply;
  readonly sender: Sender;
  /** What the answer is kept under; undefined when it is not to be kept. */
  readonly key: AnswerKey | undefined;
  /** Called once the answer is kept, or will not be. */
  readonly onMade: (() => void) | undefined;
  readonly memory: BodyMemory;
}

export interface Delivery {
  readonly memory: BodyMemory;
  /** What sends the answer; undefined where it is compressed first, and sent then. */
  deliver(made: Made, job: Job): Send | undefined;
}

/** Makes the delivery of a thread's answers: compression, answer cache, sending. */
export function createDelivery({ logger }: Context, answers: AnswerCache): Delivery {
  let underWay = 0;

  function finish(
    { reply, sender, key, onMade }: Job,
    { work, state }: Made,
    { format, contentType, etag, coding, lines }: AnswerHead,
    body: Buffer<ArrayBuffer>,
    onSent?: () => void,
  ): Send {
    // named one by one: a spread costs a microsecond
    const answer = { format, contentType, etag, coding, lines, body, work };
    if (key !== undefined) {
      answers.keep(state.name, key, { ...answer, body: withoutRoom(body), work: undefined });
    }
    onMade?.();
    return () => {
      try {
        sender.send(reply, answer, onSent);
      } catch (error) {
        const { id, raw } = reply.request;
        logger.error({ reqId: id, err: error, url: raw.url }, 'answer not sent');
        reply.raw.destroy();
      }
    };
  }

  return {
    memory: new PageBuffers(),
    deliver(made, job) {
      const { heads, body } = made;
      const [head, plain = head!] = heads;
      const { coding } = head!;
      const onSent = (): void => job.memory.give(body);
      if (coding === undefined || body.length < LEAST_COMPRESSED_BYTES) {
        return finish(job, made, plain, body, onSent);
      }
      const finishPlain = (): Send => finish({ ...job, key: undefined }, made, plain, body, onSent);
      // not kept when sent plain for want of a thread: the next request may find one
      if (underWay === MAX_UNDER_WAY) return finishPlain();
      underWay++;
      compress(coding, body, (error, compressed) => {
        underWay--;
        if (error !== null) return finishPlain()();
        onSent();
        finish(job, made, head!, compressed as Buffer<ArrayBuffer>)();
      });
      return undefined;
    },
  };
}

/** A body below this size hardly gets smaller, and fits one packet anyway. */
const LEAST_COMPRESSED_BYTES = 1024;
/** Bodies under way at once: Node has four threads for all the threads that serve. */
const MAX_UNDER_WAY = 2;
/** Bytes that zlib hands out at a time; each time costs a change of threads. */
const CHUNK_BYTES = 64 * 1024;

const BROTLI = {
  chunkSize: CHUNK_BYTES,
  params: {
    // 5 takes twice as long for 6 % less; a window of 256 KiB holds most pages
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: 18,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};
// 6, the usual level, takes four times as long for 7 % less
const GZIP = { chunkSize: CHUNK_BYTES, level: 4 };
/** `ZSTD_c_compressionLevel`: older versions of Node have no constant for it. */
const ZSTD_LEVEL = 100;
// two thirds of the time of Brotli for 1 % less
const ZSTD = { chunkSize: CHUNK_BYTES, params: { [ZSTD_LEVEL]: 6 } };
const { zstdCompress } = zlib as { zstdCompress?: typeof brotliCompress };

function compress(
  coding: Coding,
  body: Buffer,
  done: (error: Error | null, compressed: Buffer) => void,
): void {
  if (coding === 'zstd') zstdCompress!(body, ZSTD, done);
  else if (coding === 'br') brotliCompress(body, BROTLI, done);
  else gzip(body, GZIP, done);
}

/** The same bytes in memory without room beside them, which a cache would not count. */
function withoutRoom(body: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (body.buffer.byteLength === body.length) return body;
  const copy = Buffer.allocUnsafeSlow(body.length);
  copy.set(body);
  return copy;
}

/** Requests that are worked on without waiting for more. */
const MOST = 8;
/** Milliseconds after which nobody waits for others any more. */
const LONGEST_MS = 1;

/** Makes an answer; undefined where it is sent already, or later. Never throws. */
type Ask = () => Send | undefined;

/**
 * Makes a function by which the requests that arrive in one turn of the event loop are worked on in
 * stages: Node reads all of them, then all answers are made, then all are sent. The code and the
 * memory of a stage stay in the processor's caches, and a client is woken up once for all of its
 * answers. Reading ends with the turn, with the eighth request, or with the one that comes
 * `longestMs` behind the first; answers are sent when making them has taken as long.
 */
export function createStages(longestMs: number = LONGEST_MS): (ask: Ask) => void {
  let waiting: Ask[] = [];
  let since = 0;

  function work(): void {
    const all = waiting;
    waiting = [];
    let made: (Send | undefined)[] = [];
    // not `since`: requests may come while others are worked on
    let from = performance.now();
    for (const [i, ask] of all.entries()) {
      made.push(ask());
      if (i < all.length - 1 && performance.now() - from <= longestMs) continue;
      for (const send of made) send?.();
      made = [];
      from = performance.now();
    }
  }

  return (ask) => {
    if (waiting.length === 0) {
      since = performance.now();
      setImmediate(work);
    }
    waiting.push(ask);
    if (waiting.length === MOST || performance.now() - since > longestMs) work();
  };
}

/** Buffers come in multiples of this size, so that pages of about the same size share them. */
const STEP = 16 * 1024;
/** Larger buffers are rare, and not kept. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Idle memory beyond this is left to the garbage collector. */
const MOST_IDLE_BYTES = 16 * 1024 * 1024;

/** Memory of pages, used again: fresh memory is cold, and 64 MB of it make V8 trace the heap. */
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
