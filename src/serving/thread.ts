import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { createGeneration, type Generation } from '../live/generation.js';
import { reclaimMemory } from '../live/reclaim.js';
import type { Stale } from '../live/reload.js';
import { ask, type ThreadStart, type ToMain, type ToThread } from './messages.js';
import { createWeb } from './web.js';

// entry of a thread that serves: it answers requests from the points that the main thread shares with it

const { settings, thread, counts, fd } = workerData as ThreadStart;
const main = parentPort!;
const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 1, sync: true }));
let generation: Generation | undefined;
let stale: Stale | undefined;

const web = await createWeb(
  settings,
  thread,
  counts,
  {
    current: {
      get generation() {
        return generation!;
      },
    },
    get stale() {
      return stale;
    },
    reload: (accept) => ask<ToMain, void>(main, (reply) => ({ kind: 'reload', accept, reply })),
    metrics: () => ask<ToMain, string>(main, (reply) => ({ kind: 'metrics', reply })),
  },
  logger,
);

main.on('message', async (message: ToThread) => {
  switch (message.kind) {
    case 'serve': {
      const isFirst = generation === undefined;
      generation = createGeneration(message.parts);
      if (isFirst) await web.listen({ fd });
      message.reply.postMessage(undefined);
      // later: for now this call refers to what the old generation was made of
      if (!isFirst) setImmediate(reclaimMemory);
      return;
    }
    case 'stale':
      ({ stale } = message);
      return;
    case 'metrics':
      message.reply.postMessage(await web.registry.getMetricsAsJSON());
      return;
    case 'close':
      await web.close();
      process.exit(0);
  }
});
