import type { TileAddress } from '../../src/tiles/grid.js';
import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import { takeTurns } from '../support/turns.js';
import type { FilterSet } from './cases.js';

/** What makes tiles, filter set by filter set. */
export interface Contender {
  readonly name: string;
  /** Whether its clusters are the cells of ours, so that counts are compared cell by cell. */
  readonly isGrid: boolean;
  /** Gets ready for the tiles of a filter set. */
  prepare(set: FilterSet): Promise<void>;
  /** A tile of the set that was prepared last; empty where nothing is in it. */
  tile(address: TileAddress): Uint8Array | Promise<Uint8Array>;
}

export interface Timed {
  readonly contender: string;
  /** Tiles of which the mean was taken. */
  readonly tiles: number;
  /** Of a tile, round by round. */
  readonly micros: Spread;
  /** How many times as long as ours. */
  readonly toOurs: Spread;
}

/** A contender's turn lasts this long at least, all tiles being made again and again. */
const LEAST_MS = 100;
/**
 * How long each contender makes tiles before anything is measured, as a service is warm, too. All
 * contenders are measured with those tiles that the slowest has made in this time.
 */
const WARM_MS = 500;

/**
 * Measures the mean time of a tile, in rounds in which all contenders take turns; ours must come
 * first.
 */
export async function measureTiles(
  contenders: readonly Contender[],
  all: readonly TileAddress[],
  rounds: number,
  isSmoke: boolean,
): Promise<Timed[]> {
  let tiles = all;
  for (const contender of contenders) {
    const made = await makeFor(isSmoke ? 0 : WARM_MS, contender, tiles);
    tiles = tiles.slice(0, made);
  }
  const turns = contenders.map(
    (one) => [(address: TileAddress) => one.tile(address), tiles] as const,
  );
  const micros = await takeTurns(turns, rounds, isSmoke ? 0 : LEAST_MS);
  return contenders.map(({ name }, i) => ({
    contender: name,
    tiles: tiles.length,
    micros: spreadOf(micros[i]!),
    toOurs: ratiosOf(micros[i]!, micros[0]!),
  }));
}

/** Makes tiles in turn for `millis`; returns how many different ones it made, one at least. */
async function makeFor(
  millis: number,
  contender: Contender,
  tiles: readonly TileAddress[],
): Promise<number> {
  const until = performance.now() + millis;
  let made = 0;
  do await contender.tile(tiles[made++ % tiles.length]!);
  while (performance.now() < until);
  return Math.min(made, tiles.length);
}
