import type { Address, FilterSet } from './cases.js';

/** What makes tiles, filter set by filter set. */
export interface Contender {
  readonly name: string;
  /** Gets ready for the tiles of a filter set. */
  prepare(set: FilterSet): Promise<void>;
  /** A tile of the set that was prepared last; empty where nothing is in it. */
  tile(address: Address): Uint8Array | Promise<Uint8Array>;
  /**
   * Makes tiles as `makeAll` does, where they are made in another thread: microseconds of a tile.
   */
  turn?(tiles: readonly Address[], leastMs: number): Promise<number>;
  stop(): Promise<void>;
}
