import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { sumOf } from '../http/metrics.js';
import type { Service } from '../http/operations.js';
import { Calls } from '../model/calls.js';
import { followTokens } from '../posts/tokens/file.js';
import { reclaimMemory } from '../reload/background.js';
import { Cell, createGeneration, type GenerationParts } from '../reload/current.js';
import { Log } from './log.js';
import type { OfThread, ThreadStart } from './threads.js';
import { createWeb } from './web.js';

// entry of a thread that answers requests from the points that the main thread shares

/** Threads collect garbage one after the other, so that the others have the cores. */
const COLLECT_STEP_MS = 250;

/** How long the main thread may take to tell all metrics: it waits for those of other threads. */
const PATIENCE_MS = 2_000;

const start = workerData as ThreadStart;
const log = new Log(start.settings, start.logDescriptor);
const current = new Cell();
const main: Calls<Service> = new Calls(parentPort!, {
  serve,
  hear: (change) => current.tell(change),
  metrics: async () => (await web).metrics(),
  async close() {
    isClosing = true;
    // an open socket, which the supervisor's process shares, takes connections that nobody answers
    if (!isListening) createServer().listen({ fd: start.fd }).close();
    await (await web).close();
    process.exit(0);
  },
} satisfies OfThread);
const call =
  <Name extends keyof Service>(name: Name) =>
  (...given: Parameters<Service[Name]>) =>
    main.call(name, ...given);
const service: Service = {
  ...{ reload: call('reload'), post: call('post'), state: call('state'), read: call('read') },
  ...{ ask: call('ask'), step: call('step') },
  async metrics() {
    const patience = delay(PATIENCE_MS, undefined, { ref: false });
    const told = await Promise.race([main.call('metrics'), patience]);
    return told ?? sumOf([await (await web).metrics()]);
  },
};
// the main thread logs what becomes of the file, which may be broken by now
const tokens = followTokens(start.settings.tokens, { known: start.tokens.table });
const web = createWeb({ ...start, tokens }, current, service, log);

let isFirst = true;
let isListening = false;
let isClosing = false;

async function serve(parts: GenerationParts): Promise<void> {
  const isBeginning = isFirst;
  // the next generation may come in the same turn
  isFirst = false;
  await current.publish(createGeneration(parts));
  if (isBeginning) {
    const { warmUp, listen } = await web;
    await warmUp(current.generation.engine.dataset);
    if (isClosing) return;
    isListening = true;
    await listen({ fd: start.fd });
  }
  // later: for now there are references to the old generation
  else setTimeout(reclaimMemory, start.thread * COLLECT_STEP_MS).unref();
}
