import { hash } from 'node:crypto';
import type { Row } from './order.js';
import { sharedArray } from './shared-array.js';

export interface Hash {
  readonly low: number;
  readonly high: number;
}

interface Hashed {
  readonly rowHashes: Int32Array;
}

/**
 * Two hashes of 32 bits of each row's id and time of creation, which tell a record from all others
 * of one snapshot and one journal: 8 bytes a row. A page would look in four places for each row.
 */
export function rowHashesOf(ids: Float64Array, createdAt: Float64Array): Int32Array {
  const hashes = sharedArray(Int32Array, 2 * ids.length);
  for (let row = 0; row < ids.length; row++) putRowHash(hashes, row, ids[row]!, createdAt[row]!);
  return hashes;
}

export function putRowHash(hashes: Int32Array, row: number, id: number, created: number): void {
  // the upper halves are small, and the same in nearly all rows
  hashes[2 * row] = Math.imul(id | 0, 0x85ebca6b) ^ (created * 2 ** -32);
  hashes[2 * row + 1] = Math.imul(created | 0, 0xc2b2ae35) ^ (id * 2 ** -32);
}

/** Hashes the first `count` of some rows, of which those of the delta come behind the dataset's. */
export function hashRows(
  { count: total, rowHashes }: Hashed & { readonly count: number },
  delta: Hashed | undefined,
  rows: ArrayLike<Row>,
  count: number,
): Hash {
  let low = count;
  let high = ~count;
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const isOwn = row < total;
    const hashes = isOwn ? rowHashes : delta!.rowHashes;
    const at = 2 * (isOwn ? row : row - total);
    const first = hashes[at]!;
    const second = hashes[at + 1]!;
    low = (Math.imul(rotated(low ^ first), 0x9e3779b1) + second) | 0;
    high = (Math.imul(rotated(high ^ second), 0x5f356495) + first) | 0;
  }
  return { low: low >>> 0, high: high >>> 0 };
}

export function hashBytes(pieces: readonly Uint8Array[]): Hash {
  let low = pieces.length;
  let high = ~low;
  for (const piece of pieces) {
    const digest = hash('sha256', piece, 'buffer');
    low = Math.imul(rotated(low), 0x9e3779b1) ^ digest.readInt32LE(0);
    high = Math.imul(rotated(high), 0x5f356495) ^ digest.readInt32LE(4);
  }
  return { low: low >>> 0, high: high >>> 0 };
}

/** A product's lowest bits depend on the lowest bits of its factors alone. */
function rotated(bits: number): number {
  return (bits << 15) | (bits >>> 17);
}

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
