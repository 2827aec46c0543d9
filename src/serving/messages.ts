import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { GenerationParts } from '../live/generation.js';
import type { Stale } from '../live/reload.js';
import type { ServeSettings } from '../settings.js';
import type { ConnectionCounts } from './connections.js';

/** The metrics of one thread, as they travel. */
export type MetricsJson = readonly object[];

/** What a thread that serves begins with. */
export interface ThreadStart {
  readonly settings: ServeSettings;
  /** From 1; the main thread is 0. */
  readonly thread: number;
  readonly counts: ConnectionCounts;
  /** The listening socket that is this thread's own. */
  readonly fd: number;
}

/** What the main thread says to one that serves; `reply` takes the answer. */
export type ToThread =
  | { readonly kind: 'serve'; readonly parts: GenerationParts; readonly reply: MessagePort }
  | { readonly kind: 'stale'; readonly stale: Stale | undefined }
  | { readonly kind: 'metrics'; readonly reply: MessagePort }
  | { readonly kind: 'close' };

/** What a thread that serves says to the main one. */
export type ToMain =
  | { readonly kind: 'reload'; readonly accept: boolean; readonly reply: MessagePort }
  | { readonly kind: 'metrics'; readonly reply: MessagePort };

/** Whatever takes messages: a thread, or the port to its parent. */
interface Receiver<Message> {
  postMessage(message: Message, transfer: MessagePort[]): void;
}

/** Sends a question and resolves with what comes back through its `reply`. */
export function ask<Message, Answer>(
  receiver: Receiver<Message>,
  question: (reply: MessagePort) => Message,
): Promise<Answer> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.once('message', (answer: Answer) => {
      port1.close();
      resolve(answer);
    });
    receiver.postMessage(question(port2), [port2]);
  });
}
