import { BITS_PER_SPAN, type Scratch, SPAN_SHIFT } from './scratch.js';

/**
 * Picks a window of the smallest ranks: of `count` distinct ranks in `scratch.matches`, those at places
 * `from` to `to - 1` in ascending order, written to the front of `out`. `domain` is the number of ranks
 * there are. Overwrites the matches.
 */
export function selectRanks(
  scratch: Scratch,
  count: number,
  domain: number,
  from: number,
  to: number,
  out: Uint32Array,
): void {
  if (sortIsCheaper(count, domain)) {
    const ranks = scratch.matches.subarray(0, count).sort();
    for (let i = from; i < to; i++) out[i - from] = ranks[i]!;
  } else {
    selectByBits(scratch, count, from, to, out);
  }
}

/** Sorting costs some 40 ns a rank, marking 3 ns a rank and a walk over the bitmap. */
function sortIsCheaper(count: number, domain: number): boolean {
  return count < 64 || count * 37 < domain / 32;
}

/** Ranks are distinct and bounded: marking them in a bitmap sorts them without a comparison. */
function selectByBits(
  { matches, bits, spans }: Scratch,
  count: number,
  from: number,
  to: number,
  out: Uint32Array,
): void {
  for (let i = 0; i < count; i++) {
    const rank = matches[i]!;
    bits[rank >>> 5]! |= 1 << (rank & 31);
    spans[rank >>> SPAN_SHIFT]!++;
  }
  let span = 0;
  let before = 0;
  while (before + spans[span]! <= from) before += spans[span++]!;

  let place = before;
  for (let word = (span * BITS_PER_SPAN) >>> 5; place < to; word++) {
    for (let rest = bits[word]!; rest !== 0 && place < to; rest &= rest - 1) {
      if (place >= from) out[place - from] = (word << 5) + (31 - Math.clz32(rest & -rest));
      place++;
    }
  }
  bits.fill(0);
  spans.fill(0);
}
