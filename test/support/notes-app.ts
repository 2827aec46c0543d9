import { appendToDelta, createDelta } from '../../src/index/delta.js';
import { type OwnApp, startApp } from './app.js';
import { type Asked, ask, type Reply } from './client.js';
import { acceptedOf, generationOf } from './engine.js';
import type { Note } from './notes.js';

const CAPACITY = { rows: 1_000, bytes: 1_000_000 };

/** A web server in this process whose points are notes. */
export interface NotesApp extends OwnApp {
  /** Asks over a connection of its own. */
  get(path: string, asked?: Asked): Promise<Reply>;
  /** Lets some more notes be accepted. */
  accept(notes: readonly Note[]): void;
  /** Serves a new snapshot of these notes, and nothing that was accepted. */
  replace(notes: readonly Note[]): Promise<void>;
}

/** Starts a service of these notes, in any order of ids. */
export async function startNotes(notes: readonly Note[], answerCacheBytes = 0): Promise<NotesApp> {
  let delta = createDelta(CAPACITY);
  let accepted = 0;
  const current = { generation: await generationOf(notes, { digest: 'notes', delta }) };
  const app = await startApp(current, answerCacheBytes);
  return {
    ...app,
    get: (path, asked) =>
      ask(app.port, path, { ...asked, headers: { Connection: 'close', ...asked?.headers } }),
    accept(more) {
      appendToDelta(delta, acceptedOf(more, accepted + 1));
      accepted += more.length;
    },
    async replace(others) {
      delta = createDelta(CAPACITY);
      accepted = 0;
      current.generation = await generationOf(others, { digest: 'others', delta });
    },
  };
}
