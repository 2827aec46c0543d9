import type { BoxNode } from '../dataset/box-index.js';
import type { Dataset } from '../dataset/dataset.js';
import { REGION_TEST } from './plan.js';
import { INSIDE, OUTSIDE, type Region } from './region/overlap.js';
import type { Runs } from './runs.js';
import type { Meter, Step, Work } from './work.js';

/** Nanoseconds that a look at a box takes, on average of those that are settled by comparisons and the others. */
const LOOK = 30;

/**
 * Finds the rows in a region: whole nodes and blocks where they lie inside, single points at its border. Pauses after
 * a block.
 */
export function findRuns(dataset: Dataset, region: Region, runs: Runs, meter: Meter): Step<Runs> {
  runs.clear();
  const search = new Search(dataset, region, runs, meter);
  return search.goOn() ? runs : rest(search, runs);
}

function* rest(search: Search, runs: Runs): Work<Runs> {
  do yield;
  while (!search.goOn());
  return runs;
}

/** A walk down the tree of boxes that can stop after any block. */
class Search {
  readonly #dataset: Dataset;
  readonly #region: Region;
  readonly #runs: Runs;
  readonly #meter: Meter;
  // the nodes from the root to where the walk is, and the child of each that is next
  readonly #path: BoxNode[];
  readonly #next: number[] = [0];
  // blocks yet to be tested
  #block = 0;
  #lastBlock = 0;
  #work = 0;

  constructor(dataset: Dataset, region: Region, runs: Runs, meter: Meter) {
    this.#dataset = dataset;
    this.#region = region;
    this.#runs = runs;
    this.#meter = meter;
    this.#path = [dataset.boxIndex.root];
  }

  /** Returns whether the search has come to its end; it stops when the meter has run out. */
  goOn(): boolean {
    const { boxes } = this.#dataset.boxIndex;
    const region = this.#region;
    const path = this.#path;
    const next = this.#next;
    while (this.#testBlocks()) {
      let depth = path.length - 1;
      while (depth >= 0 && next[depth] === path[depth]!.children.length) {
        path.pop();
        depth--;
      }
      if (depth < 0) return true;
      const node = path[depth]!;
      const child = node.children[next[depth]!++]!;
      const overlap = region.overlap(boxes, child.box);
      if (overlap === OUTSIDE) continue;
      if (overlap === INSIDE) {
        this.#runs.add(child.from, child.to);
      } else if (node.leaf) {
        this.#block = child.firstBlock;
        this.#lastBlock = child.lastBlock;
      } else {
        path.push(child as BoxNode);
        next[depth + 1] = 0;
      }
    }
    return false;
  }

  /** Returns whether all blocks have been tested. */
  #testBlocks(): boolean {
    const last = this.#lastBlock;
    if (this.#block === last) return true;
    const { coords, blocks } = this.#dataset;
    const { starts, boxes } = blocks;
    const region = this.#region;
    const runs = this.#runs;
    const meter = this.#meter;
    const { west, south, east, north } = region.frame;
    const first = this.#block;
    let block = first;
    let left = meter.left;
    // at least one, or a piece that is worth less than a block would never get on
    for (; block < last && (left >= 0 || block === first); block++) {
      const at = 4 * block;
      // most blocks lie nowhere near: four comparisons settle them
      if (boxes[at]! > east || boxes[at + 2]! < west) continue;
      if (boxes[at + 1]! > north || boxes[at + 3]! < south) continue;
      const overlap = region.overlap(boxes, at);
      if (overlap === OUTSIDE) continue;
      const from = starts[block]!;
      const to = starts[block + 1]!;
      if (overlap === INSIDE) {
        runs.add(from, to);
        continue;
      }
      runs.addWithin(region, coords, from, to, boxes, at);
      const work = region.work();
      left -= (to - from) * REGION_TEST + work - this.#work;
      this.#work = work;
    }
    this.#block = block;
    meter.left = left - (block - first) * LOOK;
    return block === last;
  }
}
