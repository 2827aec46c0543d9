import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { type Tail, type TailMatches, type TailRow, tailLength } from '../../dataset/tail.js';
import type { Generation } from '../../live/generation.js';
import { version } from '../../version.js';
import type { Format, Page, Pieces } from '../formats/format.js';
import { createNegotiation } from '../request/negotiation.js';
import { createOriginOf } from '../request/origin.js';
import { last, type Pair, parseQueryString } from '../request/query-string.js';
import { queryOf } from '../request/target.js';
import { userOf } from '../request/token.js';
import {
  type Accepted,
  additionsTo,
  type Coverage,
  isCovered,
  lastOf,
  markOf,
  nameOfState,
  renewNames,
  type TailState,
} from './additions.js';
import { type AnswerKey, answerKey, createAnswerCache } from './answer-cache.js';
import { createCodingOf } from './compression.js';
import type { Context } from './context.js';
import { createDelivery, waiterOf } from './delivery.js';
import { type Hash, hashSettings, hashText, spellHash } from './etag.js';
import { type AnswerHead, codedHead, type Facts } from './head.js';
import { createPieceWork, Later } from './pieces.js';
import { createSender, type Renew } from './sender.js';

/** A request as handlers see it. */
export interface Asked {
  /** What links in the answer begin with. */
  readonly origin: string;
  readonly pairs: readonly Pair[];
  /** What stands in the variable parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Whom the token names, at an address whose answers are personal. */
  readonly user: number | undefined;
}

/** What an address answers to GET, step by step. */
export interface View<Wanted> extends Facts {
  readonly formats: readonly Format[];
  /** Reads what is wanted. Throws an HttpError for what cannot be used. */
  read(asked: Asked): Wanted;
  /**
   * Finds the rows `from` to `to - 1` of a tail that belong to the answer, in pieces where that
   * takes long; absent where accepted points never do.
   */
  accepted?(
    wanted: Wanted,
    tail: Tail,
    from: TailRow,
    to: TailRow,
  ): Int32Array | Pieces<Int32Array>;
  /**
   * Whether the address names this state of the data, so that it will never have another answer;
   * absent where no address does. `name` is the {@link nameOfState} of what is served.
   */
  lasts?(wanted: Wanted, name: string): boolean;
  /**
   * Looks it up, at once or later, in a generation and the points that were accepted since. Throws
   * NotFound where there is nothing.
   */
  find(
    wanted: Wanted,
    asked: Asked,
    generation: Generation,
    additions: TailMatches | undefined,
  ): Page | Later<Page>;
}

/** Makes the handler of a view's GET and HEAD. */
export type Pipeline = <Wanted>(view: View<Wanted>) => RouteHandlerMethod;

/**
 * Makes the one way from a request to its answer: origin, answer cache, parameters, format,
 * validators, page, delivery. All views of a thread share an answer cache and a delivery.
 */
export function createPipeline(context: Context): Pipeline {
  const { current, stats, tokens } = context;
  const originOf = createOriginOf(context.origin);
  const codingOf = context.compress ? createCodingOf() : undefined;
  const answers = createAnswerCache(context.answerCacheBytes);
  const doInPieces = createPieceWork(context.pace);
  const deliver = createDelivery(context, answers, doInPieces);
  const seedOf = createSeedOf(context);

  return function serve(view) {
    const { formats, isPersonal } = view;
    const sender = createSender(context, view);
    const negotiation = createNegotiation(formats);

    /** Answers from the cache, and says whether it could. */
    function sendKept(
      { lineage }: Generation,
      state: TailState | undefined,
      key: AnswerKey,
      request: FastifyRequest,
      reply: FastifyReply,
    ): boolean {
      const kept = answers.get(lineage, key);
      const coverage = kept && state && kept.coverage;
      if (kept === undefined || (coverage && !isCovered(coverage, state!))) return false;
      stats.cacheHits++;
      const renew =
        coverage && renewerOf(kept, coverage.accepted, coverage.last - state!.tail.offset, state!);
      if (!sender.sendByConditions(request, reply, [kept], true, renew)) {
        sender.send(request, reply, kept, undefined, true);
      }
      return true;
    }

    return function handle(request: FastifyRequest, reply: FastifyReply): void {
      const { raw } = request;
      const target = raw.url!;
      const { accept, authorization } = raw.headers;
      const { generation } = current;
      const state = stateOf(generation);
      const origin = originOf(raw);
      const coding = codingOf?.(raw.headers['accept-encoding']);
      const hash = hashText(target, seedOf(origin));
      const { lineage } = generation;
      const key = isPersonal ? undefined : answerKey(hash, origin, target, accept, coding);
      if (key !== undefined) {
        if (sendKept(generation, state, key, request, reply)) return;
        stats.cacheMisses++;
      }

      const pairs = parseQueryString(queryOf(target));
      const named = negotiation.named(last(pairs, 'format'));
      const user = isPersonal ? userOf(authorization, tokens) : undefined;
      const path = request.params as Readonly<Record<string, string>>;
      const asked: Asked = { origin, pairs, path, user };
      const wanted = view.read(asked);
      const format = named ?? negotiation.accepted(accept);
      const name = user === undefined ? spellHash(hash) : `${spellHash(hash)}-${user}`;
      const accepted = state && acceptedOf(view, wanted);
      const looking = accepted && additionsTo(accepted, state!);
      if (!isPieces(looking)) {
        answer(looking);
        return;
      }
      const { done, value } = looking.next();
      if (done) answer(value);
      else doInPieces(looking, waiterOf({ request, reply }, answer));

      function answer(additions: TailMatches | undefined): void {
        const last = accepted && lastOf(state!, additions);
        const mark = accepted && markOf(state!, last!);
        const lasts = view.lasts?.(wanted, nameOfState(generation, state?.length ?? 0));
        const plain = sender.head(generation, format, name, mark, lasts);
        const heads = coding === undefined ? [plain] : [codedHead(plain, coding), plain];
        const renew = accepted && renewerOf(heads[0]!, accepted, last!, state!);
        if (sender.sendByConditions(request, reply, heads, false, renew)) return;

        const keptAs = key !== undefined && answers.wants(key) ? key : undefined;
        const coverage =
          keptAs && coverageOf(generation, state, last, accepted ?? acceptedOf(view, wanted));
        const job = { request, reply, sender, heads, lineage, coverage, renew, key: keptAs };
        const found = view.find(wanted, asked, generation, additions);
        if (found instanceof Later) found.start(waiterOf(job, (page) => deliver(page, job)));
        else deliver(found, job);
      }
    };
  };
}

/** Whether accepted points have yet to be looked for. */
function isPieces<Result>(looking: Result | Pieces<Result>): looking is Pieces<Result> {
  return typeof (looking as Pieces<Result> | undefined)?.next === 'function';
}

/** The tail of a generation as it is now; undefined where nothing was accepted. */
function stateOf({ tail }: Generation): TailState | undefined {
  const length = tail === undefined ? 0 : tailLength(tail);
  return length === 0 ? undefined : { tail: tail!, length };
}

/** What an answer that is to be kept covers; undefined where accepted points never belong to it. */
function coverageOf(
  { tail }: Generation,
  state: TailState | undefined,
  last: TailRow = -1,
  accepted: Accepted | undefined,
): Coverage | undefined {
  if (tail === undefined || accepted === undefined) return undefined;
  const seen = state === undefined ? 0 : tail.offset + state.length;
  return { accepted, seen, last: tail.offset + last };
}

function acceptedOf<Wanted>(view: View<Wanted>, wanted: Wanted): Accepted | undefined {
  return view.accepted && ((tail, from, to) => view.accepted!(wanted, tail, from, to));
}

function renewerOf(
  { snapshot }: AnswerHead,
  accepted: Accepted,
  last: TailRow,
  state: TailState,
): Renew {
  return (header) => renewNames(header, snapshot, accepted, last, state);
}

/**
 * Makes the reader of what the hash of an address begins with: the hash of all that decides about
 * answers besides the target, which is the origin of links and the settings.
 */
function createSeedOf(context: Context): (origin: string) => Hash {
  const settings = hashSettings(decidingSettings(context));
  let lastOrigin = '';
  let seed = settings;
  return (origin) => {
    if (origin !== lastOrigin) {
      seed = hashText(origin, settings);
      lastOrigin = origin;
    }
    return seed;
  };
}

/**
 * What decides about the answers of this service besides the snapshot and the address, and so
 * whether a client's copy is still good. Another version may render the same page otherwise.
 */
function decidingSettings({ zone, origin, maxPageBytes }: Context): object {
  const { publicUrl, trustProxy } = origin;
  const zoneRules = process.versions['tz'];
  const settings = { publicUrl, trustProxy, maxPageBytes };
  return { ...settings, zone: zone.name, zoneRules, version: version() };
}
