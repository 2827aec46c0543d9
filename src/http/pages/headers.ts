import type { FastifyReply } from 'fastify';
import { PAGE_TYPE } from './format.js';
import type { Site } from './site.js';

/** Makes an answer a page. */
export function setPageHeaders(reply: FastifyReply, { headers }: Site): void {
  reply.header('Content-Type', PAGE_TYPE);
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!);
}

/** Headers of an answer as far as they are known, names and values in turn. */
export function headerList(reply: FastifyReply): string[] {
  // the id of a request is not shown: its length is another each time, and answers to HEAD tell the
  // length
  return Object.entries(reply.getHeaders())
    .filter(([name]) => name !== 'x-request-id')
    .flatMap(([name, value]) => [name, String(value)]);
}
