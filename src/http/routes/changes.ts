import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { RecordKey } from '../../model/point.js';
import { servedSequence } from '../../reload/generation.js';
import type { Context, Posting } from '../answer/context.js';
import { type StreamForm, Streams } from '../answer/streams.js';
import { createProjection } from '../formats/json-format.js';
import { ALLOW_READ, CHANGES_PATH } from '../request/addresses.js';
import { tooManyStreams } from '../request/http-error.js';
import {
  CHANGES_PARAMETERS,
  checkKept,
  parseChangesQuery,
  parseLastEventId,
} from '../request/list-parameters.js';
import { Negotiation, type Offer } from '../request/negotiation.js';
import { queryOf } from '../request/origin.js';
import { last, parseQueryString } from '../request/query-string.js';
import type { Address } from './address.js';

const EVENTS: Offer = { parameter: 'events', mediaType: 'text/event-stream' };
const LINES: Offer = { parameter: 'ndjson', mediaType: 'application/x-ndjson' };
/** What a browser waits before it comes back, in milliseconds. */
const RETRY_MS = 1_000;

export const CHANGES_ADDRESS: Address = {
  ...{ name: 'changes', path: CHANGES_PATH, allow: ALLOW_READ, formats: [EVENTS, LINES] },
  title: 'Accepted Points',
  description:
    'Points as they are accepted, as a stream of events; or, as NDJSON, those that there are.',
  parameters: CHANGES_PARAMETERS,
};

/** A stream that goes on until its client leaves, or as lines up to the newest. */
export function createChangesHandler(context: Context, posting: Posting): RouteHandlerMethod {
  const { current, zone, stats, closing } = context;
  const { journal, streams: counts, maxStreams } = posting;
  const streams = new Streams({ current, journal, stats, closing });
  const negotiation = new Negotiation([EVENTS, LINES]);

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { raw } = request;
    context.originOf(raw);
    const pairs = parseQueryString(queryOf(raw.url!));
    const format =
      negotiation.named(last(pairs, 'format')) ?? negotiation.accepted(raw.headers.accept);
    const isEvents = format === EVENTS;
    const { filters, keys, after: given } = parseChangesQuery(pairs, zone);
    const named = parseLastEventId(raw.headers['last-event-id']) ?? given;
    const state = await journal.state();
    if (named !== undefined) checkKept(named, state);
    const served = servedSequence(current.generation);
    const after = named ?? (isEvents ? served : 0);
    reply.headers({
      Allow: ALLOW_READ,
      'Content-Type': format.mediaType,
      'Cache-Control': 'no-store',
      'Waypost-Journal': state.name,
      'Waypost-Sequence': isEvents ? after : Math.max(after, served),
      // a proxy that gathers an answer before it hands it on would gather this one for ever
      'X-Accel-Buffering': 'no',
    });
    if (raw.method === 'HEAD') return reply.send();
    if (Atomics.add(counts, 0, 1) >= maxStreams) {
      Atomics.sub(counts, 0, 1);
      throw tooManyStreams(maxStreams);
    }
    const through = isEvents ? Number.POSITIVE_INFINITY : served;
    const start = { filters, after, through, isWhole: isEvents || named !== undefined };
    const form = isEvents ? eventsOf(keys) : linesOf(keys);
    const stream = streams.open(start, form, () => Atomics.sub(counts, 0, 1));
    // the client takes less than there is
    stream.on('pause', () => context.note(reply.raw));
    return reply.send(stream);
  };
}

/** Server-sent events, whose ids are sequences. One without data tells a browser how far it is. */
function eventsOf(keys: readonly RecordKey[] | undefined): StreamForm {
  const shown = showing(keys);
  return {
    point: (record, sequence) =>
      Buffer.concat([Buffer.from(`id: ${sequence}\ndata: `), shown(record), END_OF_EVENT]),
    beat: (sequence) => `: still here\nretry: ${RETRY_MS}\nid: ${sequence}\n\n`,
  };
}

const END_OF_EVENT = Buffer.from('\n\n');

function linesOf(keys: readonly RecordKey[] | undefined): StreamForm {
  const shown = showing(keys);
  return {
    point(record, sequence) {
      const own = shown(record);
      const comma = own.length > 2 ? ',' : '';
      return Buffer.concat([own.subarray(0, -1), Buffer.from(`${comma}"sequence":${sequence}}\n`)]);
    },
    beat: () => '',
  };
}

function showing(keys: readonly RecordKey[] | undefined): (record: Uint8Array) => Uint8Array {
  if (keys === undefined) return (record) => record;
  const project = createProjection(keys);
  return (record) => {
    const target = Buffer.allocUnsafe(record.length);
    return target.subarray(0, project(record, target, 0));
  };
}
