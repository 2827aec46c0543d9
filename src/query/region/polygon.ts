import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';

/** Nanoseconds that a look at an edge takes, most of them for branches that are mispredicted. */
const LOOK = 8;
/** Stretches of latitude that a polygon is cut into: two for each edge, and no more than these. */
const MOST_BANDS = 512;

/** The area of the rings, moved east by `shift`, whole numbers of {@link UNITS_PER_DEGREE}. */
export function polygonRegion(rings: readonly Float64Array[], shift: number): Region {
  const { west, south, east, north } = frameOf(rings[0]!, shift);
  const frame: Box = {
    west: west / UNITS_PER_DEGREE,
    south: south / UNITS_PER_DEGREE,
    east: east / UNITS_PER_DEGREE,
    north: north / UNITS_PER_DEGREE,
  };
  let shape: Shape | undefined;
  const shapeOf = (): Shape => {
    shape ??= new Shape(rings, shift);
    return shape;
  };
  const contains: Region['contains'] = (coords, row) => shapeOf().holds(coords, row);
  return {
    frame,
    contains,
    overlap: (boxes, at) => shapeOf().overlap(boxes, at),
    collect: (...range) => collectEach(contains, ...range),
    work: () => (shape === undefined ? 0 : shape.looks * LOOK),
  };
}

/**
 * The edges of a polygon, by bands of latitude: with those of a band, ring by ring, a point of the
 * band is tested without a look at the whole polygon. Each edge leads upwards, from south to north,
 * and a horizontal one from west to east: which way the ring was drawn makes no difference.
 */
class Shape {
  /** Looks at an edge so far. */
  looks = 0;
  /** By edge: longitude and latitude where it begins, then where it ends; and its ring. */
  readonly #ends: Float64Array;
  readonly #rings: Uint16Array;
  /** The edges of each band, end to end, and where those of a band begin. */
  readonly #edges: Uint16Array;
  readonly #starts: Uint32Array;
  readonly #bands: number;
  /** Of the first ring, in units. */
  readonly #frame: Box;

  constructor(rings: readonly Float64Array[], shift: number) {
    const count = rings.reduce((sum, ring) => sum + ring.length / 2, 0);
    this.#ends = new Float64Array(4 * count);
    this.#rings = new Uint16Array(count);
    let edge = 0;
    for (const [number, ring] of rings.entries()) {
      for (let i = 0; i < ring.length; i += 2) {
        const before = (i === 0 ? ring.length : i) - 2;
        const [ax, ay] = [ring[before]! + shift, ring[before + 1]!];
        const [bx, by] = [ring[i]! + shift, ring[i + 1]!];
        const isUpwards = ay < by || (ay === by && ax <= bx);
        this.#ends.set(isUpwards ? [ax, ay, bx, by] : [bx, by, ax, ay], 4 * edge);
        this.#rings[edge++] = number;
      }
    }
    this.#frame = frameOf(rings[0]!, shift);
    this.#bands = Math.min(2 * count, MOST_BANDS);
    const starts = new Uint32Array(this.#bands + 1);
    this.#starts = starts;
    this.#eachBand((band) => starts[band + 1]!++);
    for (let band = 0; band < this.#bands; band++) starts[band + 1]! += starts[band]!;
    this.#edges = new Uint16Array(starts[this.#bands]!);
    const next = starts.slice();
    this.#eachBand((band, one) => {
      this.#edges[next[band]!++] = one;
    });
    this.looks += this.#edges.length;
  }

  /** Visits each edge with each of its bands. */
  #eachBand(visit: (band: number, edge: number) => void): void {
    for (let edge = 0; edge < this.#rings.length; edge++) {
      const last = this.#bandOf(this.#ends[4 * edge + 3]!);
      for (let band = this.#bandOf(this.#ends[4 * edge + 1]!); band <= last; band++) {
        visit(band, edge);
      }
    }
  }

  /** What lies south or north of all bands counts to the first or the last. */
  #bandOf(y: number): number {
    const { south, north } = this.#frame;
    const band = Math.floor(((y - south) * this.#bands) / Math.max(1, north - south));
    return Math.max(0, Math.min(band, this.#bands - 1));
  }

  overlap(boxes: Float64Array, at: number): Overlap {
    const west = unitsOf(boxes[at]!);
    const south = unitsOf(boxes[at + 1]!);
    const east = unitsOf(boxes[at + 2]!);
    const north = unitsOf(boxes[at + 3]!);
    const frame = this.#frame;
    if (west > frame.east || east < frame.west) return OUTSIDE;
    if (south > frame.north || north < frame.south) return OUTSIDE;
    const from = this.#starts[this.#bandOf(south)]!;
    const to = this.#starts[this.#bandOf(north) + 1]!;
    // one of a single place lies on one side, also where an edge goes through it
    if (west < east || south < north) {
      for (let i = from; i < to; i++) {
        if (!this.#touches(4 * this.#edges[i]!, west, south, east, north)) continue;
        this.looks += i - from;
        return ACROSS;
      }
      this.looks += to - from;
    }
    return this.#holds(west, south) ? INSIDE : OUTSIDE;
  }

  /** Whether the edge at a place of the ends touches a box; rounding may say so of one beside it. */
  #touches(place: number, west: number, south: number, east: number, north: number): boolean {
    const ends = this.#ends;
    const ay = ends[place + 1]!;
    const by = ends[place + 3]!;
    if (by < south || ay > north) return false;
    const ax = ends[place]!;
    const bx = ends[place + 2]!;
    if ((ax > east && bx > east) || (ax < west && bx < west)) return false;
    // the box's corners that are farthest from the edge on its two sides
    const dx = bx - ax;
    const dy = by - ay;
    const a = dx * ((dx < 0 ? south : north) - ay);
    const b = dy * (west - ax);
    if (a - b < -ROUNDING * (Math.abs(a) + Math.abs(b))) return false;
    const c = dx * ((dx < 0 ? north : south) - ay);
    const d = dy * (east - ax);
    return c - d <= ROUNDING * (Math.abs(c) + Math.abs(d));
  }

  /** Whether the polygon holds a point, as `Region.contains` takes it. */
  holds(coords: Float64Array, row: Row): boolean {
    const x = unitsOf(coords[2 * row]!);
    const y = unitsOf(coords[2 * row + 1]!);
    const { west, south, east, north } = this.#frame;
    if (x < west || x > east || y < south || y > north) return false;
    return this.#holds(x, y);
  }

  /**
   * The even-odd rule: a ray from a point to the west crosses an odd number of a ring's edges when
   * the point lies in the ring. The edge of the first ring is inside, that of a hole is not in it.
   */
  #holds(x: number, y: number): boolean {
    const [ends, edges, rings] = [this.#ends, this.#edges, this.#rings];
    const band = this.#bandOf(y);
    const from = this.#starts[band]!;
    const to = this.#starts[band + 1]!;
    this.looks += to - from;
    let ring = 0;
    let odd = 0;
    let isOnEdge = false;
    for (let i = from; i < to; i++) {
      const edge = edges[i]!;
      if (rings[edge] !== ring) {
        if (!isOnEdge && isOutside(ring, odd)) return false;
        ring = rings[edge]!;
        odd = 0;
        isOnEdge = false;
      }
      const ay = ends[4 * edge + 1]!;
      const by = ends[4 * edge + 3]!;
      if (y < ay || y > by) continue;
      const ax = ends[4 * edge]!;
      const bx = ends[4 * edge + 2]!;
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
    return isOnEdge || !isOutside(ring, odd);
  }
}

/** Whether a place is not in the polygon for one ring: not in the first, or in a hole. */
function isOutside(ring: number, odd: number): boolean {
  return ring === 0 ? odd === 0 : odd === 1;
}

function unitsOf(degrees: number): number {
  return Math.round(degrees * UNITS_PER_DEGREE);
}

/** The frame of a ring that is moved east by `shift`, in units. */
function frameOf(ring: Float64Array, shift: number): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i]! + shift);
    south = Math.min(south, ring[i + 1]!);
    east = Math.max(east, ring[i]! + shift);
    north = Math.max(north, ring[i + 1]!);
  }
  return { west, south, east, north };
}

/** A difference of products has the right sign where it is above this share of their sum. */
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
