import type { RecordKey } from '../model/point.js';
import type { Filters } from '../model/query.js';
import { boxesWithin, boxOf, type TileAddress } from './grid.js';

/** What a tile shows. */
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

/** The filters, narrowed to the box of a tile; undefined where no point of the tile can match. */
export function filtersWithin(address: TileAddress, filters: Filters): Filters | undefined {
  // the only tile that there is
  if (address.z === 0) return filters;
  const boxes = boxesWithin(boxOf(address), filters.boxes);
  return boxes.length === 0 ? undefined : { ...filters, boxes };
}
