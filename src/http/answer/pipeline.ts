import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Hash } from '../../dataset/content-hash.js';
import type { Generation, State } from '../../live/generation.js';
import { version } from '../../version.js';
import type { Format, Page, Pieces } from '../formats/format.js';
import { createNegotiation } from '../request/negotiation.js';
import { last, type Pair, parseQueryString } from '../request/query-string.js';
import { queryOf } from '../request/target.js';
import { answerKey, createAnswerCache } from './answer-cache.js';
import { createCodingOf } from './compression.js';
import { judge } from './conditions.js';
import type { Answering } from './context.js';
import { createDelivery, waiterOf } from './delivery.js';
import { hashSettings, hashText, spellHash } from './etag.js';
import type { Facts } from './head.js';
import { createJoins } from './joins.js';
import { createPieceWork, Later } from './pieces.js';
import { createSender } from './sender.js';

/** Part of every entity tag: raised when the same points are rendered into other bytes. */
const RENDERING = 1;

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
   * Whether the address names this state of the data, so that it will never have another answer;
   * absent where no address does.
   */
  lasts?(wanted: Wanted, name: string): boolean;
  /** Looks it up: at once, in pieces or later. Throws NotFound where there is nothing. */
  find(wanted: Wanted, asked: Asked, served: Served): Found | Pieces<Found>;
}

/** What was looked up, or will be. */
export type Found = Page | Later<Page>;

/** What a request is answered from, to its end. */
export interface Served {
  readonly generation: Generation;
  readonly state: State;
}

/** Makes the handler of a view's GET and HEAD. */
export type Pipeline = <Wanted>(view: View<Wanted>) => RouteHandlerMethod;

/**
 * Makes the one way from a request to its answer: origin, answer cache, parameters, format,
 * validators, page, delivery. All views of a thread share an answer cache and a delivery.
 */
export function createPipeline(answering: Answering): Pipeline {
  const { current, stats, originOf } = answering;
  const codingOf = answering.compress ? createCodingOf() : undefined;
  const answers = createAnswerCache(answering.answerCacheBytes);
  const doInPieces = createPieceWork(answering.pace);
  const deliver = createDelivery(answering, answers, doInPieces);
  const joins = createJoins();
  const seedOf = createSeedOf(answering);

  return function serve(view) {
    const { formats, isPersonal } = view;
    const sender = createSender(answering, view);
    const negotiation = createNegotiation(formats);

    function handleLater(request: FastifyRequest, reply: FastifyReply): void {
      if (request.raw.socket.destroyed) return;
      try {
        handle(request, reply);
      } catch (error) {
        void reply.send(error);
      }
    }

    return handle;

    function handle(request: FastifyRequest, reply: FastifyReply): void {
      const { raw } = request;
      const target = raw.url!;
      const { accept } = raw.headers;
      const { generation } = current;
      const state = generation.state();
      const origin = originOf(raw);
      const coding = codingOf?.(raw.headers['accept-encoding']);
      const hash = hashText(target, seedOf(origin));
      const key = isPersonal ? undefined : answerKey(hash, origin, target, accept, coding);
      if (key !== undefined) {
        const kept = answers.get(state.name, key);
        if (kept !== undefined) {
          stats.cacheHits++;
          if (sender.sendKnown(request, reply, state, [kept])) return;
          sender.send(request, reply, kept, undefined, true);
          return;
        }
        if (joins.join(key, () => handleLater(request, reply))) return;
        stats.cacheMisses++;
      }

      const pairs = parseQueryString(queryOf(target));
      const named = negotiation.named(last(pairs, 'format'));
      const user = isPersonal ? request.user : undefined;
      const path = request.params as Readonly<Record<string, string>>;
      const asked: Asked = { origin, pairs, path, user };
      const wanted = view.read(asked);
      const format = named ?? negotiation.accepted(accept);
      // a page that there is no more of another state is no error of the client's
      judge(raw.headers, state);
      const spelled = spellHash(hash);
      const name = user === undefined ? spelled : `${spelled}-${user}-`;
      const lasts = view.lasts?.(wanted, state.name) === true;
      const keptAs = key !== undefined && answers.wants(key) ? key : undefined;
      const onKept = keptAs && joins.lead(keptAs, reply.raw);
      const job = {
        request,
        reply,
        sender,
        format,
        coding,
        state,
        name,
        lasts,
        key: keptAs,
        onKept,
      };
      const finding = view.find(wanted, asked, { generation, state });
      if (!isPieces(finding)) {
        found(finding);
        return;
      }
      const { done, value } = finding.next();
      if (done) found(value);
      else doInPieces(finding, waiterOf(job, found));

      function found(page: Found): void {
        if (page instanceof Later) page.start(waiterOf(job, (one) => deliver(one, job)));
        else deliver(page, job);
      }
    }
  };
}

function isPieces(finding: Found | Pieces<Found>): finding is Pieces<Found> {
  return 'next' in finding;
}

/**
 * Makes the reader of what the hash of an address begins with: the hash of all that decides about
 * answers besides the target, which is the origin of links and the settings.
 */
function createSeedOf(answering: Answering): (origin: string) => Hash {
  const settings = hashSettings(decidingSettings(answering));
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
function decidingSettings({ zone, origin, maxPageBytes }: Answering): object {
  const { publicUrl, trustProxy } = origin;
  const zoneRules = process.versions['tz'];
  const settings = { publicUrl, trustProxy, maxPageBytes };
  return { ...settings, zone: zone.name, zoneRules, version: version(), RENDERING };
}
