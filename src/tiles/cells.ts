import type { Row } from '../index/order.js';
import { bitOf, wordWithin } from '../query/common/marks.js';
import type { Grid } from './grid.js';

/** The matches in each cell of a tile: how many, the sums of their coordinates, and one of them. */
export class Cells {
  readonly counts: Int32Array;
  /** Sums of longitudes and of latitudes in turn. */
  readonly sums: Float64Array;
  /** The last row that was added to each cell. */
  readonly rows: Int32Array;
  readonly #grid: Grid;

  constructor(grid: Grid) {
    const cells = grid.size ** 2;
    this.#grid = grid;
    // one piece of memory: to take three takes longer than a small tile
    const memory = new ArrayBuffer(cells * 24);
    this.sums = new Float64Array(memory, 0, 2 * cells);
    this.counts = new Int32Array(memory, cells * 16, cells);
    this.rows = new Int32Array(memory, cells * 20, cells);
  }

  /** Adds a point whose place is at `at` of `coords`, and which is called `row` from here on. */
  add(row: Row, coords: Float64Array, at: number): void {
    const lon = coords[2 * at]!;
    const lat = coords[2 * at + 1]!;
    const cell = this.#grid.cellOf(lon, lat);
    this.counts[cell]!++;
    this.sums[2 * cell]! += lon;
    this.sums[2 * cell + 1]! += lat;
    this.rows[cell] = row;
  }

  /**
   * Adds those of rows `from` to `to - 1` that lie in the tile, and are marked where there are
   * marks.
   */
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

  /** Adds rows `from` to `to - 1`, all in one cell, whose sums `sums` has from place `first` on. */
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
    this.counts[cell]! += to - from;
    this.sums[2 * cell]! += lon;
    this.sums[2 * cell + 1]! += lat;
    this.rows[cell] = from;
  }

  /** Adds the marked ones of rows `from` to `to - 1`, all in one cell. */
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
    if (count === 0) return;
    this.counts[cell]! += count;
    this.sums[2 * cell]! += lon;
    this.sums[2 * cell + 1]! += lat;
    this.rows[cell] = row;
  }
}
