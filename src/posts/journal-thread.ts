import { parentPort, workerData } from 'node:worker_threads';
import type { NewPost, PostKey } from './journal.js';
import { Store } from './store.js';
import { StoreError, type StoreFault } from './store-error.js';

// entry of the thread that has a journal's file; it ends by itself once the journal is closed

/** What the thread begins with. */
export interface JournalStart {
  readonly path: string;
  readonly anyFileSystem: boolean;
}

/** Posts by column: as objects they would take five times as long to be sent. */
export interface Batch {
  readonly ids: readonly number[];
  readonly times: readonly number[];
  readonly records: readonly string[];
  /** Undefined where no post has one. */
  readonly keys: readonly (PostKey | undefined)[] | undefined;
}

type Method = 'read' | 'find' | 'move' | 'prune' | 'look' | 'close';

/** What the thread is asked: to open the store, or to call one of its methods. */
export type Question =
  | readonly ['open']
  | readonly ['append', Batch]
  | { readonly [M in Method]: readonly [M, ...Parameters<Store[M]>] }[Method];

/** What the journal is after a question was answered. */
export type StoreState = Store['head'] & Pick<Store, 'posts' | 'keptAfter' | 'bytes'>;

/** What the thread says: the answer to a question by its number, or why the file was written anew. */
export type Reply =
  | { readonly number: number; readonly value: unknown; readonly state: StoreState | undefined }
  | { readonly number: number; readonly fault: StoreFault; readonly reason: string }
  | { readonly anew: string };

const { path, anyFileSystem } = workerData as JournalStart;
const port = parentPort!;
const tell = (reply: Reply): void => port.postMessage(reply);
let store: Store | undefined;

function work([method, ...given]: Question): unknown {
  if (method === 'open') {
    store = new Store(path, { anyFileSystem, onAnew: (reason) => tell({ anew: reason }) });
    return undefined;
  }
  if (store === undefined) {
    if (method === 'close') return undefined;
    throw new StoreError('failing', 'it is not open');
  }
  if (method === 'append') return store.append(unpack(given[0] as Batch));
  return (store[method] as (...all: readonly unknown[]) => unknown).apply(store, given);
}

function unpack({ ids, times, records, keys }: Batch): readonly NewPost[] {
  return ids.map((id, i) => {
    return { id, createdAt: times[i]!, record: records[i]!, key: keys?.[i] };
  });
}

function stateOf({ head, posts, keptAfter, bytes }: Store): StoreState {
  return { ...head, posts, keptAfter, bytes };
}

port.on('message', ([number, question]: readonly [number, Question]) => {
  try {
    const value = work(question);
    tell({ number, value, state: store && stateOf(store) });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    tell({ number, fault: error.fault, reason: error.message });
  }
  if (question[0] === 'close') port.close();
});
