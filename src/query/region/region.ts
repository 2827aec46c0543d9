import { boxAround } from '../../index/blocks.js';
import type { Row } from '../../index/order.js';
import { type Box, type Filters, type Polygon, sectionOf } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { circleRegion } from './circle.js';
import { type Corners, edgesOf, NearEdges } from './near-edges.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';

/** The region of the filters; undefined where that is the whole map. */
export function regionOf({ boxes, circle, polygon }: Filters): Region | undefined {
  const regions: Region[] = [];
  if (boxes !== undefined) regions.push(boxes.map(boxRegion).reduce(eitherRegion));
  if (circle !== undefined) regions.push(circleRegion(circle));
  if (polygon !== undefined) regions.push(areaRegion(polygon));
  return regions.length === 0 ? undefined : regions.reduce(bothRegion);
}

const TURN = 360 * UNITS_PER_DEGREE;

function areaRegion({ rings, crosses }: Polygon): Region {
  const region = new PolygonRegion(rings, 0);
  return crosses ? eitherRegion(region, new PolygonRegion(rings, -TURN)) : region;
}

function boxRegion(box: Box): Region {
  const { west, south, east, north } = box;
  return {
    frame: box,

    overlap(boxes, at) {
      const minX = boxes[at]!;
      const minY = boxes[at + 1]!;
      const maxX = boxes[at + 2]!;
      const maxY = boxes[at + 3]!;
      if (minX > east || maxX < west || minY > north || maxY < south) return OUTSIDE;
      const inside = minX >= west && maxX <= east && minY >= south && maxY <= north;
      return inside ? INSIDE : ACROSS;
    },

    contains(coords, row) {
      const lon = coords[2 * row]!;
      const lat = coords[2 * row + 1]!;
      return lon >= west && lon <= east && lat >= south && lat <= north;
    },

    collect(coords, from, to, _boxes, _box, bounds, at) {
      // a closure's variables would be loaded anew for every row
      const [left, bottom, right, top] = [west, south, east, north];
      let end = at;
      for (let row = from; row < to; row++) {
        const lon = coords[2 * row]!;
        const lat = coords[2 * row + 1]!;
        // written in any case and overwritten: no branch is mispredicted
        bounds[end] = row;
        bounds[end + 1] = row + 1;
        const isWithin =
          Number(lon >= left) & Number(lon <= right) & Number(lat >= bottom) & Number(lat <= top);
        end += 2 * isWithin;
      }
      return end;
    },

    work: () => 0,
  };
}

/** The union of two regions that overlap on their edges at most. */
function eitherRegion(a: Region, b: Region): Region {
  const contains: Region['contains'] = (coords, row) =>
    a.contains(coords, row) || b.contains(coords, row);
  return pairRegion(a, b, OUTSIDE, contains, {
    west: Math.min(a.frame.west, b.frame.west),
    south: Math.min(a.frame.south, b.frame.south),
    east: Math.max(a.frame.east, b.frame.east),
    north: Math.max(a.frame.north, b.frame.north),
  });
}

function bothRegion(a: Region, b: Region): Region {
  const contains: Region['contains'] = (coords, row) =>
    a.contains(coords, row) && b.contains(coords, row);
  return pairRegion(a, b, INSIDE, contains, sectionOf(a.frame, b.frame));
}

/** A region of two. Where a box is `neutral` to one, the other decides. */
function pairRegion(
  a: Region,
  b: Region,
  neutral: typeof OUTSIDE | typeof INSIDE,
  contains: Region['contains'],
  frame: Box,
): Region {
  const each: Pick<Region, 'collect'> = { collect: collectEach(contains) };
  return {
    frame,

    overlap(boxes, at) {
      const first = a.overlap(boxes, at);
      if (first === neutral) return b.overlap(boxes, at);
      if (first !== ACROSS) return first;
      const second = b.overlap(boxes, at);
      return second === neutral ? ACROSS : second;
    },

    contains,

    collect(coords, from, to, boxes, box, bounds, at) {
      let one = each;
      if (a.overlap(boxes, box) === neutral) one = b;
      else if (b.overlap(boxes, box) === neutral) one = a;
      return one.collect(coords, from, to, boxes, box, bounds, at);
    },

    work: () => a.work() + b.work(),
  };
}

/** Nanoseconds of a look at an edge, most of them for mispredicted branches. */
const LOOK = 8;

/** The area of rings moved east by `shift`; remembers the edges near to the last boxes. */
class PolygonRegion implements Region {
  readonly frame: Box;
  readonly #all: NearEdges;
  readonly #corners: Corners;
  /** Boxes that are ACROSS, each within the one before: searches go from large to small boxes. */
  readonly #stack: NearEdges[];
  #top = 0;
  readonly #box: Corners = [0, 0, 0, 0];

  constructor(rings: readonly Float64Array[], shift: number) {
    const edges = edgesOf(rings, shift);
    this.#all = NearEdges.of(edges);
    this.#stack = [this.#all];
    const corners = boxAround(edges.ends, 2, 0, 2 * edges.ringEnds[0]!);
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
      // all points of the box share a place
      return top.holds(boxes, at / 2) ? INSIDE : OUTSIDE;
    }
    this.#stack[this.#top + 1] ??= this.#all.empty();
    const overlap = top.narrow(box, this.#stack[this.#top + 1]!);
    if (overlap === ACROSS) this.#top++;
    return overlap;
  }

  collect: Region['collect'] = (coords, from, to, boxes, box, bounds, at) => {
    // puts the edges near to the box on top
    this.overlap(boxes, box);
    const near = this.#stack[this.#top]!;
    const each = collectEach((all, row) => near.holds(all, row));
    return each(coords, from, to, boxes, box, bounds, at);
  };

  contains(coords: Float64Array, row: Row): boolean {
    const x = Math.round(coords[2 * row]! * UNITS_PER_DEGREE);
    const y = Math.round(coords[2 * row + 1]! * UNITS_PER_DEGREE);
    const [west, south, east, north] = this.#corners;
    if (x < west || x > east || y < south || y > north) return false;
    return this.#all.holds(coords, row);
  }
}
