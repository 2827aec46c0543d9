/**
 * The edges of a polygon's rings, ring by ring. Each leads upwards, from south to north, and a
 * horizontal one from west to east: which way the ring was drawn makes no difference.
 */
export interface Edges {
  /** Longitude and latitude where an edge begins, then where it ends; whole numbers. */
  readonly ends: Float64Array;
  /** Behind the last edge of each ring. */
  readonly ringEnds: readonly number[];
}

/** Makes the edges of rings, moved east by `shift`. */
export function edgesOf(rings: readonly Float64Array[], shift: number): Edges {
  const places = rings.reduce((sum, ring) => sum + ring.length / 2, 0);
  const ends = new Float64Array(4 * places);
  const ringEnds: number[] = [];
  let at = 0;
  for (const ring of rings) {
    let lastX = ring.at(-2)! + shift;
    let lastY = ring.at(-1)!;
    for (let i = 0; i < ring.length; i += 2) {
      const x = ring[i]! + shift;
      const y = ring[i + 1]!;
      const isUpwards = lastY < y || (lastY === y && lastX <= x);
      ends[at] = isUpwards ? lastX : x;
      ends[at + 1] = isUpwards ? lastY : y;
      ends[at + 2] = isUpwards ? x : lastX;
      ends[at + 3] = isUpwards ? y : lastY;
      at += 4;
      lastX = x;
      lastY = y;
    }
    ringEnds.push(at / 4);
  }
  return { ends, ringEnds };
}

/**
 * A difference of two products is surely not 0, and its sign is right, where it is larger than this
 * share of their sum.
 */
export const ROUNDING = 4e-16;

/**
 * `a * b - c * d` to the last bit, where rounding could decide about its sign. The factors are
 * whole numbers below 2^38. The two products are nearly equal then, so that their difference is
 * exact, and what rounding took from each of them is a double, too.
 */
export function exactDifference(a: number, b: number, c: number, d: number): number {
  const left = a * b;
  const right = c * d;
  return left - right + (roundedOff(a, b, left) - roundedOff(c, d, right));
}

/** Splits a double into halves of 26 bits. */
const SPLITTER = 2 ** 27 + 1;

/** What the product of two factors is larger than `product`, which was rounded. */
function roundedOff(a: number, b: number, product: number): number {
  const largeA = SPLITTER * a - (SPLITTER * a - a);
  const largeB = SPLITTER * b - (SPLITTER * b - b);
  const smallA = a - largeA;
  const smallB = b - largeB;
  return largeA * largeB - product + largeA * smallB + smallA * largeB + smallA * smallB;
}
