import { parentPort, workerData } from 'node:worker_threads';
import { createMake, type Make } from '../http/answer/making.js';
import { answerInLane, memoryOf } from '../http/answer/slow-lane.js';
import { createViews } from '../http/routes/resources.js';
import { createGeneration, type Generation } from '../live/generation.js';
import { stepBack } from '../live/priority.js';
import { reclaimMemory } from '../live/reclaim.js';
import type { LaneStart, ToLane } from './lanes.js';
import { siteOf } from './site.js';
import { openZone } from './zone.js';

// entry of a thread of the slow lane: it works on one question after the other, each to its end

/** Beside threads that never rest, one gets a quarter of a core: nice value 5 weighs a third of 0. */
const LANE_PRIORITY = 5;

const { settings, posts } = workerData as LaneStart;
const main = parentPort!;
stepBack(LANE_PRIORITY);
const { media: mediaFolder, compress, corsOrigin, maxPageBytes } = settings;
const views = createViews({
  zone: await openZone(settings.timeZone),
  site: siteOf(settings, posts),
  mediaFolder,
  posting: posts ? {} : undefined,
});
const makes = new Map<string, Make>();
for (const [name, view] of views) {
  makes.set(name, createMake({ compress, corsOrigin, maxPageBytes }, view));
}
let generation: Generation;

main.on('message', (message: ToLane) => {
  if (message.kind === 'serve') {
    generation = createGeneration(message.parts);
    reclaimMemory();
    return;
  }
  const { question } = message;
  const answer = answerInLane(makes.get(question.view)!, question, generation);
  main.postMessage(answer, memoryOf(answer));
});
