import { hash } from 'node:crypto';
import type { Dataset } from './dataset.js';
import type { Row } from './row.js';
import type { Tail } from './tail.js';

/** Two hashes of 32 bits. */
export interface Hash {
  readonly low: number;
  readonly high: number;
}

/**
 * Hashes the id and the time of creation of the first `count` of some rows: these two tell a record
 * from all others of one snapshot and one journal. Rows from the dataset's `count` on are rows of
 * the tail.
 */
export function hashRows(
  { byId, byCreatedAt, count: total }: Dataset,
  tail: Tail | undefined,
  rows: ArrayLike<Row>,
  count: number,
): Hash {
  let low = count;
  let high = ~count;
  for (let i = 0; i < count; i++) {
    const row = rows[i]!;
    const isOwn = row < total;
    const id = isOwn ? byId.keys[byId.ranks[row]!]! : tail!.id[row - total]!;
    const created = isOwn
      ? byCreatedAt.keys[byCreatedAt.ranks[row]!]!
      : tail!.createdAt[row - total]!;
    // the upper halves are small, and the same in nearly all rows
    const first = Math.imul(id | 0, 0x85ebca6b) ^ (created * 2 ** -32);
    const second = Math.imul(created | 0, 0xc2b2ae35) ^ (id * 2 ** -32);
    low = Math.imul(rotated(low ^ first), 0x9e3779b1) + second;
    high = Math.imul(rotated(high ^ second), 0x5f356495) + first;
  }
  return { low: low >>> 0, high: high >>> 0 };
}

/** Hashes bytes, piece by piece. */
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
