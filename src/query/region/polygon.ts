import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { type Corners, edgesOf, NearEdges } from './near-edges.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';

/** Nanoseconds that a look at an edge takes, most of them for branches that are mispredicted. */
const LOOK = 8;

/**
 * The area of the rings, moved east by `shift`, whole numbers of {@link UNITS_PER_DEGREE}; and what
 * it remembers of the boxes that it was asked about.
 */
export class PolygonRegion implements Region {
  readonly frame: Box;
  readonly #all: NearEdges;
  readonly #corners: Corners;
  /** Boxes that are ACROSS, each within the one before it: a search goes from large to small. */
  readonly #stack: NearEdges[];
  #top = 0;
  readonly #box: Corners = [0, 0, 0, 0];

  constructor(rings: readonly Float64Array[], shift: number) {
    const edges = edgesOf(rings, shift);
    this.#all = NearEdges.of(edges);
    this.#stack = [this.#all];
    const corners = cornersOf(edges.ends.subarray(0, 4 * edges.ringEnds[0]!));
    this.#corners = corners;
    const [west, south, east, north] = corners.map((units) => units / UNITS_PER_DEGREE) as Corners;
    this.frame = { west, south, east, north };
  }

  work(): number {
    return this.#all.looks * LOOK;
  }

  overlap(boxes: Float64Array, at: number): Overlap {
    const box = this.#box;
    for (let i = 0; i < 4; i++) box[i] = Math.round(boxes[at + i]! * UNITS_PER_DEGREE);
    const [west, south, east, north] = this.#corners;
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

  collect(
    coords: Float64Array,
    from: Row,
    to: Row,
    boxes: Float64Array,
    box: number,
    bounds: Int32Array,
    at: number,
  ): number {
    // leaves the edges that decide about the points of the box on top
    this.overlap(boxes, box);
    const near = this.#stack[this.#top]!;
    const contains: Region['contains'] = (all, row) => near.holds(all, row);
    return collectEach(contains, coords, from, to, boxes, box, bounds, at);
  }

  contains(coords: Float64Array, row: Row): boolean {
    const x = Math.round(coords[2 * row]! * UNITS_PER_DEGREE);
    const y = Math.round(coords[2 * row + 1]! * UNITS_PER_DEGREE);
    const [west, south, east, north] = this.#corners;
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
