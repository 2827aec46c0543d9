import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { type Corners, edgesOf, NearEdges } from './near-edges.js';
import { ACROSS, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';

/** Nanoseconds that a look at an edge takes, most of them for branches that are mispredicted. */
const LOOK = 8;

/** The area of the rings, moved east by `shift`, whole numbers of {@link UNITS_PER_DEGREE}. */
export function polygonRegion(rings: readonly Float64Array[], shift: number): Region {
  const frame = frameOf(rings[0]!, shift);
  let shape: Shape | undefined;
  const shapeOf = (): Shape => {
    shape ??= new Shape(rings, shift);
    return shape;
  };
  return {
    frame,
    overlap: (boxes, at) => shapeOf().overlap(boxes, at),
    contains: (coords, row) => shapeOf().contains(coords, row),
    collect: (coords, from, to, boxes, box, bounds, at) =>
      shapeOf().near(boxes, box).collect(coords, from, to, bounds, at),
    work: () => (shape === undefined ? 0 : shape.looks * LOOK),
  };
}

function frameOf(ring: Float64Array, shift: number): Box {
  const [west, south, east, north] = cornersOf(ring);
  return {
    west: (west + shift) / UNITS_PER_DEGREE,
    south: south / UNITS_PER_DEGREE,
    east: (east + shift) / UNITS_PER_DEGREE,
    north: north / UNITS_PER_DEGREE,
  };
}

/** A polygon that is being asked about boxes and points, and what it remembers of these. */
class Shape {
  readonly #all: NearEdges;
  readonly #frame: Corners;
  /** Boxes that are ACROSS, each within the one before it: a search goes from large to small. */
  readonly #stack: NearEdges[];
  #top = 0;
  readonly #box: Corners = [0, 0, 0, 0];

  constructor(rings: readonly Float64Array[], shift: number) {
    const edges = edgesOf(rings, shift);
    this.#all = NearEdges.of(edges);
    this.#stack = [this.#all];
    this.#frame = cornersOf(edges.ends.subarray(0, 4 * edges.ringEnds[0]!));
  }

  get looks(): number {
    return this.#all.looks;
  }

  overlap(boxes: Float64Array, at: number): Overlap {
    const box = this.#box;
    for (let i = 0; i < 4; i++) box[i] = Math.round(boxes[at + i]! * UNITS_PER_DEGREE);
    const [west, south, east, north] = this.#frame;
    if (box[0] > east || box[2] < west || box[1] > north || box[3] < south) return OUTSIDE;
    while (!this.#stack[this.#top]!.surrounds(box)) this.#top--;
    const top = this.#stack[this.#top]!;
    if (top.isAround(box)) return ACROSS;
    if (box[0] === box[2] && box[1] === box[3]) {
      // points that share a place
      return top.holds(boxes, at / 2) ? INSIDE : OUTSIDE;
    }
    this.#stack[this.#top + 1] ??= this.#all.empty();
    const overlap = top.narrow(box, this.#stack[this.#top + 1]!);
    if (overlap === ACROSS) this.#top++;
    return overlap;
  }

  /** The edges that decide about the points of a box. */
  near(boxes: Float64Array, at: number): NearEdges {
    this.overlap(boxes, at);
    return this.#stack[this.#top]!;
  }

  contains(coords: Float64Array, row: Row): boolean {
    const x = Math.round(coords[2 * row]! * UNITS_PER_DEGREE);
    const y = Math.round(coords[2 * row + 1]! * UNITS_PER_DEGREE);
    const [west, south, east, north] = this.#frame;
    if (x < west || x > east || y < south || y > north) return false;
    return this.#all.holds(coords, row);
  }
}

function cornersOf(places: Float64Array): Corners {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < places.length; i += 2) {
    west = Math.min(west, places[i]!);
    south = Math.min(south, places[i + 1]!);
    east = Math.max(east, places[i]!);
    north = Math.max(north, places[i + 1]!);
  }
  return [west, south, east, north];
}
