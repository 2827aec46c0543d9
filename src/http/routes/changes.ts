import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { showing } from '../../formats/record-layout.js';
import {
  appendToDelta,
  createDelta,
  type Delta,
  deltaLength,
  deltaRecord,
  lastSequence,
} from '../../index/delta.js';
import { firstAbove } from '../../index/order.js';
import type { RecordKey } from '../../model/point.js';
import type { Filters } from '../../model/query.js';
import { createQueue, createTurnstile } from '../../model/turns.js';
import { acceptedOf } from '../../posts/adopt.js';
import { matchDelta } from '../../query/delta-match.js';
import { servedSequence } from '../../reload/current.js';
import { createKeptState } from '../answer/at-least.js';
import type { Context, Posting } from '../answer/context.js';
import { fixedHeaders, linesOf } from '../answer/head.js';
import type { Address } from '../answer/question.js';
import { Sender } from '../answer/sender.js';
import { ALLOW_READ, CHANGES_PATH } from '../request/addresses.js';
import { tooManyStreams } from '../request/http-error.js';
import { CHANGES_PARAMETERS, parseChangesQuery, sequenceIn } from '../request/list-parameters.js';
import { Negotiation, type Offer } from '../request/negotiation.js';
import { parametersOf } from '../request/query-string.js';

const EVENTS: Offer = { parameter: 'events', mediaType: 'text/event-stream' };
const LINES: Offer = { parameter: 'ndjson', mediaType: 'application/x-ndjson' };
/** Between two looks for new points, in milliseconds. */
const LOOK_MS = 20;
/** Most posts that are read from the journal at a time: each is parsed, which takes some 10 µs. */
const POSTS = 64;
/** Rows of a delta that are looked at for a stream at a time. */
const ROWS = 256;
/** Bytes at which a chunk of a stream ends. */
const MOST_BYTES = 64 * 1024;
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
export function createChangesHandler(
  context: Context,
  posting: Posting,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { current, zone, stats, corsOrigin } = context;
  const { journal, streams: counts, maxStreams } = posting;
  const follow = createFollower(context, posting);
  const keptState = createKeptState(current, journal);
  const negotiation = new Negotiation([EVENTS, LINES]);
  const sender = new Sender(context, CHANGES_ADDRESS.name);
  const fixed = fixedHeaders(ALLOW_READ, { corsOrigin });

  return async (request, reply) => {
    const { raw } = request;
    context.originOf(raw);
    const pairs = parametersOf(raw.url!);
    const format = negotiation.chosen(pairs, raw.headers.accept);
    const isEvents = format === EVENTS;
    const { filters, keys, after: given } = parseChangesQuery(pairs, zone);
    const expected = 'the sequence that an event had as its id';
    const header = raw.headers['last-event-id'] || undefined;
    const named = sequenceIn(header, 'Last-Event-ID', expected) ?? given;
    const state = await keptState(named);
    const served = servedSequence(current.generation);
    const after = named ?? (isEvents ? served : 0);
    const head = linesOf({
      ...fixed,
      'Content-Type': format.mediaType,
      'Cache-Control': 'no-store',
      'Waypost-Journal': state.line,
      'Waypost-Sequence': String(isEvents ? after : Math.max(after, served)),
      // a proxy that buffers whole answers would buffer this one for ever
      'X-Accel-Buffering': 'no',
    });
    if (raw.method === 'HEAD') return sender.begin(reply, 'none', head);
    if (Atomics.add(counts, 0, 1) >= maxStreams) {
      Atomics.sub(counts, 0, 1);
      throw tooManyStreams(maxStreams);
    }
    stats.streams++;
    const through = isEvents ? Number.POSITIVE_INFINITY : served;
    const start = { filters, after, through, isWhole: isEvents || named !== undefined };
    const form = isEvents ? eventsOf(keys) : pointLinesOf(keys);
    try {
      sender.begin(reply, 'none', head);
      await sender.sendPieces(reply, follow(start, form, reply.raw));
    } finally {
      Atomics.sub(counts, 0, 1);
      stats.streams--;
    }
  };
}

interface StreamForm {
  point(record: Uint8Array, sequence: number): Uint8Array;
  /** A heartbeat that says how far the stream is; empty where the form has none. */
  beat(sequence: number): string;
}

interface StreamStart {
  readonly filters: Filters;
  /** The sequence behind which it begins, and the one with which it ends, if any. */
  readonly after: number;
  readonly through: number;
  /** Whether it breaks off where posts are missing. */
  readonly isWhole: boolean;
}

/** What there is behind a sequence: some bytes, and the sequence that they lead to. */
interface Found {
  readonly bytes: Buffer;
  readonly points: number;
  readonly cursor: number;
  /** Posts to read next, of those that are about as large. */
  readonly posts?: number;
}

/** The next points of a delta behind a sequence that it has. */
function ofDelta(delta: Delta, cursor: number, start: StreamStart, form: StreamForm): Found {
  const length = deltaLength(delta);
  const from = firstAbove(delta.sequence.subarray(0, length), cursor);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let next = Math.min(length, from + ROWS);
  for (const row of from < next ? matchDelta(delta, start.filters, from, next) : []) {
    const sequence = delta.sequence[row]!;
    if (sequence > start.through) break;
    const part = form.point(deltaRecord(delta, row), sequence);
    parts.push(part);
    bytes += part.length;
    if (bytes < MOST_BYTES) continue;
    next = row + 1;
    break;
  }
  // behind the last row there may be sequences without a row
  const passed = next === length ? lastSequence(delta, length) : delta.sequence[next - 1]!;
  return { bytes: Buffer.concat(parts), points: parts.length, cursor: Math.max(cursor, passed) };
}

/** Makes what a stream sends: new points out of the delta, older ones out of the journal. */
function createFollower({ current, stats, closing }: Context, { journal, beatMs }: Posting) {
  const takeTurn = createTurnstile();
  /** The next look for new points, which all streams of a thread share. */
  let look: Promise<void> | undefined;
  const reading = createQueue();

  /** Resolves when this delta has more, or is replaced, and in time for a heartbeat. */
  async function untilNew(delta: Delta): Promise<void> {
    const length = deltaLength(delta);
    const until = performance.now() + beatMs / 30;
    const isSame = (): boolean =>
      current.generation.delta === delta && deltaLength(delta) === length && !closing();
    do await delay(LOOK_MS);
    while (performance.now() < until && isSame());
  }

  /** Posts of the journal, which may be part of the dataset by now; one stream reads at a time. */
  async function ofJournal(
    cursor: number,
    limit: number,
    start: StreamStart,
    form: StreamForm,
  ): Promise<Found> {
    // read first: the base of a later delta may lie behind posts that were not read
    const { base } = current.generation.delta!;
    // the state last: it tells of what was pruned while posts were read
    const read = async () =>
      [await journal.read(cursor, limit), (await journal.state()).keptAfter] as const;
    const [posts, keptAfter] = await reading(read);
    // the client comes back, and gets 410
    if (start.isWhole && cursor < keptAfter) throw new Error('Posts are kept no longer.');
    if (posts.length === 0) return { bytes: Buffer.alloc(0), points: 0, cursor: base };
    const points = posts.map(acceptedOf);
    const room = points.reduce((sum, { record }) => sum + record.length, 0);
    const delta = createDelta({ rows: points.length, bytes: room });
    appendToDelta(delta, points);
    const found = ofDelta(delta, cursor, start, form);
    // those behind the end of the chunk are read and parsed again
    const used = posts.filter(({ sequence }) => sequence <= found.cursor).length;
    return { ...found, posts: Math.min(POSTS, 2 * used + 1) };
  }

  return async function* (
    start: StreamStart,
    form: StreamForm,
    response: ServerResponse,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const line = current.generation.parts.journal;
    let cursor = start.after;
    let beatsAt = 0;
    let limit = POSTS;
    // what has an end is sent to its end: its head names the sequence to go on behind
    const isEndless = start.through === Number.POSITIVE_INFINITY;
    while (cursor < start.through && !(isEndless && closing()) && !response.destroyed) {
      // the head is sent with the first bytes
      if (performance.now() > beatsAt) {
        yield Buffer.from(form.beat(cursor));
        beatsAt = performance.now() + beatMs;
      }
      await takeTurn('');
      const { generation } = current;
      // other posts may have the sequences that lost ones had
      if (generation.parts.journal !== line) throw new Error('The journal has lost posts.');
      const delta = generation.delta!;
      const found: Found =
        cursor < delta.base
          ? await ofJournal(cursor, limit, start, form)
          : ofDelta(delta, cursor, start, form);
      const isNew = found.cursor > cursor;
      cursor = found.cursor;
      limit = found.posts ?? POSTS;
      stats.streamed += found.points;
      if (found.bytes.length > 0) {
        yield found.bytes;
        beatsAt = performance.now() + beatMs;
      } else if (!isNew) {
        look ??= untilNew(delta).finally(() => {
          look = undefined;
        });
        await look;
      }
    }
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

function pointLinesOf(keys: readonly RecordKey[] | undefined): StreamForm {
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
