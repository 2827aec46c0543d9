import type { Row } from '../../dataset/row.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { type Edges, exactDifference, ROUNDING } from './edges.js';
import { ACROSS, INSIDE, OUTSIDE, type Overlap } from './overlap.js';

/** West, south, east and north, whole numbers of {@link UNITS_PER_DEGREE}. */
export type Corners = [west: number, south: number, east: number, north: number];

/** Looks that one takes as long as where edges are chosen for a smaller box. */
const NARROWING = 2;

/**
 * The edges of a polygon that touch a box, and all that the others mean for the points of the box.
 *
 * A place lies in a ring when an odd number of the ring's edges are met on the way from it to the
 * west. Those edges that don't touch the box are passed on its left side or not at all. Which of
 * them are passed changes with the latitude only at a vertex that such an edge shares with one that
 * touches the box: the two edges of any other vertex both begin or both end there. So one bit for
 * each ring, and at most one latitude for each near edge at which that bit changes, stand for all
 * the others.
 */
export class NearEdges {
  /** The box; without bounds at first. */
  readonly corners: Corners = [-Infinity, -Infinity, Infinity, Infinity];
  readonly #ends: Float64Array;
  // where `#ends` has each near edge, and the latitude from which on its bit is changed
  #places: Int32Array;
  #turns: Float64Array;
  // rings that have near edges: their numbers, the ends of their edges, and their bits
  readonly #rings: number[] = [];
  readonly #ringEnds: number[] = [];
  readonly #odd: number[] = [];
  /** Looks at an edge since the polygon was made. */
  readonly #looks: { count: number };

  private constructor(ends: Float64Array, looks: { count: number }, room: number) {
    this.#ends = ends;
    this.#looks = looks;
    this.#places = new Int32Array(room);
    this.#turns = new Float64Array(room);
  }

  /** All edges of a polygon, near everywhere. */
  static of({ ends, ringEnds }: Edges): NearEdges {
    const all = new NearEdges(ends, { count: 0 }, ends.length / 4);
    for (let edge = 0; edge < all.#places.length; edge++) all.#places[edge] = 4 * edge;
    all.#turns.fill(Infinity);
    for (const [ring, end] of ringEnds.entries()) {
      all.#rings.push(ring);
      all.#ringEnds.push(end);
      all.#odd.push(0);
    }
    return all;
  }

  /** The same polygon's, to be filled by {@link narrow}. */
  empty(): NearEdges {
    return new NearEdges(this.#ends, this.#looks, 0);
  }

  /** A copy that takes no more memory than it needs. */
  copy(): NearEdges {
    const copy = new NearEdges(this.#ends, this.#looks, 0);
    const count = this.#ringEnds.at(-1)!;
    copy.#places = this.#places.slice(0, count);
    copy.#turns = this.#turns.slice(0, count);
    copy.#rings.push(...this.#rings);
    copy.#ringEnds.push(...this.#ringEnds);
    copy.#odd.push(...this.#odd);
    for (let i = 0; i < 4; i++) copy.corners[i] = this.corners[i]!;
    return copy;
  }

  get looks(): number {
    return this.#looks.count;
  }

  /** Whether the box holds all of another one. */
  surrounds([west, south, east, north]: Corners): boolean {
    const [left, bottom, right, top] = this.corners;
    return west >= left && south >= bottom && east <= right && north <= top;
  }

  /** Whether the box is this one. */
  isAround([west, south, east, north]: Corners): boolean {
    const [left, bottom, right, top] = this.corners;
    return west === left && south === bottom && east === right && north === top;
  }

  /**
   * Finds out which of these edges touch a box within this one, and writes them to `target`.
   * Returns how the box lies to the polygon; `target` is of use only where that is ACROSS.
   */
  narrow(corners: Corners, target: NearEdges): Overlap {
    const [west, south, east, north] = corners;
    const ends = this.#ends;
    const places = this.#places;
    const turns = this.#turns;
    const count = this.#ringEnds.at(-1)!;
    if (target.#places.length < count) target.#grow(count);
    const nearPlaces = target.#places;
    const nearTurns = target.#turns;
    target.#rings.length = target.#ringEnds.length = target.#odd.length = 0;
    this.#looks.count += NARROWING * count;
    let from = 0;
    let end = 0;
    for (let part = 0; part < this.#rings.length; part++) {
      // edges are counted that are passed on the way from the box's south-western corner
      let odd = this.#odd[part]!;
      const first = end;
      const last = this.#ringEnds[part]!;
      for (let i = from; i < last; i++) {
        if (turns[i]! <= south) odd ^= 1;
        const place = places[i]!;
        const ay = ends[place + 1]!;
        const by = ends[place + 3]!;
        if (by < south || ay > north) continue;
        const ax = ends[place]!;
        const bx = ends[place + 2]!;
        if (ax > east && bx > east) continue;
        const isPassed = ay <= south && by > south ? 1 : 0;
        if (ax < west && bx < west) {
          odd ^= isPassed;
          continue;
        }
        // the box's corners that are farthest from the edge on its two sides
        const dx = bx - ax;
        const dy = by - ay;
        const a = dx * ((dx < 0 ? south : north) - ay);
        const b = dy * (west - ax);
        if (a - b < -ROUNDING * (Math.abs(a) + Math.abs(b))) {
          odd ^= isPassed;
          continue;
        }
        const c = dx * ((dx < 0 ? north : south) - ay);
        const d = dy * (east - ax);
        if (c - d > ROUNDING * (Math.abs(c) + Math.abs(d))) continue;
        nearPlaces[end] = place;
        // an end of the edge that lies west of the box
        const turn = ax < west && ay >= south ? ay : bx < west && by <= north ? by : Infinity;
        nearTurns[end++] = turn;
        if (turn <= south) odd ^= 1;
      }
      from = last;
      const ring = this.#rings[part]!;
      if (end > first) {
        target.#rings.push(ring);
        target.#ringEnds.push(end);
        target.#odd.push(odd);
      } else if (isOutside(ring, odd)) {
        return OUTSIDE;
      }
    }
    for (let i = 0; i < 4; i++) target.corners[i] = corners[i]!;
    return target.#rings.length === 0 ? INSIDE : ACROSS;
  }

  /** Whether the polygon holds a point of the box, as `Region.contains` takes it. */
  holds(coords: Float64Array, row: Row): boolean {
    const x = Math.round(coords[2 * row]! * UNITS_PER_DEGREE);
    const y = Math.round(coords[2 * row + 1]! * UNITS_PER_DEGREE);
    const ends = this.#ends;
    const places = this.#places;
    const turns = this.#turns;
    this.#looks.count += this.#ringEnds[this.#ringEnds.length - 1]!;
    let i = 0;
    for (let part = 0; part < this.#rings.length; part++) {
      let odd = this.#odd[part]!;
      let isOnEdge = false;
      const last = this.#ringEnds[part]!;
      for (; i < last; i++) {
        if (turns[i]! <= y) odd ^= 1;
        const place = places[i]!;
        const ay = ends[place + 1]!;
        const by = ends[place + 3]!;
        if (y < ay || y > by) continue;
        const ax = ends[place]!;
        const bx = ends[place + 2]!;
        if (y === by) {
          // its end, or anywhere on a horizontal one
          if (x <= bx && x >= (ay === by ? ax : bx)) isOnEdge = true;
          continue;
        }
        const left = (bx - ax) * (y - ay);
        const right = (by - ay) * (x - ax);
        let side = left - right;
        if (Math.abs(side) <= ROUNDING * (Math.abs(left) + Math.abs(right))) {
          side = exactDifference(bx - ax, y - ay, by - ay, x - ax);
          if (side === 0) isOnEdge = true;
        }
        if (side < 0) odd ^= 1;
      }
      // the edge of the first ring is inside, that of a hole is not in the hole
      const ring = this.#rings[part]!;
      if (!isOnEdge && isOutside(ring, odd)) return false;
    }
    return true;
  }

  /** Does what `Region.collect` does for rows in the box. */
  collect(coords: Float64Array, from: Row, to: Row, bounds: Int32Array, at: number): number {
    let end = at;
    for (let row = from; row < to; row++) {
      bounds[end] = row;
      bounds[end + 1] = row + 1;
      end += this.holds(coords, row) ? 2 : 0;
    }
    return end;
  }

  #grow(room: number): void {
    this.#places = new Int32Array(room);
    this.#turns = new Float64Array(room);
  }
}

/** Whether a place is not in the polygon for one ring: not in the first, or in a hole. */
function isOutside(ring: number, odd: number): boolean {
  return ring === 0 ? odd === 0 : odd === 1;
}
