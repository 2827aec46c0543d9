import type { BlockGroup, BoxNode } from '../index/blocks.js';
import type { Dataset } from '../index/dataset.js';
import type { Row } from '../index/order.js';
import { type Budget, inStretches } from '../model/budget.js';
import type { Degrees } from '../model/units.js';
import { bitOf, wordWithin } from '../query/common/marks.js';
import { listRows, type Matches, markMatches } from '../query/common/matches.js';
import { SCATTERED } from '../query/common/plan.js';
import type { Scratch } from '../query/common/scratch.js';
import type { Grid } from './grid.js';

/** The number of matches in each cell of a tile, the sums of their coordinates, and one of them. */
export class Cells {
  readonly counts: Int32Array;
  readonly sums: Float64Array;
  readonly rows: Int32Array;
  readonly #grid: Grid;

  constructor(grid: Grid) {
    const cells = grid.size ** 2;
    this.#grid = grid;
    // one allocation: three take longer than a small tile
    const memory = new ArrayBuffer(cells * 24);
    this.sums = new Float64Array(memory, 0, 2 * cells);
    this.counts = new Int32Array(memory, cells * 16, cells);
    this.rows = new Int32Array(memory, cells * 20, cells);
  }

  /** Adds the point `at` of `coords` under the number `row`. */
  add(row: Row, coords: Float64Array, at: number): void {
    const lon = coords[2 * at]!;
    const lat = coords[2 * at + 1]!;
    this.#put(this.#grid.cellOf(lon, lat), 1, lon, lat, row);
  }

  /** Adds those of rows `from` to `to - 1` that lie in the tile and, with bits, are marked. */
  addInside(coords: Float64Array, from: Row, to: Row, bits: Int32Array | undefined): void {
    const { counts, sums, rows } = this;
    const grid = this.#grid;
    const { size, meridians, parallels } = grid;
    const [west, east] = [meridians[0]!, meridians[size]!];
    const [north, south] = [parallels[0]!, parallels[size]!];
    for (let row = from; row < to; row++) {
      if (bits !== undefined && bitOf(bits, row) === 0) continue;
      const lon = coords[2 * row]!;
      const lat = coords[2 * row + 1]!;
      if (lon < west || lon >= east || lat > north || lat <= south) continue;
      const cell = grid.cellOf(lon, lat);
      counts[cell]!++;
      sums[2 * cell]! += lon;
      sums[2 * cell + 1]! += lat;
      rows[cell] = row;
    }
  }

  /** Adds rows `from` to `to - 1`, all in one cell: blocks `firstSum` to `lastSum - 1`. */
  addWhole(
    cell: number,
    from: Row,
    to: Row,
    sums: Float64Array,
    firstSum: number,
    lastSum: number,
  ): void {
    let lon = 0;
    let lat = 0;
    for (let at = 2 * firstSum; at < 2 * lastSum; at += 2) {
      lon += sums[at]!;
      lat += sums[at + 1]!;
    }
    this.#put(cell, to - from, lon, lat, from);
  }

  addMarked(cell: number, coords: Float64Array, from: Row, to: Row, bits: Int32Array): void {
    let count = 0;
    let lon = 0;
    let lat = 0;
    let row = -1;
    for (let first = from; first < to; ) {
      const word = first >>> 5;
      first = (word + 1) << 5;
      for (let set = wordWithin(bits, word, from, to); set !== 0; set &= set - 1) {
        row = (word << 5) + (31 - Math.clz32(set & -set));
        lon += coords[2 * row]!;
        lat += coords[2 * row + 1]!;
        count++;
      }
    }
    if (count > 0) this.#put(cell, count, lon, lat, row);
  }

  #put(cell: number, count: number, lon: Degrees, lat: Degrees, row: Row): void {
    this.counts[cell]! += count;
    this.sums[2 * cell]! += lon;
    this.sums[2 * cell + 1]! += lat;
    this.rows[cell] = row;
  }
}

// nanoseconds
const LOOK = 45; // a box against the cells
const TEST = 15; // a point into its cell
const SUM = 3; // a marked point of a block that lies in one cell

/** Where at most one row in `LISTED` matches, rows are added one by one. */
const LISTED = 64;

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

/** Adds whole ranges of rows that lie in one cell, and the single points of other blocks. */
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

  /** The cell of a box, or {@link OUTSIDE} of the tile, or {@link ACROSS} a border. */
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
