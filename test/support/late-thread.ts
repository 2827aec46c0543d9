import type { ServeSettings } from '../../src/cli/settings/values.js';
import { sharedArray } from '../../src/model/memory.js';
import { createBuilder } from '../../src/reload/build.js';
import { createGeneration } from '../../src/reload/current.js';
import { startThreads } from '../../src/serving/threads.js';
import { FIXTURE_POINTS } from './service.js';

// A process with a main thread and one serving thread, which listens on the socket that the
// process is given, if any. Reports to its parent.

/** The settings that a thread reads. */
const settings = {
  ...{ allowedHosts: ['*'], corsOrigin: [], timeZone: 'UTC', logLevel: 'silent', workers: 2 },
  ...{ answerCache: 0, maxHeaderSize: 1_000, maxConnections: 9, maxLoopDelay: 0 },
  ...{ requestTimeout: 1_000, uploadTimeout: 1_000, answerTimeout: 1_000, maxUnsent: 1_000 },
  shutdownTimeout: 0,
} as unknown as ServeSettings;

const never = (): never => {
  throw new Error('nobody asks for it');
};
const tell = (what: string): void => void process.send!(what);
const stats = { behind: 0 };
const [counts, streams] = [sharedArray(Int32Array, 2), sharedArray(Int32Array, 1)];
const threads = startThreads(
  { settings, counts, streams, tokens: { table: new Map() }, logDescriptor: 1 },
  process.argv.slice(2).map(Number),
  {
    ...{ reload: never, metrics: async () => '', post: never },
    ...{ state: never, read: never, ask: never, step: never },
  },
  stats,
  (error) => tell(`died: ${error}`),
);
const task = { path: FIXTURE_POINTS };
const parts = await createBuilder({ maxInvalid: 0 })(task);
if (parts === 'unchanged') throw new Error('nothing was built');
const serving = threads.serve(createGeneration(parts));
tell(`behind: ${stats.behind}`);
await serving;
tell(`behind: ${stats.behind}`);
await threads.close();
process.disconnect();
