import type { RecordKey } from '../model/point.js';
import type { Box, Filters } from '../model/query.js';
import type { Degrees } from '../model/units.js';

/** A tile of the pyramid: column `x` from the west and row `y` from the north, of 2^`z` each. */
export interface TileAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export interface TileQuery {
  readonly address: TileAddress;
  /** As {@link filtersWithin} makes them: undefined where nothing in the tile can match. */
  readonly filters: Filters | undefined;
  /** Cells along an edge: a power of two up to 128. */
  readonly grid: number;
  /** The most points of a tile that has no clusters; undefined where it has. */
  readonly limit?: number | undefined;
  /** Keys of a record that points have besides the usual properties. */
  readonly fields?: readonly RecordKey[] | undefined;
}

/** The deepest zoom that there are tiles of. */
export const MAX_ZOOM = 22;
/** Units along the edge of a tile. */
export const EXTENT = 4096;

/** Entries of the table of latitudes for each row of cells. */
const SLOTS_PER_ROW = 4;

/**
 * The cells of a tile, `size` times `size`, numbered row by row from the north-west. Cells are cut
 * from the world: borders are numbers of degrees that neighbouring tiles and other zooms share. The
 * western and the northern border belong to a cell, the other two to its neighbours. At the edges
 * of the world cells reach as far as points do: to longitude 180 and to the poles.
 */
export class Grid {
  readonly size: number;
  /** Western border of each column, then the eastern border of the last. */
  readonly meridians: Float64Array;
  /** Northern border of each row, then the southern border of the last. */
  readonly parallels: Float64Array;
  readonly #address: TileAddress;
  readonly #west: Degrees;
  readonly #columnsPerDegree: number;
  readonly #north: Degrees;
  readonly #slotsPerDegree: number;
  /** The row at the northern end of each of equal bands of latitude. */
  readonly #rowOfSlot: Uint8Array;

  constructor(address: TileAddress, size: number) {
    const { z, x, y } = address;
    const across = 2 ** z;
    const lines = across * size;
    this.#address = address;
    this.size = size;
    const meridians = new Float64Array(size + 1);
    const parallels = new Float64Array(size + 1);
    for (let i = 0; i <= size; i++) {
      meridians[i] = longitudeOf(x * size + i, lines);
      parallels[i] = latitudeOf(y * size + i, lines);
    }
    this.#west = meridians[0]!;
    this.#north = parallels[0]!;
    this.#columnsPerDegree = lines / 360;

    const slots = size * SLOTS_PER_ROW;
    this.#slotsPerDegree = slots / (this.#north - parallels[size]!);
    this.#rowOfSlot = new Uint8Array(slots);
    let row = 0;
    for (let slot = 0; slot < slots; slot++) {
      const lat = this.#north - slot / this.#slotsPerDegree;
      while (row < size - 1 && lat <= parallels[row + 1]!) row++;
      this.#rowOfSlot[slot] = row;
    }
    if (x === across - 1) meridians[size] = Number.POSITIVE_INFINITY;
    if (y === 0) parallels[0] = Number.POSITIVE_INFINITY;
    if (y === across - 1) parallels[size] = Number.NEGATIVE_INFINITY;
    this.meridians = meridians;
    this.parallels = parallels;
  }

  cellOf(lon: Degrees, lat: Degrees): number {
    const { meridians, parallels } = this;
    // just west of a border the product is rounded up to it; on a border it is never rounded down
    let column = ((lon - this.#west) * this.#columnsPerDegree) | 0;
    if (lon < meridians[column]!) column--;
    const slot = ((this.#north - lat) * this.#slotsPerDegree) | 0;
    const rows = this.#rowOfSlot;
    let row = rows[slot < 0 ? 0 : slot < rows.length ? slot : rows.length - 1]!;
    while (lat > parallels[row]!) row--;
    while (lat <= parallels[row + 1]!) row++;
    return row * this.size + column;
  }

  /** Where a longitude in the tile lies in a cell, in units of the tile from its western edge. */
  unitsEast(lon: Degrees, cell: number): number {
    const { z, x } = this.#address;
    const units = Math.floor((((lon + 180) / 360) * 2 ** z - x) * EXTENT);
    return this.#within(units, cell % this.size);
  }

  /** Where a latitude in the tile lies in a cell, in units of the tile from its northern edge. */
  unitsSouth(lat: Degrees, cell: number): number {
    const { z, y } = this.#address;
    const units = Math.floor((southwards(lat) * 2 ** z - y) * EXTENT);
    return this.#within(units, Math.floor(cell / this.size));
  }

  /** Rounding, and latitudes beyond Web Mercator, must not move a place out of its cell. */
  #within(units: number, line: number): number {
    const width = EXTENT / this.size;
    return Math.max(line * width, Math.min(units, (line + 1) * width - 1));
  }
}

/** The box whose points, edges included, are those of a tile. */
export function boxOf({ z, x, y }: TileAddress): Box {
  const across = 2 ** z;
  return {
    west: longitudeOf(x, across),
    south: y === across - 1 ? -90 : nextUp(latitudeOf(y + 1, across)),
    east: x === across - 1 ? 180 : -nextUp(-longitudeOf(x + 1, across)),
    north: y === 0 ? 90 : latitudeOf(y, across),
  };
}

/** The parts of `boxes` that lie in a tile's box; its own box where there are none. */
export function boxesWithin(tile: Box, boxes: readonly Box[] = [tile]): Box[] {
  return boxes
    .map(({ west, south, east, north }) => ({
      west: Math.max(west, tile.west),
      south: Math.max(south, tile.south),
      east: Math.min(east, tile.east),
      north: Math.min(north, tile.north),
    }))
    .filter(({ west, south, east, north }) => west <= east && south <= north);
}

/** The least double above a finite one. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const float = Float64Array.of(value);
  const bits = new BigInt64Array(float.buffer);
  bits[0]! += value > 0 ? 1n : -1n;
  return float[0]!;
}

/**
 * Longitude of line `index` where `count` lines, a power of two up to 2^29, part the world from
 * west to east. No digit is rounded, so that a line of one zoom is the same number in all deeper
 * zooms.
 */
export function longitudeOf(index: number, count: number): Degrees {
  return (index / count) * 360 - 180;
}

/** Latitude of line `index` where `count` lines part Web Mercator's square from north to south. */
export function latitudeOf(index: number, count: number): Degrees {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * index) / count))) * 180) / Math.PI;
}

/** How far south a latitude lies in the square: 0 at its northern edge, 1 at its southern one. */
export function southwards(lat: Degrees): number {
  return 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
}

/** The filters, narrowed to the box of a tile; undefined where no point of the tile can match. */
export function filtersWithin(address: TileAddress, filters: Filters): Filters | undefined {
  // the only tile that there is
  if (address.z === 0) return filters;
  const boxes = boxesWithin(boxOf(address), filters.boxes);
  return boxes.length === 0 ? undefined : { ...filters, boxes };
}
