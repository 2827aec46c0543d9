import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ServeSettings } from '../cli/settings/values.js';
import type { LaneQuestion } from '../http/answer/question.js';
import type { ThrottleMemory } from '../http/request/client.js';
import type { PostReply, PostRequest, Posts } from '../posts/posts.js';
import type { TokenTable } from '../posts/tokens/table.js';
import type { Standing } from '../reload/current.js';
import type { GenerationParts } from '../reload/generation.js';
import type { Waiting } from '../reload/reload.js';
import type { ConnectionCounts } from './connections.js';

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
  /** Streams of accepted points that are open on all threads: one number. */
  readonly streams: Int32Array;
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
  | { readonly kind: 'question'; readonly question: LaneQuestion; readonly reply: MessagePort }
  | { readonly kind: 'journal'; readonly reply: MessagePort }
  | {
      readonly kind: 'read';
      readonly after: number;
      readonly limit: number | undefined;
      readonly reply: MessagePort;
    }
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

/**
 * Answers a question with what `work` resolves to, or its error; `memoryOf` tells which of its memory
 * goes along.
 */
export async function answer<Value>(
  reply: MessagePort,
  work: () => Value | Promise<Value>,
  memoryOf: (value: Value) => ArrayBuffer[] = () => [],
): Promise<void> {
  const found = await answerOf(work);
  reply.postMessage(found, 'value' in found ? memoryOf(found.value) : []);
}

/** A post that another thread took, and the number by which that thread knows it. */
export type RelayedPost = readonly [number: number, request: PostRequest];

/** What became of a question. */
export type Answer<Value> = { readonly value: Value } | { readonly error: unknown };

/** The answer that `work` comes to: its value or its error. Never rejects. */
export async function answerOf<Value>(work: () => Value | Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** Settles a promise by an answer. */
export function settleBy<Value>(answer: Answer<Value>, { resolve, reject }: Settling<Value>): void {
  if ('error' in answer) reject(answer.error);
  else resolve(answer.value);
}

/** The functions of a promise that waits for an answer. */
interface Settling<Value> {
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** What became of a relayed post. */
export type RelayedReply = readonly [number: number, answer: Answer<PostReply>];

/** The end of a relay that takes posts and hands them on. */
interface PostRelay extends Posts {
  settle(replies: readonly RelayedReply[]): void;
}

/**
 * Makes the end of a thread that takes posts. `send` gets all posts of a turn of the event loop at
 * once: a message costs more than a post.
 */
export function createPostRelay(send: (posts: readonly RelayedPost[]) => void): PostRelay {
  const waiting = new Map<number, Settling<PostReply>>();
  let last = 0;
  const give = together(send, setImmediate);

  return {
    post(request) {
      return new Promise((resolve, reject) => {
        give([++last, request]);
        waiting.set(last, { resolve, reject });
      });
    },
    settle(replies) {
      for (const [number, answer] of replies) {
        settleBy(answer, waiting.get(number)!);
        waiting.delete(number);
      }
    },
  };
}

/**
 * Makes the end of the thread that accepts posts: what takes them. `send` gets the replies that are
 * there at the same time at once.
 */
export function createPostTaker(
  posts: Posts,
  send: (replies: readonly RelayedReply[]) => void,
): (relayed: readonly RelayedPost[]) => void {
  // it runs once all promises of a turn have settled
  const give = together(send, process.nextTick);

  async function take([number, request]: RelayedPost): Promise<void> {
    give([number, await answerOf(() => posts.post(request))]);
  }

  return (relayed) => {
    for (const one of relayed) void take(one);
  };
}

/** Makes a function that gathers items; `send` gets them at once when `later` runs. */
function together<Item>(
  send: (items: readonly Item[]) => void,
  later: (run: () => void) => void,
): (item: Item) => void {
  let waiting: Item[] = [];
  const flush = (): void => {
    const items = waiting;
    waiting = [];
    send(items);
  };
  return (item) => {
    if (waiting.length === 0) later(flush);
    waiting.push(item);
  };
}
