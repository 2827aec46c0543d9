import type { BoxNode } from '../dataset/box-index.js';
import type { Dataset } from '../dataset/dataset.js';
import type { Row } from '../dataset/row.js';
import { ACROSS, INSIDE, type Region } from './overlap.js';

/**
 * Rows as ranges `[from, to)`, ascending and apart: what a region search yields. One list is reused from
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
    this.rows += to - from;
    const at = 2 * this.length;
    if (at > 0 && this.bounds[at - 1] === from) {
      this.bounds[at - 1] = to;
      return;
    }
    if (at === this.bounds.length) {
      const larger = new Int32Array(this.bounds.length * 2);
      larger.set(this.bounds);
      this.bounds = larger;
    }
    this.bounds[at] = from;
    this.bounds[at + 1] = to;
    this.length++;
  }
}

/** Finds the rows in a region: whole tree nodes where they lie inside, single points at its border. */
export function findRuns(dataset: Dataset, region: Region, runs: Runs): void {
  runs.clear();
  const { coords } = dataset;
  visit(dataset.boxIndex.root);

  function visit(node: BoxNode): void {
    const overlap = region.overlap(node);
    if (overlap === INSIDE) runs.add(node.from, node.to);
    else if (overlap === ACROSS && node.leaf) testRows(node.from, node.to);
    else if (overlap === ACROSS) for (const child of node.children as BoxNode[]) visit(child);
  }

  function testRows(from: Row, to: Row): void {
    for (let row = from; row < to; row++) {
      if (region.contains(coords, row)) runs.add(row, row + 1);
    }
  }
}
