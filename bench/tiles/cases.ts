import type { Dataset } from '../../src/index/dataset.js';
import { EXTENT, type TileAddress } from '../../src/tiles/grid.js';
import { benchRandom } from '../places.js';
import { tileAt } from '../scenarios.js';

/** Cells along the edge of a tile: the default of the interface. */
export const GRID = 16;
/** Units along the edge of a cell. */
export const CELL: number = EXTENT / GRID;

export const ZOOMS: readonly number[] = [0, 2, 4, 6, 8, 10, 12, 14, 16];

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
export function tilesOf({ count, coords }: Dataset, z: number, most: number): TileAddress[] {
  const random = benchRandom(z + 1, 500);
  const tiles = new Map<string, TileAddress>();
  for (let i = 0; i < 20 * most && tiles.size < most; i++) {
    const row = random.int(count);
    const [x, y] = tileAt(coords[2 * row + 1]!, coords[2 * row]!, z);
    tiles.set(`${x}/${y}`, { z, x, y });
  }
  return [...tiles.values()];
}

export function allTiles(z: number): TileAddress[] {
  const across = 2 ** z;
  return Array.from({ length: across ** 2 }, (_, i) => ({
    z,
    x: i % across,
    y: Math.floor(i / across),
  }));
}
