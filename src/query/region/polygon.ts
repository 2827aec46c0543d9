import type { Row } from '../../index/order.js';
import type { Box } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { type Corners, edgesOf, NearEdges } from './near-edges.js';
import { ACROSS, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';

/** Nanoseconds that a look at an edge takes, most of them for branches that are mispredicted. */
const LOOK = 8;
/** So many rows for each edge are tested in less time than a search takes where edges are long. */
const ROWS_PER_EDGE = 4;
const LEAST_ROWS = 256;
/** Most strips of a frame, and most cells of a strip, that single points are tested in. */
const MOST_CELLS = 32;

/** The area of the rings, moved east by `shift`, whole numbers of {@link UNITS_PER_DEGREE}. */
export function polygonRegion(rings: readonly Float64Array[], shift: number): Region {
  const frame = frameOf(rings[0]!, shift);
  let shape: Shape | undefined;
  const shapeOf = (): Shape => {
    shape ??= new Shape(rings, shift);
    return shape;
  };
  const edges = rings.reduce((sum, ring) => sum + ring.length / 2, 0);
  return {
    frame,
    fewRows: Math.max(LEAST_ROWS, ROWS_PER_EDGE * edges),
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

/** What is known of a part of the map: all of its points lie alike, or the edges that decide. */
type Part = typeof INSIDE | typeof OUTSIDE | NearEdges;

/** A polygon that is being asked about boxes and points, and what it remembers of these. */
class Shape {
  readonly #all: NearEdges;
  readonly #frame: Corners;
  /** Boxes that are ACROSS, each within the one before it: a search goes from large to small. */
  readonly #stack: NearEdges[];
  #top = 0;
  readonly #box: Corners = [0, 0, 0, 0];
  // single points come in any order: the frame is cut into strips, and these into cells
  readonly #cellCount: number;
  readonly #cellWidth: number;
  readonly #cellHeight: number;
  #part: NearEdges | undefined;
  readonly #strips: (Part | undefined)[] = [];
  readonly #cells: (Part | undefined)[] = [];

  constructor(rings: readonly Float64Array[], shift: number) {
    const edges = edgesOf(rings, shift);
    this.#all = NearEdges.of(edges);
    this.#stack = [this.#all];
    this.#frame = cornersOf(edges.ends.subarray(0, 4 * edges.ringEnds[0]!));
    const [west, south, east, north] = this.#frame;
    const count = Math.min(MOST_CELLS, Math.ceil(Math.sqrt(edges.ends.length / 8)));
    this.#cellCount = count;
    this.#cellWidth = Math.ceil((east - west + 1) / count);
    this.#cellHeight = Math.ceil((north - south + 1) / count);
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
    const part = this.#partAround(x - west, y - south);
    return typeof part === 'number' ? part === INSIDE : part.holds(coords, row);
  }

  /** The cell that holds a place, counted from the frame's south-western corner. */
  #partAround(x: number, y: number): Part {
    const count = this.#cellCount;
    const column = Math.floor(x / this.#cellWidth);
    const line = Math.floor(y / this.#cellHeight);
    const known = this.#cells[line * count + column];
    if (known !== undefined) return known;
    const [west, south, east] = this.#frame;
    const left = west + column * this.#cellWidth;
    const bottom = south + line * this.#cellHeight;
    const top = bottom + this.#cellHeight - 1;
    this.#strips[line] ??= this.#partOf(this.#all, [west, bottom, east, top]);
    const strip = this.#strips[line]!;
    const cell: Corners = [left, bottom, Math.min(left + this.#cellWidth - 1, east), top];
    const part = typeof strip === 'number' ? strip : this.#partOf(strip, cell);
    this.#cells[line * count + column] = part;
    return part;
  }

  #partOf(whole: NearEdges, box: Corners): Part {
    this.#part ??= this.#all.empty();
    const overlap = whole.narrow(box, this.#part);
    return overlap === ACROSS ? this.#part.copy() : overlap;
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
