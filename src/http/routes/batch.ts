import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AT_ONCE, Budget, EXCEEDED } from '../../model/budget.js';
import {
  type Generation,
  type GenerationParts,
  identityOf,
  type State,
} from '../../reload/generation.js';
import type { Context, ViewContext } from '../answer/context.js';
import { PageBuffers } from '../answer/delivery.js';
import { corsHeaders, linesOf, varyOf } from '../answer/head.js';
import { createMake, type Made, type Question, type View } from '../answer/question.js';
import { createBegin } from '../answer/sender.js';
import { askSlowLane } from '../answer/slow-lane.js';
import { createTurnstile } from '../answer/turnstile.js';
import { judge } from '../answer/validators.js';
import { LINE_FORMAT } from '../formats/json-format.js';
import { type BodyMemory, FRESH_MEMORY } from '../formats/representation.js';
import { BATCH_PATH } from '../request/addresses.js';
import { BATCH_KINDS, parseBatch, type ReadQuestion } from '../request/batch-questions.js';
import { kindOfBody, noRoomForBody, receiveBody } from '../request/body.js';
import { clientOf } from '../request/client.js';
import { HttpError, internalError } from '../request/http-error.js';
import type { PointsQuery } from '../request/list-parameters.js';
import { addOtherAddress } from './other-addresses.js';
import { pointsView } from './rest-views.js';

const METHODS = ['POST'];
const ALLOW = 'POST, OPTIONS';
/** How long a batch is worked on in a turn of the event loop, and what a question may cost then. */
const SLICE_MS = 0.5;
const QUESTION_COST = AT_ONCE / 2;
/** Lines are sent together up to this size. */
const CHUNK_BYTES = 64 * 1024;
/** Memory of a batch beside its body: chunks that are filled or wait for the client. */
const OTHER_BYTES = 4 * CHUNK_BYTES;
/** Memory of a parsed body, by its bytes. */
const PARSED_TIMES = 4;

interface Batch {
  readonly request: FastifyRequest;
  readonly response: FastifyReply['raw'];
  readonly questions: readonly ReadQuestion[];
  /** All questions are answered from the same state. */
  readonly generation: Generation;
  readonly state: State;
  readonly client: string;
}

export function batchView(context: ViewContext): View<PointsQuery> {
  return { ...pointsView(context), name: 'batch', formats: [LINE_FORMAT] };
}

/**
 * Adds `POST /rest/map_data_points/query/`: up to 1,000 questions to the list, answered line by line.
 * Batches of a thread take turns by address, each for half a millisecond of a turn of the event
 * loop. What takes longer is asked of the slow lane, one question of a batch at a time.
 */
export function addBatch(app: FastifyInstance, context: Context): void {
  const { current, bodies, stats, note } = context;
  const maker = createLineMaker(context);
  const takeTurn = createTurnstile();
  const chunks = new PageBuffers();
  const observe = stats.route('batch');
  const begin = createBegin(context, observe);

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { raw } = request;
    reply.header('Allow', ALLOW);
    context.originOf(raw);
    const kind = kindOfBody(raw.headers, BATCH_KINDS);
    const client = clientOf(raw, context.origin.trustProxy);
    const body = await receiveBody(raw, bodies, client);
    const questions = parseBatch(body, kind);
    const { generation } = current;
    const state = generation.state();
    judge(raw.headers, state);
    takeRoom(context, reply, client, PARSED_TIMES * body.length + OTHER_BYTES);
    begin(request, reply, 'none', headOf(context, state));
    const batch = { request, response: reply.raw, questions, generation, state, client };
    await answer(batch).catch((error) => {
      context.logger.error({ reqId: request.id, err: error, url: BATCH_PATH }, 'request failed');
      reply.raw.destroy();
    });
    return reply;
  }

  async function answer(batch: Batch): Promise<void> {
    const { questions, client, response } = batch;
    let chunk = chunks.take(CHUNK_BYTES);
    let filled = 0;
    let until = 0;
    for (const read of questions) {
      if (performance.now() > until) {
        await takeTurn(client);
        until = performance.now() + SLICE_MS;
      }
      if (response.destroyed) return;
      const made = maker.atOnce(batch, read);
      const line = 'asked' in made ? await maker.later(batch, made.asked) : made.line;
      stats.questions++;
      // the memory of a line is that of the next one: it is copied before anything else happens
      const full = chunk;
      const bytes = filled;
      const isFull = bytes + line.length > CHUNK_BYTES;
      if (isFull) {
        chunk = chunks.take(Math.max(CHUNK_BYTES, line.length));
        filled = 0;
      }
      filled += line.copy(chunk, filled);
      if (!isFull || bytes === 0) continue;
      await send(context, response, full.subarray(0, bytes), () => chunks.give(full));
    }
    response.end(chunk.subarray(0, filled), () => chunks.give(chunk));
    note(response);
  }

  app.register(async (scope) => {
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    addOtherAddress(scope, BATCH_PATH, METHODS, handle, { observe });
  });
}

/** Keeps room until the answer has been sent. Throws a 503 HttpError where there is none. */
function takeRoom({ bodies }: Context, { raw }: FastifyReply, client: string, bytes: number): void {
  let isTurnedOut = false;
  const guest = bodies.enter(client, () => {
    isTurnedOut = true;
    if (raw.headersSent) raw.destroy();
  });
  guest.grow(bytes);
  if (isTurnedOut) throw noRoomForBody();
  raw.once('close', () => guest.leave());
}

/** Sends some bytes; resolves once there is room for more, or nobody takes them. */
async function send(
  { note }: Context,
  response: Batch['response'],
  bytes: Buffer,
  onSent: () => void,
): Promise<void> {
  response.write(bytes, onSent);
  if (!response.writableNeedDrain) return;
  note(response);
  await new Promise<void>((resolve) => {
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}

function headOf({ corsOrigin }: Context, { lastModified, name }: State): string {
  const vary = varyOf({ isPersonal: false, compress: false, corsOrigin });
  return linesOf([
    ...['Content-Type', LINE_FORMAT.contentType, 'Cache-Control', 'no-store', 'Allow', ALLOW],
    ...['Last-Modified', lastModified, 'Waypost-Snapshot', `"${name}"`],
    ...['X-Content-Type-Options', 'nosniff', 'Vary', vary],
    ...(corsOrigin[0] === '*' ? corsHeaders(undefined, corsOrigin) : []),
  ]);
}

/** Makes the lines of answers. Those made at once are in memory that the next one is made in. */
function createLineMaker(context: Context) {
  const view = batchView(context);
  const make = createMake(context, view);
  const own = new ArrayBuffer(CHUNK_BYTES);
  const memory: BodyMemory = {
    take: (bytes) => (bytes > CHUNK_BYTES ? FRESH_MEMORY.take(bytes) : Buffer.from(own, 0, bytes)),
    give: () => {},
  };
  const asked = { origin: '', pairs: [], path: {}, user: undefined };
  const about = {
    view: view.name,
    asked,
    target: BATCH_PATH,
    coding: undefined,
    name: '',
    format: 0,
  };
  const isKnown = (): boolean => false;

  function errorLine({ id }: FastifyRequest, thrown: unknown): Buffer {
    const error = thrown instanceof HttpError ? thrown : internalError();
    if (error !== thrown) {
      context.logger.error({ reqId: id, err: thrown, url: BATCH_PATH }, 'request failed');
    }
    return Buffer.from(`${JSON.stringify({ status: error.status, error: error.body })}\n`);
  }

  return {
    /** Answers a question, or says what it asks where that takes longer. */
    atOnce(
      { request, generation, state }: Batch,
      read: ReadQuestion,
    ): { readonly line: Buffer } | { readonly asked: Question } {
      let question: Question | undefined;
      try {
        question = { ...about, wanted: view.read({ ...asked, pairs: read() }) };
        const means = { budget: new Budget(QUESTION_COST), memory, isKnown };
        return { line: make(question, { generation, state }, means)!.body };
      } catch (error) {
        if (error === EXCEEDED) return { asked: question! };
        return { line: errorLine(request, error) };
      }
    },
    /** Has the slow lane answer: where it has another state by now, from the one of the batch. */
    async later(
      { request, generation, state, client }: Batch,
      question: Question,
    ): Promise<Buffer> {
      const { socket } = request.raw;
      const wanted = { ...question, state, client, generation: identityOf(generation) };
      const ask = (parts?: GenerationParts): Promise<Made> =>
        new Promise((done, failed) => {
          const waiter = { socket, done, failed };
          askSlowLane(context.slowLane, { ...wanted, parts }, view.formats, waiter);
        });
      try {
        const made = await ask();
        return made.state.name === state.name ? made.body : (await ask(generation.parts)).body;
      } catch (error) {
        return errorLine(request, error);
      }
    },
  };
}
