import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { Hash } from '../../index/records.js';
import { AT_ONCE, Budget, EXCEEDED } from '../../model/budget.js';
import { version } from '../../model/quote.js';
import { identityOf } from '../../reload/current.js';
import { FRESH_MEMORY } from '../formats/representation.js';
import { clientOf } from '../request/client.js';
import { CODINGS, type Coding, createCodingOf, Negotiation } from '../request/negotiation.js';
import { parametersOf } from '../request/query-string.js';
import { AnswerCache, type AnswerKey, answerKey, Joins } from './answer-cache.js';
import type { Context } from './context.js';
import { createDelivery, createStages, type Delivery, type Job, type Send } from './delivery.js';
import type { AnswerHead } from './head.js';
import { type Asked, createMake, type PageQuestion, type Served, type View } from './question.js';
import { Sender } from './sender.js';
import { askSlowLane } from './slow-lane.js';
import { hashText, judge, spellHash } from './validators.js';

type Pipeline = <Wanted>(view: View<Wanted>) => RouteHandlerMethod;

interface Arrived extends Served {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly origin: string;
  readonly target: string;
  readonly coding: Coding | undefined;
  /** Of target and origin, and of what else decides about every answer. */
  readonly hash: Hash;
  /** What the answer may be kept under. */
  readonly key: AnswerKey | undefined;
}

/** All views of a thread share an answer cache, a delivery and its stages. */
export function createPipeline(context: Context): Pipeline {
  const { current, stats, originOf } = context;
  const codingOf = context.compress ? createCodingOf(CODINGS) : undefined;
  const answers = new AnswerCache(context.answerCacheBytes);
  const delivery = createDelivery(context, answers);
  const stage = createStages();
  const allow = createAllowance();
  const joins = new Joins();
  const seed = seedOf(context);

  return function serve(view) {
    const { formats, isPersonal } = view;
    const sender = new Sender(context, view.name);
    const make = createMake(context, view);
    const negotiation = new Negotiation(formats);
    return handle;

    function handle(request: FastifyRequest, reply: FastifyReply): void {
      const { raw } = request;
      const target = raw.url!;
      const { generation } = current;
      const state = generation.state();
      const origin = originOf(raw);
      const coding = codingOf?.(raw.headers['accept-encoding']);
      const hash = hashText(target, hashText(origin, seed));
      const key = isPersonal
        ? undefined
        : answerKey(hash, origin, target, raw.headers.accept, coding);
      const arrived = { request, reply, generation, state, origin, target, coding, hash, key };
      if (!sendKept(arrived)) stage(() => attempt(reply, () => answer(arrived)));
    }

    /** Sends the answer that is kept; returns false where there is none. */
    function sendKept({ reply, state, key }: Arrived): boolean {
      const kept = key && answers.get(state.name, key);
      if (kept === undefined) return false;
      stats.cacheHits++;
      if (!sender.sendKnown(reply, state, [kept])) sender.send(reply, kept, undefined, true);
      return true;
    }

    function answer(arrived: Arrived): Send | undefined {
      // another request of this turn may have had the answer made, or has it made now
      if (sendKept(arrived)) return undefined;
      const { request, reply, generation, state, origin, target, coding, hash } = arrived;
      if (arrived.key !== undefined) {
        const again = (): void => void attempt(reply, () => handle(request, reply));
        if (joins.join(arrived.key, again)) return undefined;
        stats.cacheMisses++;
      }
      const { raw } = request;
      const pairs = parametersOf(target);
      const format = negotiation.chosen(pairs, raw.headers.accept);
      const user = isPersonal ? request.user : undefined;
      const path = request.params as Readonly<Record<string, string>>;
      const asked: Asked = { origin, pairs, path, user };
      const wanted = view.read(asked);
      // first: a page that only another state had is no error of the client
      judge(raw.headers, state);
      const spelled = spellHash(hash);
      const name = user === undefined ? spelled : `${spelled}-${user}-`;
      const key = arrived.key && answers.wants(arrived.key) ? arrived.key : undefined;
      const onMade = key && joins.lead(key);
      const index = formats.indexOf(format);
      // named one by one: a spread costs a microsecond
      const question = { view: view.name, wanted, asked, target, coding, name, format: index };
      // a kept answer needs memory of its own
      const memory = key === undefined ? delivery.memory : FRESH_MEMORY;
      const job = { reply, sender, key, onMade, memory };
      try {
        const isKnown = (heads: readonly AnswerHead[]): boolean =>
          sender.sendKnown(reply, state, heads);
        const means = { budget: allow(), memory, isKnown };
        const made = make(question, { generation, state }, means);
        if (made !== undefined) return delivery.deliver(made, job);
        onMade?.();
        return undefined;
      } catch (error) {
        if (error !== EXCEEDED) {
          onMade?.();
          throw error;
        }
        const client = clientOf(raw, context.origin.trustProxy);
        const handed = { ...question, state, generation: identityOf(generation), client };
        void hand(handed, job, context, delivery);
        return undefined;
      }
    }
  };
}

/** Has the slow lane answer, and sends what it makes. */
async function hand(
  question: Omit<PageQuestion, 'ended'>,
  job: Job,
  { slowLane }: Context,
  { deliver }: Delivery,
): Promise<void> {
  const { reply, sender, onMade } = job;
  const { socket } = reply.request.raw;
  // others need not wait until the question of a client that has left has its turn
  if (onMade !== undefined) socket.once('close', onMade);
  try {
    const made = await askSlowLane(slowLane, question, socket);
    if (socket.destroyed || sender.sendKnown(reply, made.state, made.heads)) return onMade?.();
    deliver(made, { ...job, memory: FRESH_MEMORY })?.();
  } catch (error) {
    onMade?.();
    if (!socket.destroyed) void reply.send(error);
  } finally {
    if (onMade !== undefined) socket.off('close', onMade);
  }
}

/** Does what answers a request, or a part of it, and answers with the error that it throws. */
function attempt<Done>(reply: FastifyReply, act: () => Done): Done | undefined {
  if (reply.request.raw.socket.destroyed) return undefined;
  try {
    return act();
  } catch (error) {
    void reply.send(error);
    return undefined;
  }
}

/** The hash of settings and version, which decide about answers besides snapshot and address. */
export function seedOf({ zone, origin, maxPageBytes }: Context): Hash {
  const { publicUrl, trustProxy } = origin;
  const zoneRules = process.versions['tz'];
  const settings = { publicUrl, trustProxy, maxPageBytes };
  const all = { ...settings, zone: zone.name, zoneRules, version: version() };
  return hashText(JSON.stringify(all), { low: 0, high: 0 });
}

/** What the questions of one turn of the event loop may cost together, in nanoseconds. */
const TURN = 2 * AT_ONCE;
/** What each may cost in any case: twice what a small box or the nearest in a city do. */
const LEAST = AT_ONCE / 4;

/**
 * Makes the function that gives each question of a thread its budget. A hundred that arrive in one
 * turn of the event loop would hold it for a tenth of a second: when the turn's share is used up,
 * those that are not small go to the slow lane.
 */
export function createAllowance(): () => Budget {
  let left = TURN;
  let last: Budget | undefined;

  function renew(): void {
    left = TURN;
    last = undefined;
  }

  return () => {
    if (last === undefined) setImmediate(renew);
    else left -= last.spent;
    last = new Budget(Math.max(LEAST, Math.min(left, AT_ONCE)));
    return last;
  };
}
