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
    overlap(minLon, minLat, maxLon, maxLat) {
      if (minLon > east || maxLon < west || minLat > north || maxLat < south) return OUTSIDE;
      const inside = minLon >= west && maxLon <= east && minLat >= south && maxLat <= north;
      return inside ? INSIDE : ACROSS;
    },
    contains: (lon, lat) => lon >= west && lon <= east && lat >= south && lat <= north,
  };
}

/** Union of two regions that do not overlap. */
function eitherRegion(a: Region, b: Region): Region {
  return {
    overlap(west, south, east, north) {
      const first = a.overlap(west, south, east, north);
      return first === OUTSIDE ? b.overlap(west, south, east, north) : first;
    },
    contains: (lon, lat) => a.contains(lon, lat) || b.contains(lon, lat),
  };
}

function bothRegion(a: Region, b: Region): Region {
  return {
    overlap(west, south, east, north) {
      const first = a.overlap(west, south, east, north);
      if (first === OUTSIDE) return OUTSIDE;
      const second = b.overlap(west, south, east, north);
      return first === INSIDE ? second : second === OUTSIDE ? OUTSIDE : ACROSS;
    },
    contains: (lon, lat) => a.contains(lon, lat) && b.contains(lon, lat),
  };
}
