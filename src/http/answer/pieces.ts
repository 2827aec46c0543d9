import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pieces } from '../formats/format.js';

/**
 * Does the work of a request piece by piece, the first at once and the others each in a turn of the event loop of its
 * own, so that other requests are answered in between. `done` takes the result. The work ends when the
 * client has gone, and its errors are answered as those of the handler are.
 */
export function doInPieces<Result>(
  work: Pieces<Result>,
  { raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  done: (result: Result) => void,
): void {
  function next(): boolean {
    const { done: isDone, value } = work.next();
    if (isDone) done(value);
    else setImmediate(goOn);
    return isDone === true;
  }

  function goOn(): void {
    if (socket.destroyed) return;
    try {
      next();
    } catch (error) {
      reply.send(error);
    }
  }

  next();
}
