import type { FastifyRequest } from 'fastify';
import type { QueryWork } from '../formats/format.js';

/** The request header that asks for `Server-Timing`, whatever its value. */
export const TIMING_HEADER = 'waypost-timing';

/**
 * The line of a Server-Timing header: how long the service has had the request, and how the answer
 * was found, which is not known of an answer that was kept.
 */
export function timingLine(
  { startedAt }: FastifyRequest,
  isKept: boolean,
  work: QueryWork | undefined,
): string {
  const parts = [`total;dur=${(performance.now() - startedAt).toFixed(3)}`];
  if (isKept) parts.push('cache;desc="hit"');
  if (work !== undefined) {
    parts.push(`query;desc="${work.form}, ${work.way}, ${work.looks} rows"`);
  }
  return `Server-Timing: ${parts.join(', ')}\r\n`;
}
