import { circleRegion } from './circle.js';
import { ACROSS, INSIDE, OUTSIDE, type Region } from './overlap.js';
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
    overlap({ minX, minY, maxX, maxY }) {
      if (minX > east || maxX < west || minY > north || maxY < south) return OUTSIDE;
      const inside = minX >= west && maxX <= east && minY >= south && maxY <= north;
      return inside ? INSIDE : ACROSS;
    },
    contains(coords, row) {
      const lon = coords[2 * row]!;
      const lat = coords[2 * row + 1]!;
      return lon >= west && lon <= east && lat >= south && lat <= north;
    },
  };
}

/** Union of two regions that do not overlap. */
function eitherRegion(a: Region, b: Region): Region {
  return {
    overlap(rectangle) {
      const first = a.overlap(rectangle);
      return first === OUTSIDE ? b.overlap(rectangle) : first;
    },
    contains: (coords, row) => a.contains(coords, row) || b.contains(coords, row),
  };
}

function bothRegion(a: Region, b: Region): Region {
  return {
    overlap(rectangle) {
      const first = a.overlap(rectangle);
      if (first === OUTSIDE) return OUTSIDE;
      const second = b.overlap(rectangle);
      return first === INSIDE ? second : second === OUTSIDE ? OUTSIDE : ACROSS;
    },
    contains: (coords, row) => a.contains(coords, row) && b.contains(coords, row),
  };
}
