import type { BlockGroup, BoxNode } from '../../index/blocks.js';
import type { Dataset } from '../../index/dataset.js';
import type { Row } from '../../index/order.js';
import type { Budget } from '../../model/budget.js';
import { INSIDE, OUTSIDE, type Region } from '../region/overlap.js';
import { REGION_TEST } from './plan.js';

/** Ascending ranges of rows `[from, to)` that do not touch, valid until the next region search. */
export class Runs {
  /** `from` and `to` of each run in turn. */
  bounds: Int32Array = new Int32Array(2_048);
  length = 0;
  rows = 0;

  clear(): void {
    this.length = 0;
    this.rows = 0;
  }

  /** Rows must come in ascending order. A run that touches the last one extends it. */
  add(from: Row, to: Row): void {
    this.#reserve(1);
    this.rows += to - from;
    const at = 2 * this.length;
    if (at > 0 && this.bounds[at - 1] === from) {
      this.bounds[at - 1] = to;
      return;
    }
    this.bounds[at] = from;
    this.bounds[at + 1] = to;
    this.length++;
  }

  /** Adds the rows `from` to `to - 1` that a region holds; all lie in the box at `box`. */
  addWithin(
    region: Region,
    coords: Float64Array,
    from: Row,
    to: Row,
    boxes: Float64Array,
    box: number,
  ): void {
    this.#reserve(to - from);
    const at = 2 * this.length;
    const end = region.collect(coords, from, to, boxes, box, this.bounds, at) / 2;
    this.rows += end - this.length;
    this.length = end;
  }

  has(row: Row): boolean {
    const { bounds } = this;
    let from = 0;
    let to = this.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (bounds[2 * middle]! <= row) from = middle + 1;
      else to = middle;
    }
    return from > 0 && row < bounds[2 * from - 1]!;
  }

  #reserve(runs: number): void {
    const wanted = 2 * (this.length + runs);
    if (wanted <= this.bounds.length) return;
    const larger = new Int32Array(Math.max(wanted, this.bounds.length * 2));
    larger.set(this.bounds);
    this.bounds = larger;
  }
}

/** Mean nanoseconds of a look at a box. */
const LOOK = 30;

/** Adds whole nodes and blocks inside the region, and tests points of blocks across its border. */
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
    // a closure's variables would be loaded anew for every block
    const [left, bottom, right, top] = [west, south, east, north];
    const [all, most] = [boxes, budget.stretch];
    // each block costs a look, whether or not its points are tested
    let cost = (last - firstBlock) * LOOK;
    for (let block = firstBlock; block < last; block++) {
      const at = 4 * block;
      // four comparisons rule out most blocks; together, which one does need not be predicted
      const isOutside =
        Number(all[at]! > right) |
        Number(all[at + 2]! < left) |
        Number(all[at + 1]! > top) |
        Number(all[at + 3]! < bottom);
      if (isOutside === 1) continue;
      cost += testBlock(at);
      if (cost > most) {
        budget.charge(cost);
        cost = 0;
      }
    }
    budget.charge(cost + workSince());
  }

  /** Adds the rows of the block whose box is at `at`; returns the nanoseconds of it. */
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

  function workSince(): number {
    const before = work;
    work = region.work();
    return work - before;
  }
}

/** Nanoseconds of a run, besides those of its rows. */
const VISIT = 12;

/**
 * Mean nanoseconds of a row where each takes `cost`, runs included: in a ring of points every
 * second row is a run of its own, which costs more than the row.
 */
export function costInRuns({ length, rows }: Runs, cost: number): number {
  return cost + (VISIT * length) / rows;
}
