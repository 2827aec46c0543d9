import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { LaneAnswer } from '../http/answer/question.js';
import { sumOf } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import type { JournalState, Post } from '../posts/journal.js';
import { reclaimMemory } from '../reload/background.js';
import { Cell } from '../reload/current.js';
import { createGeneration, type GenerationParts } from '../reload/generation.js';
import { createLog } from './log.js';
import {
  answer,
  ask,
  createPostRelay,
  type Reloaded,
  type ThreadStart,
  type ToMain,
  type ToThread,
} from './messages.js';
import { createWeb } from './web.js';

// entry of a thread that serves: it answers requests from the points that the main thread shares
// with it

/** Threads collect garbage one after the other, so that the others have the cores. */
const COLLECT_STEP_MS = 250;

/** What the main thread may take to tell all metrics, some of which it waits for itself. */
const PATIENCE_MS = 2_000;

const start = workerData as ThreadStart;
const main = parentPort!;
const log = createLog(start.settings, start.logDescriptor);
const current = new Cell();
const relay = createPostRelay((posts) => {
  main.postMessage({ kind: 'posts', posts } satisfies ToMain);
});
const service: Service = {
  current,
  async reload(accept, isAwaited) {
    const { waiting, standing } = await ask<ToMain, Reloaded>(main, (reply) => {
      return { kind: 'reload', accept, isAwaited, reply };
    });
    current.tell(standing);
    return waiting;
  },
  posts: start.throttles === undefined ? undefined : relay,
  slowLane: {
    ask: (question) =>
      ask<ToMain, LaneAnswer>(main, (reply) => ({ kind: 'question', question, reply })),
  },
  journal: start.throttles && {
    state: () => ask<ToMain, JournalState>(main, (reply) => ({ kind: 'journal', reply })),
    read: (after, limit) => {
      return ask<ToMain, readonly Post[]>(main, (reply) => ({ kind: 'read', after, limit, reply }));
    },
  },
  metrics: () =>
    Promise.race([
      ask<ToMain, string>(main, (reply) => ({ kind: 'metrics', reply })),
      delay(PATIENCE_MS, undefined, { ref: false }).then(async () => sumOf([await web.metrics()])),
    ]),
};
const web = await createWeb(start, service, log);

main.on('message', async (message: ToThread) => {
  switch (message.kind) {
    case 'serve':
      return answer(message.reply, () => serve(message.parts));
    case 'standing':
      return current.tell(message.standing);
    case 'posted':
      return relay.settle(message.replies);
    case 'tokens':
      start.tokens.table = message.table;
      return;
    case 'metrics':
      return answer(message.reply, () => web.metrics());
    case 'close':
      await web.close();
      process.exit(0);
  }
});

/** Answers from these points from now on. */
async function serve(parts: GenerationParts): Promise<true> {
  const isFirst = current.isEmpty;
  await current.publish(createGeneration(parts));
  if (isFirst) {
    await web.warmUp(current.generation.engine.dataset);
    await web.listen(start.fds.map((fd) => ({ fd })));
  }
  // later, since for now there are references to the old generation
  else setTimeout(reclaimMemory, start.thread * COLLECT_STEP_MS).unref();
  return true;
}
