import { EARTH_RADIUS, FARTHEST, LARGEST_RADIUS, LEAST_STRETCH } from '../../model/geo.js';
import type { Box, Circle } from '../../model/query.js';
import type { Metres } from '../../model/units.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';
import { Rim } from './rim.js';
import { isSmall, smallCircleRegion } from './small-circle.js';

const RADIANS = Math.PI / 180;

const EVERYWHERE: Region = {
  frame: { west: -180, south: -90, east: 180, north: 90 },
  overlap: () => INSIDE,
  contains: () => true,
  collect: (...range) => collectEach(() => true, ...range),
  work: () => 0,
};

/** Relative tolerance where a bound is compared with a value of another formula. */
const SLACK = 1e-12;

/** A circle in metres on the WGS84 ellipsoid. `rim` settles what is near its edge. */
export function circleRegion(circle: Circle, rim: Rim = new Rim(circle)): Region {
  if (circle.radius >= FARTHEST) return EVERYWHERE;
  const frame = frameOf(circle);
  return isSmall(circle, frame)
    ? smallCircleRegion(circle, frame, rim)
    : largeCircleRegion(frame, rim);
}

/** The distance to the middle of a box decides about the box where the rim is farther away. */
function largeCircleRegion(frame: Box, rim: Rim): Region {
  const { west, south, east, north } = frame;
  const crosses = west > east;
  const middle = new Float64Array(2);

  const contains: Region['contains'] = (coords, row) => {
    const lat = coords[2 * row + 1]!;
    return lat >= south && lat <= north && rim.holds(coords, row);
  };

  return {
    frame: crosses ? { ...frame, west: -180, east: 180 } : frame,
    contains,

    overlap(boxes, at) {
      // most nodes lie nowhere near: four comparisons settle them
      const minX = boxes[at]!;
      const minY = boxes[at + 1]!;
      const maxX = boxes[at + 2]!;
      const maxY = boxes[at + 3]!;
      if (minY > north || maxY < south) return OUTSIDE;
      const beyondWest = maxX < west;
      const beyondEast = minX > east;
      if (crosses ? beyondWest && beyondEast : beyondWest || beyondEast) return OUTSIDE;
      middle[0] = (minX + maxX) / 2;
      middle[1] = (minY + maxY) / 2;
      const beyond = rim.beyond(middle, 0);
      const reach = reachOf(minX, minY, maxX, maxY) + rim.error;
      if (beyond > reach) return OUTSIDE;
      return beyond < -reach ? INSIDE : ACROSS;
    },

    collect: (...range) => collectEach(contains, ...range),
    work: () => rim.work,
  };
}

/** The farthest that a point of a box can be from the box's middle. */
function reachOf(west: number, south: number, east: number, north: number): Metres {
  const least = south * north <= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north));
  // along the parallel that is nearest to the equator
  const width = (east - west) * Math.cos(least * RADIANS);
  const height = north - south;
  return ((LARGEST_RADIUS * RADIANS) / 2) * Math.sqrt(width * width + height * height);
}

/** A rectangle that holds the whole circle; west > east where it crosses the antimeridian. */
export function frameOf({ lat, lon, radius }: Circle): Box {
  const angle = (radius / LEAST_STRETCH / EARTH_RADIUS) * (1 + SLACK) + SLACK;
  const south = lat - angle / RADIANS;
  const north = lat + angle / RADIANS;
  // a circle round a pole touches every meridian
  if (south <= -90 || north >= 90) return { west: -180, south, east: 180, north };
  const reach = Math.asin(Math.min(1, Math.sin(angle) / Math.cos(lat * RADIANS))) / RADIANS;
  const margin = reach * (1 + 1e-9) + 1e-9;
  const [west, east] = [lon - margin, lon + margin];
  return {
    west: west < -180 ? west + 360 : west,
    south,
    east: east > 180 ? east - 360 : east,
    north,
  };
}
