import type { BlockGroup, BoxNode } from '../dataset/box-index.js';
import type { Dataset } from '../dataset/dataset.js';
import { REGION_TEST } from './common/plan.js';
import type { Runs } from './common/runs.js';
import type { Meter, Step, Work } from './common/work.js';
import { INSIDE, OUTSIDE, type Region } from './region/overlap.js';

/**
 * Nanoseconds that a look at a box takes: the mean of boxes that four comparisons settle and of the
 * others.
 */
const LOOK = 30;

/**
 * Finds the rows in a region: whole nodes and blocks where they lie inside, single points at its
 * border. Pauses after a block.
 */
export function findRuns(dataset: Dataset, region: Region, runs: Runs, meter: Meter): Step<Runs> {
  runs.clear();
  const { coords, blocks, boxIndex } = dataset;
  const { starts, boxes } = blocks;
  const { west, south, east, north } = region.frame;
  // the first block that is not yet settled
  let next = 0;
  let work = 0;
  return visit(boxIndex.root) ? runs : goOn();

  function* goOn(): Work<Runs> {
    do yield;
    while (!visit(boxIndex.root));
    return runs;
  }

  /**
   * Goes down to the block where the search paused, and on from there; returns false when the meter
   * has run out.
   */
  function visit(node: BoxNode): boolean {
    for (const child of node.children) {
      if (child.lastBlock <= next) continue;
      const overlap = region.overlap(boxIndex.boxes, child.box);
      if (overlap === INSIDE) runs.add(child.from, child.to);
      else if (overlap !== OUTSIDE) {
        if (!(node.leaf ? testBlocks(child) : visit(child as BoxNode))) return false;
      }
      next = child.lastBlock;
    }
    return true;
  }

  /**
   * Tests the blocks of a group. Returns false when the meter has run out, even after the last
   * block: the next call goes on behind that block.
   */
  function testBlocks({ firstBlock, lastBlock: last }: BlockGroup): boolean {
    // what a closure holds is loaded anew for every block
    const [left, bottom, right, top] = [west, south, east, north];
    const [all, budget] = [boxes, meter.left];
    const first = Math.max(next, firstBlock);
    let block = first;
    let cost = 0;
    while (block < last && cost <= budget) {
      const at = 4 * block++;
      // most blocks lie nowhere near: four comparisons settle them
      if (all[at]! > right || all[at + 2]! < left) continue;
      if (all[at + 1]! > top || all[at + 3]! < bottom) continue;
      cost += testBlock(at);
    }
    // what was decided without a test of points took work, too
    meter.left -= cost + (block - first) * LOOK + workSince();
    next = block;
    return block === last && meter.left >= 0;
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
    meter.looks += to - from;
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
