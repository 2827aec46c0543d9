import type { BlockGroup, BoxNode } from '../../index/blocks.js';
import type { Dataset } from '../../index/dataset.js';
import type { Budget } from '../../model/budget.js';
import { INSIDE, OUTSIDE, type Region } from '../region/overlap.js';
import { REGION_TEST } from './plan.js';
import type { Runs } from './runs.js';

/** Nanoseconds that a look at a box takes, on average. */
const LOOK = 30;

/** Whole nodes and blocks where they lie inside, single points at the border of the region. */
export function findRuns(dataset: Dataset, region: Region, runs: Runs, budget: Budget): Runs {
  runs.clear();
  const { coords, blocks, boxIndex } = dataset;
  const { starts, boxes } = blocks;
  const { west, south, east, north } = region.frame;
  let work = 0;
  visit(boxIndex.root);
  return runs;

  function visit(node: BoxNode): void {
    for (const child of node.children) {
      const overlap = region.overlap(boxIndex.boxes, child.box);
      if (overlap === INSIDE) runs.add(child.from, child.to);
      else if (overlap !== OUTSIDE) {
        if (node.leaf) testBlocks(child);
        else visit(child as BoxNode);
      }
    }
  }

  function testBlocks({ firstBlock, lastBlock: last }: BlockGroup): void {
    // what a closure holds is loaded anew for every block
    const [left, bottom, right, top] = [west, south, east, north];
    const [all, most] = [boxes, budget.stretch];
    // what is decided without a test of points takes work, too
    let cost = (last - firstBlock) * LOOK;
    for (let block = firstBlock; block < last; block++) {
      const at = 4 * block;
      // most blocks lie nowhere near: four comparisons tell
      if (all[at]! > right || all[at + 2]! < left) continue;
      if (all[at + 1]! > top || all[at + 3]! < bottom) continue;
      cost += testBlock(at);
      if (cost > most) {
        budget.charge(cost);
        cost = 0;
      }
    }
    budget.charge(cost + workSince());
  }

  /** Adds what the region holds of the block whose box is at `at`; returns what that cost. */
  function testBlock(at: number): number {
    const overlap = region.overlap(boxes, at);
    if (overlap === OUTSIDE) return 0;
    const from = starts[at / 4]!;
    const to = starts[at / 4 + 1]!;
    if (overlap === INSIDE) {
      runs.add(from, to);
      return 0;
    }
    budget.looks += to - from;
    runs.addWithin(region, coords, from, to, boxes, at);
    return (to - from) * REGION_TEST + workSince();
  }

  /** What the region has worked since the last call. */
  function workSince(): number {
    const before = work;
    work = region.work();
    return work - before;
  }
}
