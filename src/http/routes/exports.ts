import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { disclose, release, sharedArray } from '../../model/memory.js';
import type { State } from '../../reload/current.js';
import type { Context } from '../answer/context.js';
import { type AnswerHead, codedHead, Heads, linesWithBody } from '../answer/head.js';
import { seedOf } from '../answer/pipeline.js';
import type { Address, ExportBegin } from '../answer/question.js';
import { Sender } from '../answer/sender.js';
import { hashText, judge, spellHash } from '../answer/validators.js';
import { ALLOW_READ, EXPORT_FORMATS, EXPORT_PATH } from '../request/addresses.js';
import { clientOf } from '../request/client.js';
import { NotFound } from '../request/http-error.js';
import { EXPORT_PARAMETERS, parseExportQuery } from '../request/list-parameters.js';
import { createCodingOf } from '../request/negotiation.js';
import { parameters } from '../request/parameter.js';
import { parametersOf } from '../request/query-string.js';

/** Bytes of the records of a piece, for a reader that keeps up and for all others. */
const FAST_PIECE_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** Bytes that both systems buffer for a reader that takes nothing: one that took more keeps up. */
const PROOF_BYTES = 8 * 1024 * 1024;
/** A reader that takes longer for a piece is slow. */
const SLOW_MS = 100;

const FACTS = { name: 'export', allow: ALLOW_READ, isFile: true };

export const EXPORT_ADDRESS: Address = {
  ...FACTS,
  path: EXPORT_PATH,
  title: 'Export',
  description: 'All matches as one file, of one state from the first record to the last.',
  formats: EXPORT_FORMATS.map(({ name, mediaType }) => ({ parameter: name, mediaType })),
  parameters: EXPORT_PARAMETERS,
  pathParameters: parameters('format@export'),
};

export function createExportHandler(context: Context): RouteHandlerMethod {
  const { current, compress, zone, originOf, origin, corsOrigin } = context;
  const sender = new Sender(context, FACTS.name);
  const gzipOf = createCodingOf(['gzip']);
  const seed = hashText('', seedOf(context));
  const formats = new Map(
    EXPORT_FORMATS.map((format) => {
      const isCoded = compress && format.isCompressed !== true;
      const headers = { 'Content-Disposition': `attachment; filename="points.${format.name}"` };
      const heads = new Heads({ corsOrigin, compress: isCoded }, FACTS);
      // without `ordering` a merge may change the order of the same points
      return [format.name, { ...format, isCoded, isWeak: true, headers, heads }];
    }),
  );

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { raw } = request;
    const target = raw.url!;
    const format = formats.get((request.params as { readonly format: string }).format);
    if (format === undefined) throw new NotFound();
    // throws for hosts that are not allowed
    originOf(raw);
    const query = parseExportQuery(parametersOf(target), zone);
    const isGzipped = format.isCoded && gzipOf(raw.headers['accept-encoding']) !== undefined;
    const headsOf = (state: State): AnswerHead[] => {
      const content = spellHash(hashText(`${target} ${state.name}`, seed));
      const plain = format.heads.of(state, format, content, false);
      return isGzipped ? [codedHead(plain, 'gzip'), plain] : [plain];
    };
    const start = (state: State): void => {
      // by now there may be another state than the one that was asked for
      judge(raw.headers, state);
      sender.begin(reply, format.name, linesWithBody(headsOf(state)[0]!));
    };
    const state = current.generation.state();
    if (sender.sendKnown(reply, state, headsOf(state))) return;
    if (raw.method === 'HEAD') return start(state);
    const client = `export ${clientOf(raw, origin.trustProxy)}`;
    const wanted = { format: format.name, query, isGzipped };
    await sender.sendPieces(reply, piecesOf(context, reply.raw, client, wanted, start));
  };
}

/**
 * A piece is made when the system has taken the last one, or earlier for a reader that keeps up.
 * `start` gets the state before the first piece. Throws as the slow lane rejects.
 */
async function* piecesOf(
  { slowLane }: Context,
  response: ServerResponse,
  client: string,
  begin: ExportBegin,
  start: (state: State) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  // the client left while its request waited: no `close` will come to end the export
  if (response.destroyed) return;
  const ended = sharedArray(Int32Array, 1);
  const end = (): void => void Atomics.store(ended, 0, 1);
  response.once('close', end);
  let number: number | undefined;

  async function next(bytes: number) {
    const common = { client, ended, export: number, bytes };
    const piece = await slowLane.step(number === undefined ? { ...common, begin } : common);
    number = piece.isLast ? undefined : piece.export;
    return { ...piece, body: disclose(piece.body) };
  }

  try {
    let piece = await next(PIECE_BYTES);
    if (!response.destroyed) start(piece.state);
    let sent = 0;
    let isFast = false;
    while (!response.destroyed) {
      const coming = isFast && !piece.isLast ? next(FAST_PIECE_BYTES) : undefined;
      coming?.catch(() => {});
      const startedAt = performance.now();
      const { length } = piece.body;
      yield piece.body;
      if (piece.isLast) return;
      release(piece.body);
      sent += length;
      isFast = sent > PROOF_BYTES && performance.now() - startedAt < SLOW_MS;
      piece = await (coming ?? next(isFast ? FAST_PIECE_BYTES : PIECE_BYTES));
    }
  } finally {
    end();
    // one whose reader has left is ended by its next step
    if (number !== undefined) next(0).catch(() => {});
  }
}
