import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QueryWork } from '../../model/query.js';
import type { Context, Observe } from './context.js';
import {
  type AnswerHead,
  bodilessLines,
  corsHeaders,
  linesOf,
  linesWithBody,
  type PlainStatus,
  parseLines,
} from './head.js';
import { judge, type Named } from './validators.js';

/** A whole answer, 200, or 204 where its body is empty, ready to be sent any number of times. */
export interface Answer extends AnswerHead {
  readonly body: Uint8Array;
  /** Undefined of a kept answer, and where nothing was searched. */
  readonly work?: QueryWork | undefined;
}

/**
 * Sends the answers of a route and counts them, straight to Node's response: Fastify's reply costs
 * more than a query. To the header lines it adds those for origins that are listed by name, and the
 * id of the request: in a stream and with 201 always, else where the client gave it one.
 */
export class Sender {
  readonly #context: Context;
  readonly observe: Observe;

  constructor(context: Context, route: string) {
    this.#context = context;
    this.observe = context.stats.route(route);
  }

  /** Returns whether the client has one of these answers and got 304. Throws as {@link judge}. */
  sendKnown(reply: FastifyReply, state: Named, heads: readonly AnswerHead[]): boolean {
    const known = judge(reply.request.raw.headers, state, heads);
    if (known === undefined) return false;
    this.write(reply, 304, known.format, bodilessLines(known));
    return true;
  }

  /** Calls `onSent` once Node reads the body's memory no more; never when the client has gone. */
  send(reply: FastifyReply, answer: Answer, onSent?: () => void, isKept = false): void {
    const { format, body } = answer;
    if (body.length === 0) {
      this.write(reply, 204, format, bodilessLines(answer), undefined, onSent);
      return;
    }
    let lines = `${linesWithBody(answer)}Content-Length: ${body.length}\r\n`;
    if (reply.request.raw.headers[TIMING_HEADER] !== undefined) {
      lines += timingLine(reply.request, isKept, answer.work);
    }
    this.write(reply, 200, format, lines, body, onSent);
  }

  /**
   * A body as text has a character a byte, and goes with the head in one piece, in two thirds of
   * the time; HEAD must have none. `onSent` is called as by {@link send}.
   */
  write(
    reply: FastifyReply,
    status: PlainStatus,
    representation: string,
    lines: string,
    body?: Uint8Array | string,
    onSent?: () => void,
  ): void {
    const response = this.#take(reply);
    const { writeHead, note } = this.#context;
    const text = typeof body === 'string' ? body : undefined;
    writeHead(response, status, this.#ownLines(reply.request, lines, status === 201), text);
    // Node itself leaves other bodies out for HEAD
    response.end(text === undefined ? body : undefined, onSent);
    note(response);
    this.#count(reply.request, status, representation);
  }

  /** Begins a body of unknown length, with status 200; {@link sendPieces} sends it, if any. */
  begin(reply: FastifyReply, representation: string, lines: string): void {
    const response = this.#take(reply);
    response.writeHead(200, parseLines(this.#ownLines(reply.request, lines, true)));
    if (reply.request.method === 'HEAD') response.end();
    this.#count(reply.request, 200, representation);
  }

  /**
   * Sends a body piece by piece: the next is asked for once the system has taken the last, and none
   * when the client has gone. What `pieces` throws before the head was sent is thrown; later the
   * body breaks off, and the client can tell.
   */
  async sendPieces(reply: FastifyReply, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const { note, logger } = this.#context;
    const { raw: response, request } = reply;
    let goOn = (): void => {};
    response.once('close', () => goOn());
    try {
      for await (const piece of pieces) {
        if (response.destroyed) return;
        await new Promise<void>((resolve) => {
          goOn = resolve;
          response.write(piece, () => resolve());
          note(response);
        });
      }
      response.end();
      note(response);
    } catch (error) {
      if (!response.headersSent) throw error;
      if (!response.destroyed) {
        logger.warn({ reqId: request.id, err: error, url: request.raw.url }, 'answer broken off');
      }
      breakOff(response);
    }
  }

  #take(reply: FastifyReply): ServerResponse {
    reply.hijack();
    const { raw: response } = reply;
    if (this.#context.closing()) response.shouldKeepAlive = false;
    return response;
  }

  #ownLines({ raw, id }: FastifyRequest, lines: string, isNamed: boolean): string {
    const { corsOrigin } = this.#context;
    let head = lines;
    if (corsOrigin[0] !== '*') head += linesOf(corsHeaders(raw.headers.origin, corsOrigin));
    if (isNamed || raw.headers['x-request-id'] !== undefined) head += `X-Request-Id: ${id}\r\n`;
    return head;
  }

  #count(request: FastifyRequest, status: number, representation: string): void {
    const { accessLog, logger } = this.#context;
    const seconds = (performance.now() - request.startedAt) / 1000;
    this.observe(status, representation, seconds);
    if (accessLog > 0 && Math.random() < accessLog) {
      const { method, url } = request.raw;
      const rounded = Number(seconds.toFixed(6));
      logger.info({ reqId: request.id, method, url, status, seconds: rounded }, 'request');
    }
  }
}

/** Resets the connection: over HTTP/1.0, which has no last chunk, a mere end would look whole. */
export function breakOff(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** The request header that asks for `Server-Timing`, whatever its value. */
const TIMING_HEADER = 'waypost-timing';

/** Server-Timing: how long the service has had the request, and how the answer was found. */
function timingLine(
  { startedAt }: FastifyRequest,
  isKept: boolean,
  work: QueryWork | undefined,
): string {
  const parts = [`total;dur=${(performance.now() - startedAt).toFixed(3)}`];
  if (isKept) parts.push('cache;desc="hit"');
  if (work !== undefined) {
    parts.push(`query;desc="${work.form}, ${work.accessPath}, ${work.looks} rows"`);
  }
  return `Server-Timing: ${parts.join(', ')}\r\n`;
}
