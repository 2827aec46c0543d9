import { parentPort, workerData } from 'node:worker_threads';
import { createMake, type ExportPiece, type LanePage, type Make } from '../http/answer/question.js';
import { answerInLane, LaneExports } from '../http/answer/slow-lane.js';
import { createSite } from '../http/pages/site.js';
import { createViews } from '../http/routes/resources.js';
import { Calls } from '../model/calls.js';
import { expectTransfers } from '../model/memory.js';
import { openTimeZone } from '../model/time-zone.js';
import { reclaimMemory, stepBack } from '../reload/background.js';
import { createGeneration, type Generation } from '../reload/current.js';
import type { LaneStart, OfLane } from './lanes.js';

// entry of a thread of the slow lane: it works on one question after the other, each to its end

/** A nice value: beside a busy thread of value 0, one of 5 gets a quarter of a core. */
const LANE_PRIORITY = 5;

const { settings, posts } = workerData as LaneStart;
stepBack(LANE_PRIORITY);
expectTransfers();
const views = createViews({
  maxPageBytes: settings.maxPageBytes,
  zone: await openTimeZone(settings.timeZone),
  site: createSite(settings, posts),
});
const makes = new Map<string, Make>();
for (const [name, view] of views) makes.set(name, createMake(settings, view));
const exports = new LaneExports();
let generation: Generation;
const ours: OfLane = {
  serve(parts) {
    generation = createGeneration(parts);
    reclaimMemory();
  },
  ask: async (question) => answerInLane(makes.get(question.view)!, question, generation),
  step: (step) => exports.step(step, generation),
  drop: (number) => exports.drop(number, generation),
};
new Calls(parentPort!, ours, (_name, answer: LanePage | ExportPiece) => [answer.body]);
