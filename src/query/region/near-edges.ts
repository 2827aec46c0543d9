import type { Row } from '../../index/order.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { ACROSS, INSIDE, OUTSIDE, type Overlap } from './overlap.js';

/** West, south, east and north, whole numbers of {@link UNITS_PER_DEGREE}. */
export type Corners = [west: number, south: number, east: number, north: number];

/** The cost of choosing an edge for a smaller box, in tests of a point against an edge. */
const NARROWING = 2;

/**
 * The edges of a polygon that decide about the points of a box, called near, and the parity of all
 * other edges: with these a point of the box is tested without the whole polygon.
 *
 * The test is the even-odd rule: a point lies in a ring when a ray from it to the west crosses an
 * odd number of the ring's edges. Edges east, north or south of the box are crossed by no ray.
 * Edges west of the box that reach from its southern side to its northern one are crossed by the
 * rays of all its points: only their parity matters, one bit a ring.
 */
export class NearEdges {
  /** The box; everywhere at first. */
  readonly corners: Corners = [-Infinity, -Infinity, Infinity, Infinity];
  readonly #ends: Float64Array;
  // the place of each near edge in `#ends`
  #places: Int32Array;
  // of each ring with near edges: its number, the end of its edges in `#places`, and its parity
  readonly #rings: number[] = [];
  readonly #ringEnds: number[] = [];
  readonly #odd: number[] = [];
  /** Looks at edges so far, shared by all of one polygon. */
  readonly #looks: { count: number };

  private constructor(ends: Float64Array, looks: { count: number }, room: number) {
    this.#ends = ends;
    this.#looks = looks;
    this.#places = new Int32Array(room);
  }

  static of({ ends, ringEnds }: Edges): NearEdges {
    const all = new NearEdges(ends, { count: 0 }, ends.length / 4);
    for (let edge = 0; edge < all.#places.length; edge++) all.#places[edge] = 4 * edge;
    for (const [ring, end] of ringEnds.entries()) {
      all.#rings.push(ring);
      all.#ringEnds.push(end);
      all.#odd.push(0);
    }
    return all;
  }

  /** Near edges of the same polygon, for {@link narrow} to fill. */
  empty(): NearEdges {
    return new NearEdges(this.#ends, this.#looks, 0);
  }

  get looks(): number {
    return this.#looks.count;
  }

  surrounds([west, south, east, north]: Corners): boolean {
    const [left, bottom, right, top] = this.corners;
    return west >= left && south >= bottom && east <= right && north <= top;
  }

  isAround([west, south, east, north]: Corners): boolean {
    const [left, bottom, right, top] = this.corners;
    return west === left && south === bottom && east === right && north === top;
  }

  /**
   * Writes those of the edges to `target` that are near to a box within this one. Returns how the
   * box lies to the polygon; `target` is valid only where that is ACROSS.
   */
  narrow(corners: Corners, target: NearEdges): Overlap {
    const [west, south, east, north] = corners;
    const ends = this.#ends;
    const places = this.#places;
    const count = this.#ringEnds.at(-1)!;
    if (target.#places.length < count) target.#places = new Int32Array(count);
    const nearPlaces = target.#places;
    target.#rings.length = target.#ringEnds.length = target.#odd.length = 0;
    this.#looks.count += NARROWING * count;
    let from = 0;
    let end = 0;
    for (let part = 0; part < this.#rings.length; part++) {
      let odd = this.#odd[part]!;
      // parity of the kept edges that the ray from the box's south-western corner crosses
      let kept = 0;
      let touches = false;
      const first = end;
      const last = this.#ringEnds[part]!;
      for (let i = from; i < last; i++) {
        const place = places[i]!;
        const ay = ends[place + 1]!;
        const by = ends[place + 3]!;
        if (by < south || ay > north) continue;
        const ax = ends[place]!;
        const bx = ends[place + 2]!;
        if (ax > east && bx > east) continue;
        // cross products with the box's farthest corners on both sides of the edge
        const dx = bx - ax;
        const dy = by - ay;
        const a = dx * ((dx < 0 ? south : north) - ay);
        const b = dy * (west - ax);
        const c = dx * ((dx < 0 ? north : south) - ay);
        const d = dy * (east - ax);
        if (c - d > ROUNDING * (Math.abs(c) + Math.abs(d))) continue;
        const isWest = (ax < west && bx < west) || a - b < -ROUNDING * (Math.abs(a) + Math.abs(b));
        if (isWest && ay <= south && by > north) {
          odd ^= 1;
          continue;
        }
        if (!isWest) touches = true;
        else if (ay <= south && by > south) kept ^= 1;
        nearPlaces[end++] = place;
      }
      from = last;
      const ring = this.#rings[part]!;
      if (touches) {
        target.#rings.push(ring);
        target.#ringEnds.push(end);
        target.#odd.push(odd);
      } else {
        end = first;
        if (isOutside(ring, odd ^ kept)) return OUTSIDE;
      }
    }
    for (let i = 0; i < 4; i++) target.corners[i] = corners[i]!;
    return target.#rings.length === 0 ? INSIDE : ACROSS;
  }

  /** Whether the polygon holds a point of the box. */
  holds(coords: Float64Array, row: Row): boolean {
    const x = Math.round(coords[2 * row]! * UNITS_PER_DEGREE);
    const y = Math.round(coords[2 * row + 1]! * UNITS_PER_DEGREE);
    const ends = this.#ends;
    const places = this.#places;
    this.#looks.count += this.#ringEnds[this.#ringEnds.length - 1]!;
    let i = 0;
    for (let part = 0; part < this.#rings.length; part++) {
      let odd = this.#odd[part]!;
      let isOnEdge = false;
      const last = this.#ringEnds[part]!;
      for (; i < last; i++) {
        const place = places[i]!;
        const ay = ends[place + 1]!;
        const by = ends[place + 3]!;
        if (y < ay || y > by) continue;
        const ax = ends[place]!;
        const bx = ends[place + 2]!;
        if (y === by) {
          // the end of the edge, or any place on a horizontal one
          if (x <= bx && x >= (ay === by ? ax : bx)) isOnEdge = true;
          continue;
        }
        const left = (bx - ax) * (y - ay);
        const right = (by - ay) * (x - ax);
        let side = left - right;
        if (Math.abs(side) <= ROUNDING * (Math.abs(left) + Math.abs(right))) {
          side = exactDifference(bx - ax, y - ay, by - ay, x - ax);
          this.#looks.count += EXACT;
          if (side === 0) isOnEdge = true;
        }
        if (side < 0) odd ^= 1;
      }
      // a point on an edge is inside: in the first ring, and not in a hole
      const ring = this.#rings[part]!;
      if (!isOnEdge && isOutside(ring, odd)) return false;
    }
    return true;
  }
}

/** Whether a parity means outside of the first ring, or inside of a hole. */
function isOutside(ring: number, odd: number): boolean {
  return ring === 0 ? odd === 0 : odd === 1;
}

/** The edges of a polygon, ring by ring, from south to north, horizontal ones from west to east. */
interface Edges {
  /** Longitude and latitude of each edge's start, then of its end; whole numbers. */
  readonly ends: Float64Array;
  /** The end of each ring's edges. */
  readonly ringEnds: readonly number[];
}

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

/** A difference of products above this share of their sum has the right sign. */
const ROUNDING = 4e-16;
/** The cost of an exact difference, in tests of a point against an edge. */
const EXACT = 50;

/** `a * b - c * d` of whole numbers, with the right sign. */
function exactDifference(a: number, b: number, c: number, d: number): number {
  return Number(BigInt(a) * BigInt(b) - BigInt(c) * BigInt(d));
}
