import type { Row } from '../../index/order.js';

export function bitOf(bits: Int32Array, row: Row): number {
  return (bits[row >>> 5]! >>> (row & 31)) & 1;
}

export function markRows(bits: Int32Array, rows: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    bits[row >>> 5]! |= 1 << (row & 31);
  }
}

/** Sets the bits of rows `from` to `to - 1`, whole words at a time. */
export function markRun(bits: Int32Array, from: Row, to: Row): void {
  const first = from >>> 5;
  const last = (to - 1) >>> 5;
  const head = -1 << (from & 31);
  const delta = -1 >>> (31 - ((to - 1) & 31));
  if (first === last) {
    bits[first]! |= head & delta;
    return;
  }
  bits[first]! |= head;
  bits.fill(-1, first + 1, last);
  bits[last]! |= delta;
}

/** Lists the marked rows of `from` to `to - 1` from `at` on; returns where the list ends. */
export function listMarked(
  bits: Int32Array,
  list: Int32Array,
  at: number,
  from: Row,
  to: Row,
): number {
  let end = at;
  for (let row = from; row < to; ) {
    const word = row >>> 5;
    for (let rest = wordWithin(bits, word, from, to); rest !== 0; rest &= rest - 1) {
      list[end++] = (word << 5) + (31 - Math.clz32(rest & -rest));
    }
    row = (word + 1) << 5;
  }
  return end;
}

/** A word of the bits, without rows below `from` and from `to` on. */
export function wordWithin(bits: Int32Array, word: number, from: Row, to: Row): number {
  let set = bits[word]!;
  const first = word << 5;
  if (first < from) set &= -1 << (from - first);
  if (first + 32 > to) set &= -1 >>> (first + 32 - to);
  return set;
}
