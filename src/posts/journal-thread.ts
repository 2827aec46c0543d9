import { parentPort, workerData } from 'node:worker_threads';
import { type NewPost, type Post, StoreError, type StoreFault } from './journal.js';
import { Store } from './store.js';

// entry of the thread that has a journal's file; it ends by itself once the journal is closed

/** What the thread begins with. */
export interface JournalStart {
  readonly path: string;
  readonly anyFileSystem: boolean;
}

/** What the thread is asked, by the number of the question. */
export type Question =
  | { readonly kind: 'open' | 'look' | 'probe' | 'close' }
  | { readonly kind: 'append'; readonly posts: readonly NewPost[] }
  | { readonly kind: 'read'; readonly after: number; readonly limit: number }
  | { readonly kind: 'find'; readonly key: string }
  | { readonly kind: 'move'; readonly ids: ReadonlyMap<number, number> }
  | { readonly kind: 'prune'; readonly sequences: readonly number[] };

/** What the journal is after a question was answered. */
export interface StoreState {
  readonly name: string;
  readonly lastSequence: number;
  readonly nextId: number;
  readonly lastTime: number;
  readonly posts: number;
  readonly bytes: number;
}

/** What the thread says. */
export type Reply =
  | {
      readonly kind: 'answer';
      readonly number: number;
      readonly value: unknown;
      readonly state: StoreState | undefined;
    }
  | {
      readonly kind: 'error';
      readonly number: number;
      readonly fault: StoreFault;
      readonly reason: string;
    }
  /** The file was written anew. */
  | { readonly kind: 'anew'; readonly reason: string };

const { path, anyFileSystem } = workerData as JournalStart;
const port = parentPort!;
let store: Store | undefined;

function work(question: Question): unknown {
  if (question.kind === 'open') {
    store = new Store(path, {
      anyFileSystem,
      onAnew: (reason) => port.postMessage({ kind: 'anew', reason } satisfies Reply),
    });
    return undefined;
  }
  if (store === undefined) {
    if (question.kind === 'close') return undefined;
    throw new StoreError('failing', 'it is not open');
  }
  switch (question.kind) {
    case 'append':
      return store.append(question.posts);
    case 'read':
      return store.read(question.after, question.limit) satisfies readonly Post[];
    case 'find':
      return store.find(question.key);
    case 'move':
      return store.move(question.ids);
    case 'prune':
      return store.prune(question.sequences);
    default:
      return store[question.kind]();
  }
}

function stateOf({ head, posts, bytes }: Store): StoreState {
  return { ...head, posts, bytes };
}

port.on('message', ([number, question]: readonly [number, Question]) => {
  try {
    const value = work(question);
    const state = store && stateOf(store);
    port.postMessage({ kind: 'answer', number, value, state } satisfies Reply);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { fault, message: reason } = error;
    port.postMessage({ kind: 'error', number, fault, reason } satisfies Reply);
  }
  if (question.kind === 'close') port.close();
});
