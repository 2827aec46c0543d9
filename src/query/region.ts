import { circleRegion } from './circle.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';
import type { Box, Filters } from './query.js';

/** The region that the filters describe; undefined when they leave the whole map. */
export function regionOf(filters: Filters): Region | undefined {
  const { boxes, circle } = filters;
  const box = boxes === undefined ? undefined : boxesRegion(boxes);
  if (circle === undefined) return box;
  const disc = circleRegion(circle);
  return box === undefined ? disc : bothRegion(box, disc);
}

function boxesRegion(boxes: readonly Box[]): Region {
  const [first, second] = boxes;
  if (first === undefined) throw new Error('Expected one or two boxes, got none.');
  return second === undefined
    ? boxRegion(first)
    : eitherRegion(boxRegion(first), boxRegion(second));
}

function boxRegion({ west, south, east, north }: Box): Region {
  return {
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
    collect(coords, from, to, bounds, at) {
      let end = at;
      for (let row = from; row < to; row++) {
        const lon = coords[2 * row]!;
        const lat = coords[2 * row + 1]!;
        // written in any case, to be overwritten: a branch less to mispredict
        bounds[end] = row;
        bounds[end + 1] = row + 1;
        end += lon >= west && lon <= east && lat >= south && lat <= north ? 2 : 0;
      }
      return end;
    },
  };
}

/** Union of two regions that do not overlap. */
function eitherRegion(a: Region, b: Region): Region {
  const contains: Region['contains'] = (coords, row) =>
    a.contains(coords, row) || b.contains(coords, row);
  return {
    overlap(boxes, at) {
      const first = a.overlap(boxes, at);
      return first === OUTSIDE ? b.overlap(boxes, at) : first;
    },
    contains,
    collect: (...range) => collectEach(contains, ...range),
  };
}

function bothRegion(a: Region, b: Region): Region {
  const contains: Region['contains'] = (coords, row) =>
    a.contains(coords, row) && b.contains(coords, row);
  return {
    overlap(boxes, at) {
      const first = a.overlap(boxes, at);
      if (first === OUTSIDE) return OUTSIDE;
      const second = b.overlap(boxes, at);
      return first === INSIDE ? second : second === OUTSIDE ? OUTSIDE : ACROSS;
    },
    contains,
    collect: (...range) => collectEach(contains, ...range),
  };
}
