import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import type { Address, FilterSet } from './cases.js';

/** What makes tiles, filter set by filter set. */
export interface Contender {
  readonly name: string;
  /** Whether its clusters are cells as ours are: then each must have the same count. */
  readonly isGrid: boolean;
  /** Gets ready for the tiles of a filter set. */
  prepare(set: FilterSet): Promise<void>;
  /** A tile of the set that was prepared last; empty where nothing is in it. */
  tile(address: Address): Uint8Array | Promise<Uint8Array>;
}

/** How long tiles of a zoom took. */
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
 * How long a contender makes tiles before anything is measured: a service is not asked a hundred
 * times and then never again. No more tiles are begun for the first time from then on; all
 * contenders make those that the slowest of them has made.
 */
const WARM_MS = 500;

/**
 * Measures the mean time of a tile, in rounds in which all contenders take their turn, the first of
 * them being ours. Before, the caches and the code of each get warm, which says how many of the
 * tiles the slowest contender can make.
 */
export async function measureTiles(
  contenders: readonly Contender[],
  all: readonly Address[],
  rounds: number,
  isSmoke: boolean,
): Promise<Timed[]> {
  let tiles = all;
  for (const contender of contenders) {
    const made = await makeFor(isSmoke ? 0 : WARM_MS, contender, tiles);
    tiles = tiles.slice(0, made);
  }
  const micros = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      micros[i]!.push(await makeAll(contender, tiles, isSmoke ? 0 : LEAST_MS));
    }
  }
  return contenders.map(({ name }, i) => ({
    contender: name,
    tiles: tiles.length,
    micros: spreadOf(micros[i]!),
    toOurs: ratiosOf(micros[i]!, micros[0]!),
  }));
}

/** Makes tiles, again and again, for `millis`; returns of how many it made each, one at least. */
async function makeFor(
  millis: number,
  contender: Contender,
  tiles: readonly Address[],
): Promise<number> {
  const until = performance.now() + millis;
  let made = 0;
  do await contender.tile(tiles[made++ % tiles.length]!);
  while (performance.now() < until);
  return Math.min(made, tiles.length);
}

/** Makes all tiles, again and again for `leastMs`; returns the mean microseconds of a tile. */
async function makeAll(
  contender: Contender,
  tiles: readonly Address[],
  leastMs: number,
): Promise<number> {
  const began = performance.now();
  let made = 0;
  do {
    for (const address of tiles) {
      const tile = contender.tile(address);
      // waiting for what is there already would count for those that are quick
      if (tile instanceof Promise) await tile;
    }
    made += tiles.length;
  } while (performance.now() - began < leastMs);
  return ((performance.now() - began) * 1000) / made;
}
