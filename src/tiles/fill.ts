import type { BlockGroup, BoxNode } from '../index/box-index.js';
import type { Dataset } from '../index/dataset.js';
import { type Budget, inStretches } from '../model/budget.js';
import { listRows, type Matches, markMatches } from '../query/common/matches.js';
import { SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Cells } from './cells.js';
import type { Grid } from './grid.js';

// nanoseconds: only their ratios to the planner's costs matter
const LOOK = 45; // a box against the cells
const TEST = 15; // a point into its cell
const SUM = 3; // a marked point of a block that lies in one cell

/**
 * Where at most one row in `LISTED` matches, matches are added row by row: to mark them and to walk
 * would take longer.
 */
const LISTED = 64;

/** Adds all matches that lie in the tile to its cells. */
export function fillCells(
  dataset: Dataset,
  scratch: Scratch,
  grid: Grid,
  cells: Cells,
  matches: Matches,
): void {
  const { budget } = scratch;
  if (matches.count === 0) return;
  if (matches.form === 'all') walk(dataset, grid, cells, undefined, budget);
  else if (matches.count <= dataset.count / LISTED && matches.form !== 'bits') {
    const rows = listRows(scratch, matches);
    inStretches(budget, 0, rows.length, SCATTERED + TEST, (from, to) => {
      for (let i = from; i < to; i++) cells.add(rows[i]!, dataset.coords, rows[i]!);
    });
  } else walk(dataset, grid, cells, markMatches(dataset, scratch, matches), budget);
}

/**
 * Walks through the boxes of rows: whole stretches where they lie in one cell, single points where
 * they lie across the border of one.
 */
function walk(
  { coords, blocks, boxIndex }: Dataset,
  grid: Grid,
  cells: Cells,
  bits: Int32Array | undefined,
  budget: Budget,
): void {
  const { starts, boxes, sums } = blocks;
  const { size, meridians, parallels } = grid;
  const [west, east] = [meridians[0]!, meridians[size]!];
  const [north, south] = [parallels[0]!, parallels[size]!];
  const cost = bits === undefined ? TEST : TEST + SUM;
  visit(boxIndex.root);

  function visit(node: BoxNode): void {
    for (const child of node.children) {
      const cell = cellOfBox(boxIndex.boxes, child.box);
      budget.charge(LOOK);
      if (cell >= 0 && (bits === undefined || node.leaf)) {
        addWhole(cell, child.firstBlock, child.lastBlock);
      } else if (cell !== OUTSIDE) {
        if (node.leaf) visitBlocks(child);
        else visit(child as BoxNode);
      }
    }
  }

  /** Adds blocks `firstBlock` to `lastBlock - 1`, which lie in one cell. */
  function addWhole(cell: number, firstBlock: number, lastBlock: number): void {
    const [from, to] = [starts[firstBlock]!, starts[lastBlock]!];
    if (bits === undefined) cells.addWhole(cell, from, to, sums, firstBlock, lastBlock);
    else {
      cells.addMarked(cell, coords, from, to, bits);
      budget.charge((to - from) * SUM);
    }
  }

  function visitBlocks({ firstBlock, lastBlock }: BlockGroup): void {
    for (let block = firstBlock; block < lastBlock; block++) {
      const cell = cellOfBox(boxes, 4 * block);
      budget.charge(LOOK);
      if (cell !== OUTSIDE) {
        if (cell >= 0) addWhole(cell, block, block + 1);
        else {
          const [from, to] = [starts[block]!, starts[block + 1]!];
          cells.addInside(coords, from, to, bits);
          budget.charge((to - from) * cost);
        }
      }
    }
  }

  /** The cell that a box lies in, or {@link OUTSIDE} of the tile, or {@link ACROSS} some border. */
  function cellOfBox(all: Float64Array, at: number): number {
    const left = all[at]!;
    const bottom = all[at + 1]!;
    const right = all[at + 2]!;
    const top = all[at + 3]!;
    if (right < west || left >= east || top <= south || bottom > north) return OUTSIDE;
    if (left < west || right >= east || bottom <= south || top > north) return ACROSS;
    const cell = grid.cellOf(left, top);
    return cell === grid.cellOf(right, bottom) ? cell : ACROSS;
  }
}

const ACROSS = -1;
const OUTSIDE = -2;
