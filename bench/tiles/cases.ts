import type { Dataset } from '../../src/index/dataset.js';
import { EXTENT } from '../../src/tiles/grid.js';
import { benchRandom } from '../places.js';

/** Cells along the edge of a tile: the default of the interface. */
export const GRID = 16;
/** Units along the edge of a cell. */
export const CELL: number = EXTENT / GRID;

export const ZOOMS: readonly number[] = [0, 2, 4, 6, 8, 10, 12, 14, 16];

export interface Address {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Filters, as each contender takes them. */
export interface FilterSet {
  readonly count: number;
  /** As parameters of the interface. */
  readonly query: string;
  /** As a condition of the table that the PostGIS peer has. */
  readonly sql: string;
  /** Whether a record, parsed, satisfies them. */
  readonly accepts: (record: TileRecord) => boolean;
}

/** The fields of a record that the tiles of this bench need. */
export interface TileRecord {
  readonly id: number;
  readonly lat: string;
  readonly lon: string;
  readonly status: string;
  readonly is_processed: boolean;
  readonly tags?: readonly string[];
  readonly created_at: string;
}

const SINCE = '2022-01-01T00:00:00Z';

export const FILTER_SETS: readonly FilterSet[] = [
  { count: 0, query: '', sql: 'true', accepts: () => true },
  {
    count: 1,
    query: 'is_processed=false',
    sql: 'NOT is_processed',
    accepts: (record) => !record.is_processed,
  },
  {
    count: 3,
    query: `is_processed=false&tags=Lighting&created_at_after=${SINCE}`,
    sql: `NOT is_processed AND tags && ARRAY['Lighting'] AND created_at >= '${SINCE}'`,
    accepts: ({ is_processed, tags, created_at }) =>
      !is_processed &&
      (tags?.includes('Lighting') ?? false) &&
      Date.parse(created_at) >= Date.parse(SINCE),
  },
];

/**
 * Different tiles of a zoom that hold points; the more points a tile has, the likelier it is, as on
 * maps that people look at.
 */
export function tilesOf({ count, coords }: Dataset, z: number, most: number): Address[] {
  const random = benchRandom(z + 1, 500);
  const tiles = new Map<string, Address>();
  for (let i = 0; i < 20 * most && tiles.size < most; i++) {
    const row = random.int(count);
    const [px, py] = onSquare(coords[2 * row]!, coords[2 * row + 1]!);
    const [x, y] = [Math.floor(px * 2 ** z), Math.floor(py * 2 ** z)];
    tiles.set(`${x}/${y}`, { z, x, y });
  }
  return [...tiles.values()];
}

export function allTiles(z: number): Address[] {
  const across = 2 ** z;
  return Array.from({ length: across ** 2 }, (_, i) => ({
    z,
    x: i % across,
    y: Math.floor(i / across),
  }));
}

/** The largest number below 1: the eastern and the southern edge belong to the last tile. */
const LAST = 1 - Number.EPSILON / 2;

/** A place on the square of Web Mercator: from 0 to below 1, from the north-west. */
export function onSquare(lon: number, lat: number): readonly [x: number, y: number] {
  const y = 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
  return [Math.min((lon + 180) / 360, LAST), Math.max(0, Math.min(y, LAST))];
}
