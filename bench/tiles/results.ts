import type { Floor } from './floors.js';
import type { Timed } from './measure.js';
import type { HostileTiles, SlowTile } from './slowest.js';

/** Tiles of one zoom with as many filters. */
export interface TileResult {
  readonly points: number;
  readonly filters: number;
  readonly zoom: number;
  readonly times: readonly Timed[];
}

/** What bench/tiles writes. */
export interface TileResults {
  readonly results: readonly TileResult[];
  /** The filters, by how many there are. */
  readonly queries: Readonly<Record<number, string>>;
  /** Seconds that supercluster takes for the index of each filter set. */
  readonly rebuilt: readonly Rebuilt[];
  /** What requests take that ask for next to nothing. */
  readonly floors?: readonly (Floor & { readonly points: number })[];
  /** Tiles of the whole world with one filter: the slowest of those that were tried. */
  readonly slowest: readonly (SlowTile & { readonly points: number })[];
  /** Beside `accepted` points that were accepted since; 0 where nothing is said. */
  readonly hostile: readonly (HostileTiles & {
    readonly points: number;
    readonly accepted?: number;
  })[];
  /** Why each peer that is missing was left out. */
  readonly skipped: Readonly<Record<string, string>>;
}

export interface Rebuilt {
  readonly points: number;
  readonly filters: number;
  readonly seconds: number;
}
