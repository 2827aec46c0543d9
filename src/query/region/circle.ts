import {
  EARTH_RADIUS,
  FARTHEST,
  haversineOf,
  LEAST_STRETCH,
  MOST_STRETCH,
} from '../../model/geo.js';
import type { Box, Circle } from '../../model/query.js';
import type { Metres } from '../../model/units.js';
import { Centre } from './centre.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Overlap, type Region } from './overlap.js';
import { Patch } from './patch.js';
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

/**
 * Absolute tolerance of the same comparison. Rounding puts two names of one place nanometres apart:
 * longitudes 180 and -180, or two longitudes of a pole. Only the geodesic treats them as one place.
 */
const NOISE: Metres = 1e-6;

/** A patch with at most this error leaves hardly a point in doubt. */
const SHARP: Metres = 1e-5;

/** Least sine of the radius near the antipode, where geodesics do not meet in one point. */
const ASTROID = 0.1;

/** A circle in metres on the WGS84 ellipsoid. `rim` settles what is near its edge. */
export function circleRegion(circle: Circle, rim: Rim = new Rim(circle)): Region {
  if (circle.radius >= FARTHEST) return EVERYWHERE;
  const frame = frameOf(circle);
  return isSmall(circle, frame)
    ? smallCircleRegion(circle, frame, rim)
    : largeCircleRegion(circle, frame, rim);
}

/**
 * The great circle decides for points far from the rim, a {@link Patch} around each box for most of
 * the others, and the geodesic for the rest.
 */
function largeCircleRegion({ lat, lon, radius }: Circle, frame: Box, rim: Rim): Region {
  // haversines below `inner` are surely inside, above `outer` surely outside
  const inner = haversineOf(Math.max(0, radius - NOISE) / MOST_STRETCH) * (1 - SLACK);
  const outer = haversineOf((radius + NOISE) / LEAST_STRETCH) * (1 + SLACK);
  const centre = new Centre(lon, lat);
  const { west, south, east, north } = frame;
  const crosses = west > east;
  const arc = radius / EARTH_RADIUS;
  const nearness = arc < 3 ? Math.sin(arc) : Math.max(Math.sin(arc), ASTROID);
  // `wide` is around the last box that was small enough for a patch, `close` around the last block
  const wide = new Patch();
  const close = new Patch();

  const contains: Region['contains'] = (coords, row) => {
    const pointLat = coords[2 * row + 1]!;
    if (pointLat < south || pointLat > north) return false;
    const haversine = centre.to(coords, row);
    if (haversine > outer) return false;
    return haversine < inner || rim.holds(coords, row);
  };

  const byPatch = (patch: Patch, boxes: Float64Array, at: number): Overlap => {
    const beyond = patch.atMiddle(boxes, at);
    const reach = patch.reachOf(boxes, at) + patch.error;
    if (beyond > reach) return OUTSIDE;
    return beyond < -reach ? INSIDE : ACROSS;
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
      if (!wide.holds(boxes, at)) {
        centre.bound(boxes, at);
        if (centre.least > outer) return OUTSIDE;
        if (centre.most < inner) return INSIDE;
        wide.fit(rim.from, radius, boxes, at, nearness);
      }
      const overlap = wide.isValid ? byPatch(wide, boxes, at) : ACROSS;
      return overlap === ACROSS ? rim.overlapInDoubt(boxes, at) : overlap;
    },

    collect(coords, from, to, boxes, box, bounds, at) {
      const isGood = wide.isAround(boxes, box) || (wide.holds(boxes, box) && wide.error < SHARP);
      if (!isGood) close.fit(rim.from, radius, boxes, box, nearness);
      const patch = isGood ? wide : close;
      return patch.isValid && !patch.isFlat
        ? rim.collect(patch, coords, from, to, bounds, at)
        : rim.collectEach(contains, coords, from, to, bounds, at);
    },

    work: () => rim.work,
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
