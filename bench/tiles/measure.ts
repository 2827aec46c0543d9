import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import type { Address } from './cases.js';
import type { Contender } from './contender.js';

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
const LEAST_MS = 60;
/** From this time on no more tiles are begun; all contenders then make those that were. */
const MOST_MS = 600;

/**
 * Measures the mean time of a tile, in rounds in which all contenders take their turn, the first of
 * them being ours. A first round, in which caches and code get warm, says how many of the tiles the
 * slowest contender can make.
 */
export async function measureTiles(
  contenders: readonly Contender[],
  all: readonly Address[],
  rounds: number,
  isSmoke: boolean,
): Promise<Timed[]> {
  let tiles = all;
  for (const contender of contenders) {
    const made = await makeUntil(contender, tiles, isSmoke ? 0 : MOST_MS);
    tiles = tiles.slice(0, made);
  }
  const micros = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const leastMs = isSmoke ? 0 : LEAST_MS;
      const turn = contender.turn?.(tiles, leastMs) ?? makeAll(contender, tiles, leastMs);
      micros[i]!.push(await turn);
    }
  }
  return contenders.map(({ name }, i) => ({
    contender: name,
    tiles: tiles.length,
    micros: spreadOf(micros[i]!),
    toOurs: ratiosOf(micros[i]!, micros[0]!),
  }));
}

/** Makes tiles until `millis` are over; returns how many, one at least. */
async function makeUntil(
  contender: Contender,
  tiles: readonly Address[],
  millis: number,
): Promise<number> {
  const until = performance.now() + millis;
  let made = 0;
  do await contender.tile(tiles[made++]!);
  while (made < tiles.length && performance.now() < until);
  return made;
}

/** Makes all tiles, again and again for `leastMs`; returns the mean microseconds of a tile. */
export async function makeAll(
  contender: Pick<Contender, 'tile'>,
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
