import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QueryWork } from '../formats/format.js';
import { otherSnapshot } from '../request/errors.js';
import type { Context } from './context.js';
import { allowsSnapshot, isAny, matchesEtag } from './etag.js';
import {
  type AnswerHead,
  bodilessLines,
  createHeadOf,
  type Facts,
  type HeadOf,
  linesWithBody,
} from './head.js';
import { TIMING_HEADER, timingLine } from './timing.js';
import { createWrite } from './write.js';

/**
 * A whole answer with status 200, or 204 where its body is empty, ready to be sent any number of
 * times.
 */
export interface Answer extends AnswerHead {
  readonly body: Uint8Array;
  /** What finding it took; undefined of an answer that was kept, and where nothing was searched. */
  readonly work?: QueryWork | undefined;
}

/** Puts the own names of an answer in the place of older names that it has in a header. */
export type Renew = (header: string) => string;

/** Sends the answers of one address. */
export interface Sender {
  readonly head: HeadOf;
  /**
   * Sends 304 when the client has one of these answers already, and says whether it did. `isFound`
   * tells that without preconditions the answer would have status 200, which `If-None-Match: *`
   * asks for. `renew` is applied to what the client sends. Throws a 412 HttpError when the client
   * wants an answer of another snapshot.
   */
  sendByConditions(
    request: FastifyRequest,
    reply: FastifyReply,
    heads: readonly AnswerHead[],
    isFound: boolean,
    renew?: Renew,
  ): boolean;
  /**
   * Sends 200, or 204 where the body is empty. Calls `onSent` once Node reads the body's memory no
   * more; never when the client has gone.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    onSent?: () => void,
    isKept?: boolean,
  ): void;
}

/** Makes the sender of an address. */
export function createSender(context: Context, facts: Facts): Sender {
  const write = createWrite(context, context.stats.route(facts.name));

  return {
    head: createHeadOf(context, facts),

    sendByConditions(request, reply, heads, isFound, renew = keep) {
      const { 'if-match': match, 'if-none-match': noneMatch } = request.raw.headers;
      if (match !== undefined) {
        const ifMatch = renew(match);
        const { snapshot: served } = heads[0]!;
        if (!heads.some((head) => allowsSnapshot(ifMatch, served, head.etag))) {
          throw otherSnapshot(match, served);
        }
      }
      if (noneMatch === undefined) return false;
      const ifNoneMatch = renew(noneMatch);
      const kept = isAny(ifNoneMatch)
        ? isFound && heads[0]
        : heads.find((head) => matchesEtag(ifNoneMatch, head.etag));
      if (!kept) return false;
      write(request, reply, 304, kept.format.name, bodilessLines(kept));
      return true;
    },

    send(request, reply, answer, onSent, isKept = false) {
      const { format, body } = answer;
      if (body.length === 0) {
        write(request, reply, 204, format.name, bodilessLines(answer), undefined, onSent);
        return;
      }
      let lines = linesWithBody(answer, body.length);
      if (format.isTimed === true || request.raw.headers[TIMING_HEADER] !== undefined) {
        lines += timingLine(request, isKept, answer.work);
      }
      write(request, reply, 200, format.name, lines, body, onSent);
    },
  };
}

function keep(header: string): string {
  return header;
}
