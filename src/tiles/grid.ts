import type { RecordKey } from '../model/point.js';
import { type Box, type Filters, sectionOf } from '../model/query.js';
import type { Degrees } from '../model/units.js';

/** Column `x` from the west and row `y` from the north, of 2^`z` each. */
export interface TileAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export interface TileQuery {
  readonly address: TileAddress;
  /** Those of {@link filtersWithin}: undefined where nothing in the tile can match. */
  readonly filters: Filters | undefined;
  /** Cells along an edge: a power of two up to 128. */
  readonly grid: number;
  /** The most points of a tile without clusters; undefined for a tile with clusters. */
  readonly limit?: number | undefined;
  /** Keys of a record that points have as properties besides the usual ones. */
  readonly fields?: readonly RecordKey[] | undefined;
}

export const MAX_ZOOM = 22;
/** Units along the edge of a tile. */
export const EXTENT = 4096;

/** Bands of latitude for each row of cells. */
const SLOTS_PER_ROW = 4;

/**
 * The `size` × `size` cells of a tile, row by row from the north-west. Neighbouring tiles and other
 * zooms share borders to the last digit; a cell has its western and its northern one. At the edges
 * of the world cells reach to longitude 180 and to the poles.
 */
export class Grid {
  readonly size: number;
  /** The western border of each column, then the eastern border of the last. */
  readonly meridians: Float64Array;
  /** The northern border of each row, then the southern border of the last. */
  readonly parallels: Float64Array;
  readonly #address: TileAddress;
  readonly #west: Degrees;
  readonly #columnsPerDegree: number;
  readonly #north: Degrees;
  readonly #slotsPerDegree: number;
  /** The row at the northern end of each band of latitude; bands have equal heights. */
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
    // just west of a border the product may be rounded up to it; it is never rounded down below one
    let column = ((lon - this.#west) * this.#columnsPerDegree) | 0;
    if (lon < meridians[column]!) column--;
    const slot = ((this.#north - lat) * this.#slotsPerDegree) | 0;
    const rows = this.#rowOfSlot;
    let row = rows[slot < 0 ? 0 : slot < rows.length ? slot : rows.length - 1]!;
    while (lat > parallels[row]!) row--;
    while (lat <= parallels[row + 1]!) row++;
    return row * this.size + column;
  }

  /** The units from the tile's western edge to a longitude in a cell. */
  unitsEast(lon: Degrees, cell: number): number {
    const { z, x } = this.#address;
    const units = Math.floor((((lon + 180) / 360) * 2 ** z - x) * EXTENT);
    return this.#within(units, cell % this.size);
  }

  /** The units from the tile's northern edge to a latitude in a cell. */
  unitsSouth(lat: Degrees, cell: number): number {
    const { z, y } = this.#address;
    const units = Math.floor((southwards(lat) * 2 ** z - y) * EXTENT);
    return this.#within(units, Math.floor(cell / this.size));
  }

  /** Neither rounding nor latitudes beyond Web Mercator move a place out of its cell. */
  #within(units: number, line: number): number {
    const width = EXTENT / this.size;
    return Math.max(line * width, Math.min(units, (line + 1) * width - 1));
  }
}

/** The box whose points are those of a tile. */
export function boxOf({ z, x, y }: TileAddress): Box {
  const across = 2 ** z;
  return {
    west: longitudeOf(x, across),
    south: y === across - 1 ? -90 : nextUp(latitudeOf(y + 1, across)),
    east: x === across - 1 ? 180 : -nextUp(-longitudeOf(x + 1, across)),
    north: y === 0 ? 90 : latitudeOf(y, across),
  };
}

/** The parts of `boxes` within a tile's box. */
export function boxesWithin(tile: Box, boxes: readonly Box[] = [tile]): Box[] {
  return boxes
    .map((box) => sectionOf(box, tile))
    .filter(({ west, south, east, north }) => west <= east && south <= north);
}

/** The least double that is greater. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const float = Float64Array.of(value);
  const bits = new BigInt64Array(float.buffer);
  bits[0]! += value > 0 ? 1n : -1n;
  return float[0]!;
}

/**
 * The longitude of line `index` of `count`, a power of two up to 2^29, which part the world from
 * west to east. No digit is rounded: a line has the same number in all deeper zooms.
 */
export function longitudeOf(index: number, count: number): Degrees {
  return (index / count) * 360 - 180;
}

/** The latitude of a line, which part Web Mercator's square from north to south. */
export function latitudeOf(index: number, count: number): Degrees {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * index) / count))) * 180) / Math.PI;
}

/** A latitude in Web Mercator's square: 0 is its northern edge, 1 its southern one. */
export function southwards(lat: Degrees): number {
  return 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
}

/** Filters narrowed to the box of a tile; undefined where no point of the tile can match. */
export function filtersWithin(address: TileAddress, filters: Filters): Filters | undefined {
  // the only tile has all points
  if (address.z === 0) return filters;
  const boxes = boxesWithin(boxOf(address), filters.boxes);
  return boxes.length === 0 ? undefined : { ...filters, boxes };
}
