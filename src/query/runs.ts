import type { Blocks } from '../dataset/blocks.js';
import type { BoxNode } from '../dataset/box-index.js';
import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import { ACROSS, INSIDE, OUTSIDE, type Region } from './region/overlap.js';
import type { Meter, Step } from './work.js';

/**
 * Rows as ranges `[from, to)`, ascending, none in two: what a region search yields. One list is reused from
 * search to search, so it is valid until the next.
 */
export class Runs {
  /** from, to of each run in turn. */
  bounds: Int32Array = new Int32Array(2_048);
  /** Number of runs. */
  length = 0;
  /** Number of rows in all runs. */
  rows = 0;

  clear(): void {
    this.length = 0;
    this.rows = 0;
  }

  /** Rows must come in ascending order; a run that touches the last one extends it. */
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

  /** Adds those of a block's rows that lie in a region. */
  addWithin(region: Region, coords: Float64Array, { starts, boxes }: Blocks, block: number): void {
    const from = starts[block]!;
    const to = starts[block + 1]!;
    this.#reserve(to - from);
    const at = 2 * this.length;
    const end = region.collect(coords, from, to, boxes, 4 * block, this.bounds, at) / 2;
    this.rows += end - this.length;
    this.length = end;
  }

  #reserve(runs: number): void {
    const wanted = 2 * (this.length + runs);
    if (wanted <= this.bounds.length) return;
    const larger = new Int32Array(Math.max(wanted, this.bounds.length * 2));
    larger.set(this.bounds);
    this.bounds = larger;
  }
}

/** Finds the rows in a region: whole nodes and blocks where they lie inside, single points at its border. */
export function findRuns(dataset: Dataset, region: Region, runs: Runs, _meter: Meter): Step<Runs> {
  runs.clear();
  const { coords, blocks, boxIndex } = dataset;
  const { west, south, east, north } = region.frame;
  visit(boxIndex.root);
  return runs;

  function visit(node: BoxNode): void {
    for (const child of node.children) {
      const overlap = region.overlap(boxIndex.boxes, child.box);
      if (overlap === INSIDE) runs.add(child.from, child.to);
      else if (overlap === ACROSS && node.leaf) testBlocks(child.firstBlock, child.lastBlock);
      else if (overlap === ACROSS) visit(child as BoxNode);
    }
  }

  function testBlocks(first: number, last: number): void {
    const { starts, boxes } = blocks;
    const [left, bottom, right, top] = [west, south, east, north];
    for (let block = first; block < last; block++) {
      const at = 4 * block;
      // most blocks lie nowhere near: four comparisons settle them
      if (boxes[at]! > right || boxes[at + 2]! < left) continue;
      if (boxes[at + 1]! > top || boxes[at + 3]! < bottom) continue;
      const overlap = region.overlap(boxes, at);
      if (overlap === OUTSIDE) continue;
      if (overlap === INSIDE) runs.add(starts[block]!, starts[block + 1]!);
      else runs.addWithin(region, coords, blocks, block);
    }
  }
}
