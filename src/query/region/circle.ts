import {
  EARTH_RADIUS,
  FARTHEST,
  geodesic,
  haversineOf,
  LAMBERT_ERROR,
  LAMBERT_REACH,
  LEAST_STRETCH,
  lambert,
  MOST_STRETCH,
} from '../../model/geo.js';
import type { Metres } from '../../model/units.js';
import type { Box, Circle } from '../query.js';
import { Centre } from './centre.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';
import { isSmall, smallCircleRegion } from './small-circle.js';

const RADIANS = Math.PI / 180;

const EVERYWHERE: Region = {
  frame: { west: -180, south: -90, east: 180, north: 90 },
  overlap: () => INSIDE,
  contains: () => true,
  collect: (...range) => collectEach(() => true, ...range),
};

/** Room for rounding where a bound is compared with a value from another formula: a share of it, … */
const SLACK = 1e-12;

/**
 * … and metres. Rounded coordinates put two names of one place, lon 180 and -180 or any two longitudes of
 * a pole, nanometres apart; only the geodesic knows that they are one.
 */
const NOISE: Metres = 1e-6;

/**
 * A circle in metres on the WGS84 ellipsoid. The great circle decides for all but the points near the
 * rim, Lambert's formula for all but the nearest of these, and the geodesic for the rest.
 */
export function circleRegion(circle: Circle): Region {
  const { lat, lon, radius } = circle;
  if (radius >= FARTHEST) return EVERYWHERE;
  const frame = frameOf(circle);
  if (isSmall(circle, frame)) return smallCircleRegion(circle, frame);

  // haversines below `inner` are surely inside, above `outer` surely outside
  const inner = haversineOf(Math.max(0, radius - NOISE) / MOST_STRETCH) * (1 - SLACK);
  const outer = haversineOf((radius + NOISE) / LEAST_STRETCH) * (1 + SLACK);
  const centre = new Centre(lon, lat);
  const { west, south, east, north } = frame;
  const crosses = west > east;

  const contains: Region['contains'] = (coords, row) => {
    const pointLon = coords[2 * row]!;
    const pointLat = coords[2 * row + 1]!;
    if (pointLat < south || pointLat > north) return false;
    const haversine = centre.to(coords, row);
    if (haversine > outer) return false;
    if (haversine < inner) return true;
    if (radius < LAMBERT_REACH) {
      const distance = lambert(lon, lat, pointLon, pointLat);
      const doubt = radius * LAMBERT_ERROR + NOISE;
      if (distance > radius + doubt) return false;
      if (distance < radius - doubt) return true;
    }
    return geodesic(lon, lat, pointLon, pointLat) <= radius;
  };

  return {
    frame: crosses ? { ...frame, west: -180, east: 180 } : frame,
    contains,
    collect: (...range) => collectEach(contains, ...range),

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
      centre.bound(boxes, at);
      if (centre.least > outer) return OUTSIDE;
      return centre.most < inner ? INSIDE : ACROSS;
    },
  };
}

/** A rectangle that holds the whole circle; west > east where it crosses the antimeridian. */
function frameOf({ lat, lon, radius }: Circle): Box {
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
