import { sharedArray } from '../common-array.js';

/** Values of the upper half of a hash, by which points are thinned out. */
export const THINNING_VALUES: number = 1 << 16;

/**
 * A number of 32 bits that looks like chance: of many points those with the least numbers are kept.
 * Ids below 2^32 have a number each.
 */
export function hashId(id: number): number {
  let hash = (id >>> 0) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The upper half of each row's hash; 2 bytes a row, and some 5 ns to make. */
export function thinningOf(ids: Float64Array): Uint16Array {
  const halves = sharedArray(Uint16Array, ids.length);
  for (let row = 0; row < ids.length; row++) halves[row] = hashId(ids[row]!) >>> 16;
  return halves;
}
