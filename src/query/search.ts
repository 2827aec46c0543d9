import type { BlockGroup, BoxNode } from '../dataset/box-index.js';
import type { Dataset } from '../dataset/dataset.js';
import { REGION_TEST } from './common/plan.js';
import type { Runs } from './common/runs.js';
import type { Meter, Step, Work } from './common/work.js';
import { INSIDE, OUTSIDE, type Region } from './region/overlap.js';

/** Nanoseconds that a look at a box takes, on average of those that are settled by comparisons and the others. */
const LOOK = 30;

/**
 * Finds the rows in a region: whole nodes and blocks where they lie inside, single points at its border. Pauses after
 * a block.
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

  /** Goes down to where the search was, and on from there; returns false when the meter has run out. */
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

  function testBlocks({ firstBlock, lastBlock: last }: BlockGroup): boolean {
    const [left, bottom, right, top] = [west, south, east, north];
    const first = Math.max(next, firstBlock);
    let block = first;
    let cost = 0;
    // at least one, or a piece that is worth less than a block would never get on
    for (; block < last && (cost <= meter.left || block === first); block++) {
      const at = 4 * block;
      // most blocks lie nowhere near: four comparisons settle them
      if (boxes[at]! > right || boxes[at + 2]! < left) continue;
      if (boxes[at + 1]! > top || boxes[at + 3]! < bottom) continue;
      const overlap = region.overlap(boxes, at);
      if (overlap === OUTSIDE) continue;
      const from = starts[block]!;
      const to = starts[block + 1]!;
      if (overlap === INSIDE) {
        runs.add(from, to);
        continue;
      }
      runs.addWithin(region, coords, from, to, boxes, at);
      const before = work;
      work = region.work();
      cost += (to - from) * REGION_TEST + work - before;
    }
    meter.left -= cost + (block - first) * LOOK;
    next = block;
    return block === last;
  }
}
