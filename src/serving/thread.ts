import { parentPort, workerData } from 'node:worker_threads';
import { createGeneration, type Generation, type GenerationParts } from '../live/generation.js';
import { reclaimMemory } from '../live/reload/reclaim.js';
import type { Stale } from '../live/reload/reload.js';
import { createLogger } from './logger.js';
import { answer, ask, type ThreadStart, type ToMain, type ToThread } from './messages.js';
import { createWeb } from './web.js';

// entry of a thread that serves: it answers requests from the points that the main thread shares with it

/** Threads collect garbage one after the other, so that the others have the cores. */
const COLLECT_STEP_MS = 250;

const start = workerData as ThreadStart;
const main = parentPort!;
const logger = createLogger(start.settings.logLevel);
let generation: Generation | undefined;
let stale: Stale | undefined;

const web = await createWeb(
  start,
  {
    current: {
      get generation() {
        return generation!;
      },
    },
    get stale() {
      return stale;
    },
    async reload(accept) {
      stale = await ask(main, (reply): ToMain => ({ kind: 'reload', accept, reply }));
    },
    metrics: () => ask(main, (reply): ToMain => ({ kind: 'metrics', reply })),
  },
  logger,
);

/** Answers from these points from now on. */
async function take(parts: GenerationParts): Promise<true> {
  const isFirst = generation === undefined;
  generation = createGeneration(parts);
  if (isFirst) await web.listen({ fd: start.fd });
  // later: for now there are references to the old generation
  else setTimeout(reclaimMemory, start.thread * COLLECT_STEP_MS).unref();
  return true;
}

main.on('message', async (message: ToThread) => {
  switch (message.kind) {
    case 'serve':
      return answer(message.reply, () => take(message.parts));
    case 'stale':
      ({ stale } = message);
      return;
    case 'metrics':
      return answer(message.reply, () => web.registry.getMetricsAsJSON());
    case 'close':
      await web.close();
      process.exit(0);
  }
});
