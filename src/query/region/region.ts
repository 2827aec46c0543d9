import type { Box, Filters, Polygon } from '../../model/query.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { circleRegion } from './circle.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';
import { PolygonRegion } from './polygon.js';

/** The region that the filters describe; undefined where they leave the whole map. */
export function regionOf(filters: Filters): Region | undefined {
  const { boxes, circle, polygon } = filters;
  const box = boxes === undefined ? undefined : boxesRegion(boxes);
  const disc = circle === undefined ? undefined : circleRegion(circle);
  const area = polygon === undefined ? undefined : areaRegion(polygon);
  return within(within(box, disc), area);
}

function within(one: Region | undefined, other: Region | undefined): Region | undefined {
  return one === undefined || other === undefined ? (one ?? other) : bothRegion(one, other);
}

const TURN = 360 * UNITS_PER_DEGREE;

function areaRegion({ rings, crosses }: Polygon): Region {
  const region = new PolygonRegion(rings, 0);
  return crosses ? eitherRegion(region, new PolygonRegion(rings, -TURN)) : region;
}

function boxesRegion(boxes: readonly Box[]): Region {
  const [first, second] = boxes;
  if (first === undefined) throw new Error('Expected one or two boxes, got none.');
  return second === undefined
    ? boxRegion(first)
    : eitherRegion(boxRegion(first), boxRegion(second));
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
      // what a closure holds is loaded anew for every row
      const [left, bottom, right, top] = [west, south, east, north];
      let end = at;
      for (let row = from; row < to; row++) {
        const lon = coords[2 * row]!;
        const lat = coords[2 * row + 1]!;
        // written in any case, to be overwritten: a branch less to mispredict
        bounds[end] = row;
        bounds[end + 1] = row + 1;
        end += lon >= left && lon <= right && lat >= bottom && lat <= top ? 2 : 0;
      }
      return end;
    },

    work: () => 0,
  };
}

/** Union of two regions that share places of their edges at most. */
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
  return pairRegion(a, b, INSIDE, contains, {
    west: Math.max(a.frame.west, b.frame.west),
    south: Math.max(a.frame.south, b.frame.south),
    east: Math.min(a.frame.east, b.frame.east),
    north: Math.min(a.frame.north, b.frame.north),
  });
}

/** A region of two. Where a box is `neutral` to one of them, the other decides about it. */
function pairRegion(
  a: Region,
  b: Region,
  neutral: typeof OUTSIDE | typeof INSIDE,
  contains: Region['contains'],
  frame: Box,
): Region {
  return {
    frame,
    contains,

    overlap(boxes, at) {
      const first = a.overlap(boxes, at);
      if (first === neutral) return b.overlap(boxes, at);
      if (first !== ACROSS) return first;
      const second = b.overlap(boxes, at);
      return second === neutral ? ACROSS : second;
    },

    collect(coords, from, to, boxes, box, bounds, at) {
      let one: Region | undefined;
      if (a.overlap(boxes, box) === neutral) one = b;
      else if (b.overlap(boxes, box) === neutral) one = a;
      return one === undefined
        ? collectEach(contains, coords, from, to, boxes, box, bounds, at)
        : one.collect(coords, from, to, boxes, box, bounds, at);
    },

    work: () => a.work() + b.work(),
  };
}
