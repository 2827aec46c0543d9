import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { LaneAnswer, LaneQuestion } from '../http/answer/question.js';
import type { ThrottleMemory } from '../http/request/throttle.js';
import type { Standing } from '../live/current.js';
import type { GenerationParts } from '../live/generation.js';
import type { Waiting } from '../live/reload/reload.js';
import type { ServeSettings } from '../settings/setting.js';
import type { TokenTable } from '../tokens/table.js';
import type { ConnectionCounts } from './connections.js';
import {
  type Answer,
  answerOf,
  type RelayedPost,
  type RelayedReply,
  settleBy,
} from './post-relay.js';

/** What all threads share to count posts. */
export interface Throttles {
  readonly byAddress: ThrottleMemory;
  readonly byToken: ThrottleMemory;
}

/** What a thread that serves begins with. */
export interface ThreadStart {
  readonly settings: ServeSettings;
  /** From 1; the main thread is 0. */
  readonly thread: number;
  readonly counts: ConnectionCounts;
  /** As the main thread read them; each thread replaces the table when that reads another one. */
  readonly tokens: { table: TokenTable };
  /**
   * Where all threads count posts, by address and by user; undefined where points are only read.
   */
  readonly throttles?: Throttles | undefined;
  /** Where log lines go. */
  readonly logDescriptor: number;
  /** The listening sockets that are this thread's own, one an address. */
  readonly fds: readonly number[];
}

/** What the main thread says to one that serves; `reply` takes the answer. */
export type ToThread =
  | { readonly kind: 'serve'; readonly parts: GenerationParts; readonly reply: MessagePort }
  | { readonly kind: 'standing'; readonly standing: Standing }
  | { readonly kind: 'tokens'; readonly table: TokenTable }
  | { readonly kind: 'posted'; readonly replies: readonly RelayedReply[] }
  | { readonly kind: 'made'; readonly number: number; readonly answer: LaneAnswer }
  | { readonly kind: 'metrics'; readonly reply: MessagePort }
  | { readonly kind: 'close' };

/** What a thread that serves says to the main one. */
export type ToMain =
  | {
      readonly kind: 'reload';
      readonly accept: boolean;
      readonly isAwaited: boolean;
      readonly reply: MessagePort;
    }
  | { readonly kind: 'posts'; readonly posts: readonly RelayedPost[] }
  | { readonly kind: 'question'; readonly number: number; readonly question: LaneQuestion }
  | { readonly kind: 'journal'; readonly reply: MessagePort }
  | { readonly kind: 'read'; readonly after: number; readonly reply: MessagePort }
  | { readonly kind: 'metrics'; readonly reply: MessagePort };

/**
 * The answer to `reload`: what there is to wait for, and the standing, which the next `standing`
 * message would bring too late.
 */
export interface Reloaded {
  readonly waiting: Waiting | undefined;
  readonly standing: Standing;
}

/** Whatever takes messages: a thread, or the port to its parent. */
interface Receiver<Message> {
  postMessage(message: Message, transfer: MessagePort[]): void;
}

/**
 * Sends a question and resolves with its {@link answer}; rejects when there was an error instead.
 */
export function ask<Message, Value>(
  receiver: Receiver<Message>,
  question: (reply: MessagePort) => Message,
): Promise<Value> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve, reject) => {
    port1.once('message', (answer: Answer<Value>) => {
      port1.close();
      settleBy(answer, { resolve, reject });
    });
    receiver.postMessage(question(port2), [port2]);
  });
}

/** Answers a question with what `work` resolves to, or its error. */
export async function answer(reply: MessagePort, work: () => unknown): Promise<void> {
  reply.postMessage(await answerOf(work));
}
