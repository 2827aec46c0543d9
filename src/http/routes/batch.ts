import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AT_ONCE, Budget, EXCEEDED } from '../../model/budget.js';
import { show } from '../../model/quote.js';
import { createTurnstile } from '../../model/turns.js';
import { isObject } from '../../model/units.js';
import { type GenerationParts, identityOf } from '../../reload/current.js';
import type { Context, ViewContext } from '../answer/context.js';
import { fixedHeaders, linesOf } from '../answer/head.js';
import {
  createMake,
  type Made,
  type Question,
  type Served,
  type View,
} from '../answer/question.js';
import { breakOff, Sender } from '../answer/sender.js';
import { askSlowLane } from '../answer/slow-lane.js';
import { judge } from '../answer/validators.js';
import { LINE_FORMAT } from '../formats/json-format.js';
import { type BodyMemory, FRESH_MEMORY } from '../formats/representation.js';
import { BATCH_PATH } from '../request/addresses.js';
import { noRoomForBody, parseJson, receiveBody, typeOfBody } from '../request/body.js';
import { clientOf } from '../request/client.js';
import { HttpError, internalError, isHttpError } from '../request/http-error.js';
import { POINTS_PARAMETERS, type PointsQuery } from '../request/list-parameters.js';
import { joinList, type Pair } from '../request/query-string.js';
import { addOtherAddress } from './files.js';
import { pointsView } from './rest-views.js';

const ALLOW_BATCH = 'POST, OPTIONS';
/** Milliseconds of a turn of the event loop for a batch, and the budget of a question. */
const SLICE_MS = 0.5;
const QUESTION_COST = AT_ONCE / 2;
/** Lines are sent together up to this size. */
const CHUNK_BYTES = 64 * 1024;
/** Memory of a batch beside its body: chunks that are filled or wait for the client. */
const OTHER_BYTES = 4 * CHUNK_BYTES;
/** Bytes of memory for a byte of a parsed body. */
const PARSED_TIMES = 4;

interface Batch {
  readonly request: FastifyRequest;
  /** All questions are answered from the same state. */
  readonly served: Served;
  readonly client: string;
}

export function batchView(context: ViewContext): View<PointsQuery> {
  return { ...pointsView(context), name: 'batch', formats: [LINE_FORMAT] };
}

/** Adds `POST /rest/map_data_points/query/`: questions to the list, answered line by line. */
export function addBatch(app: FastifyInstance, context: Context): void {
  const { current, bodies, stats, batchMs } = context;
  const lineOf = createLineMaker(context);
  const takeTurn = createTurnstile();
  const sender = new Sender(context, 'batch');
  const fixed = {
    ...fixedHeaders(ALLOW_BATCH, { corsOrigin: context.corsOrigin }),
    ...{ 'Content-Type': LINE_FORMAT.mediaType, 'Cache-Control': 'no-store' },
  };

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { raw } = request;
    reply.header('Allow', ALLOW_BATCH);
    context.originOf(raw);
    const type = typeOfBody(raw.headers, ['application/json', LINE_FORMAT.mediaType]);
    const client = clientOf(raw, context.origin.trustProxy);
    const body = await receiveBody(raw, bodies, client);
    // the client left while its request waited: no `close` will come to give the room back
    if (reply.raw.destroyed) return;
    const questions = parseBatch(body, type === LINE_FORMAT.mediaType);
    const { generation } = current;
    const state = generation.state();
    judge(raw.headers, state);
    takeRoom(context, reply, client, PARSED_TIMES * body.length + OTHER_BYTES);
    const { lastModified, name } = state;
    const own = { 'Last-Modified': lastModified, 'Waypost-Snapshot': `"${name}"` };
    sender.begin(reply, 'none', linesOf({ ...fixed, ...own }));
    const batch = { request, served: { generation, state }, client };
    await sender.sendPieces(reply, chunksOf(batch, questions, reply.raw));
  }

  /**
   * The lines of a batch in chunks, whose memory is used again. One ends where it is full, and
   * before a question when it has been filled for `batchMs`: each line may take seconds, and a
   * connection on which nothing moves for a minute is reset, by proxies, too.
   */
  async function* chunksOf(
    batch: Batch,
    questions: readonly ReadQuestion[],
    response: ServerResponse,
  ): AsyncGenerator<Buffer, void, undefined> {
    // lines are written where they are sent from; the second half takes the end of a last line
    const chunk = Buffer.allocUnsafeSlow(2 * CHUNK_BYTES);
    let filled = 0;
    const memory: BodyMemory = {
      take: (bytes) =>
        bytes > CHUNK_BYTES ? FRESH_MEMORY.take(bytes) : Buffer.from(chunk.buffer, filled, bytes),
      give: () => {},
    };
    let until = 0;
    let sendAt = performance.now() + batchMs;
    for (const read of questions) {
      const now = performance.now();
      // the head goes with the first line: without one there is nothing to send
      if (now > sendAt && filled > 0) {
        yield chunk.subarray(0, filled);
        filled = 0;
        sendAt = performance.now() + batchMs;
      }
      if (now > until) {
        await takeTurn(batch.client);
        until = performance.now() + SLICE_MS;
      }
      if (response.destroyed) return;
      const line = await lineOf(batch, read, memory);
      stats.questions++;
      if (line.length > CHUNK_BYTES) {
        yield chunk.subarray(0, filled);
        yield line;
        filled = 0;
        continue;
      }
      if (line.buffer !== chunk.buffer) line.copy(chunk, filled);
      filled += line.length;
      if (filled <= CHUNK_BYTES) continue;
      yield chunk.subarray(0, filled);
      filled = 0;
    }
    yield chunk.subarray(0, filled);
  }

  addOtherAddress(app, BATCH_PATH, ['POST'], handle);
  // otherwise the route of a point would take these methods
  const method = app.supportedMethods.filter((one) => !ALLOW_BATCH.includes(one));
  app.route({ method, url: BATCH_PATH, handler: (_, reply) => reply.callNotFound() });
}

/** Keeps room until the answer has been sent. Throws a 503 HttpError where there is none. */
function takeRoom({ bodies }: Context, { raw }: FastifyReply, client: string, bytes: number): void {
  let isTurnedOut = false;
  const guest = bodies.enter(client, () => {
    isTurnedOut = true;
    if (raw.headersSent) breakOff(raw);
  });
  guest.grow(bytes);
  if (isTurnedOut) throw noRoomForBody();
  raw.once('close', () => guest.leave());
}

/** Makes lines at once, in the memory given, or, where that takes too long, by the slow lane. */
function createLineMaker(
  context: Context,
): (batch: Batch, read: ReadQuestion, memory: BodyMemory) => Buffer | Promise<Buffer> {
  const view = batchView(context);
  const make = createMake(context, view);

  function errorLine({ request: { id } }: Batch, thrown: unknown): Buffer {
    const error = isHttpError(thrown) ? thrown : internalError();
    if (error !== thrown) {
      context.logger.error({ reqId: id, err: thrown, url: BATCH_PATH }, 'request failed');
    }
    return Buffer.from(`${JSON.stringify({ status: error.status, error: error.body })}\n`);
  }

  /** Asks the slow lane; if it has another state by now, again with the generation of the batch. */
  async function later({ request, served, client }: Batch, question: Question): Promise<Buffer> {
    const { generation, state } = served;
    const { socket } = request.raw;
    const wanted = { ...question, state, client, generation: identityOf(generation) };
    const ask = (parts?: GenerationParts): Promise<Made> =>
      askSlowLane(context.slowLane, { ...wanted, parts }, socket);
    const made = await ask();
    return made.state.name === state.name ? made.body : (await ask(generation.parts)).body;
  }

  return (batch, read, memory) => {
    let question: Question | undefined;
    try {
      const asked = { origin: '', pairs: read(), path: {}, user: undefined };
      const wanted = view.read(asked);
      const target = BATCH_PATH;
      question = { view: view.name, wanted, asked, target, format: 0, coding: undefined, name: '' };
      const means = { budget: new Budget(QUESTION_COST), memory };
      return make(question, batch.served, means)!.body;
    } catch (error) {
      if (error !== EXCEEDED) return errorLine(batch, error);
      return later(batch, question!).catch((late) => errorLine(batch, late));
    }
  };
}

/** Questions of a batch, and values in all of them together. */
const MAX_QUESTIONS = 1_000;
const MAX_VALUES = 100_000;

/** Not `format`: answers have one. */
const KNOWN = new Set(POINTS_PARAMETERS.map(({ name }) => name).filter((one) => one !== 'format'));

/** Parameters in whose lists a backslash stands before a comma that belongs to a value. */
const TEXT_LISTS = new Set(['status', 'tags', 'tags_all']);

/** Reads one question of a batch. Throws an HttpError where it is none. */
type ReadQuestion = () => readonly Pair[];

/** Splits a batch into its questions, read one by one: of lines each fails by itself. */
function parseBatch(bytes: Buffer, isLines: boolean): ReadQuestion[] {
  if (isLines) {
    return few(splitLines(bytes)).map((line) => () => pairsOf(parseJson(line, MAX_VALUES)));
  }
  const batch = parseJson(bytes, MAX_VALUES);
  if (!Array.isArray(batch)) throw none(show(batch), 'an array of objects');
  return few(batch).map((question) => () => pairsOf(question));
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines = bytes.toString('latin1').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => Buffer.from(line, 'latin1'));
}

function few<T>(questions: readonly T[]): readonly T[] {
  if (questions.length <= MAX_QUESTIONS) return questions;
  const detail = `Got ${questions.length} questions. Expected at most ${MAX_QUESTIONS} at a time.`;
  throw new HttpError(413, { detail });
}

/** The parameters of the list that an object names; null is as good as no parameter. */
function pairsOf(question: unknown): Pair[] {
  if (!isObject(question)) {
    throw none(show(question), 'an object whose keys are parameters of the list');
  }
  const pairs: Pair[] = [];
  const problems: [name: string, texts: string[]][] = [];
  for (const [name, value] of Object.entries(question)) {
    if (value === null || !KNOWN.has(name)) continue;
    if (isPlain(value)) pairs.push({ name, value: String(value) });
    else if (Array.isArray(value) && value.every(isPlain)) {
      const texts = value.map(String);
      pairs.push({ name, value: TEXT_LISTS.has(name) ? joinList(texts) : texts.join() });
    } else {
      const text = `Got ${show(value)}. Expected a text, a number, true, false or a list of these.`;
      problems.push([name, [text]]);
    }
  }
  if (problems.length > 0) throw new HttpError(400, Object.fromEntries(problems));
  return pairs;
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function none(got: string, expected: string): HttpError {
  return new HttpError(400, { detail: `Got ${got}. Expected ${expected}.` });
}
