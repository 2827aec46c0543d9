import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QueryWork } from '../formats/format.js';
import { judge, type Named } from './conditions.js';
import type { Answering } from './context.js';
import { type AnswerHead, bodilessLines, type Facts, linesWithBody } from './head.js';
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

/** Sends the answers of one address. */
export interface Sender {
  /**
   * Sends 304 where the client has one of these answers already, and says whether it did. Throws a
   * 412 HttpError where the client wants an answer of another state.
   */
  sendKnown(
    request: FastifyRequest,
    reply: FastifyReply,
    state: Named,
    heads: readonly AnswerHead[],
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
export function createSender(answering: Answering, facts: Facts): Sender {
  const write = createWrite(answering, answering.stats.route(facts.name));

  return {
    sendKnown(request, reply, state, heads) {
      const known = judge(request.raw.headers, state, heads);
      if (known === undefined) return false;
      write(request, reply, 304, known.format.name, bodilessLines(known));
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
