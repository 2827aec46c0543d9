import { parentPort } from 'node:worker_threads';
import { Calls } from '../model/calls.js';
import type { Move, NewPost } from './journal.js';
import type { OfJournal, OfStore, Told } from './sqlite-journal.js';
import { Store } from './store.js';

// entry of the thread that has a journal's file; it ends by itself once the journal is closed

let store: Store | undefined;
const main: Calls<OfJournal> = new Calls(parentPort!, {
  open(path: string, anyFileSystem: boolean) {
    store = new Store(path, anyFileSystem, (reason) => main.tell('anew', reason));
    return told(undefined);
  },
  append: (posts: readonly NewPost[]) => told(store!.append(posts)),
  read: (after: number, limit: number) => told(store!.read(after, limit)),
  find: (key: string) => told(store!.find(key)),
  move: (moves: readonly Move[]) => told(store!.move(moves)),
  prune: (sequences: readonly number[]) => told(store!.prune(sequences)),
  look: (isFailing?: boolean) => told(store!.look(isFailing)),
  close() {
    // nothing more is asked
    parentPort!.unref();
    store?.close();
  },
} satisfies OfStore);

function told<T>(value: T): Told<T> {
  return { value, state: store!.state };
}
