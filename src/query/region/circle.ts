import {
  EARTH_RADIUS,
  ECCENTRICITY_SQUARED,
  EQUATOR_RADIUS,
  LARGEST_RADIUS,
  LEAST_STRETCH,
} from '../../model/geo.js';
import type { Box, Circle } from '../../model/query.js';
import type { Degrees, Metres } from '../../model/units.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';
import { Rim } from './rim.js';

const RADIANS = Math.PI / 180;

/** Relative tolerance of a bound, for rounding. */
const SLACK = 1e-12;

/** A circle in metres on the WGS84 ellipsoid. `rim` decides about points near its edge. */
export function circleRegion(circle: Circle, rim: Rim = new Rim(circle)): Region {
  const frame = frameOf(circle);
  return isSmall(circle, frame)
    ? smallCircleRegion(circle, frame, rim)
    : largeCircleRegion(frame, rim);
}

/** The distance to a box's middle decides about the box, unless the rim may cross it. */
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

    overlap(boxes, at) {
      // four comparisons rule out most nodes
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

    contains,
    collect: collectEach(contains),
    work: () => rim.work,
  };
}

/** The farthest that a point of a box can be from the box's middle. */
function reachOf(west: number, south: number, east: number, north: number): Metres {
  const least = south * north <= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north));
  // the box is widest along the parallel nearest to the equator
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

const LEAST_RADIUS = 1;
const MOST_RADIUS = 100_000;
const MOST_LATITUDE = 84;

/** Whether {@link smallCircleRegion} is exact for a circle, given its frame. */
function isSmall({ lat, radius }: Circle, frame: Box): boolean {
  const isRound = radius >= LEAST_RADIUS && radius <= MOST_RADIUS;
  return isRound && Math.abs(lat) <= MOST_LATITUDE && frame.west <= frame.east;
}

/**
 * A circle so small that the ellipsoid is nearly flat on it. The square of a distance is then
 * (M Δφ)² + (N cos φ Δλ)², with the radii of curvature M and N at the latitude half-way, which are
 * taken from a polynomial around the centre: exact to a few millionths up to 20 km, to a few
 * thousandths at worst, without trigonometry. Points within this error of the rim are left to
 * {@link Rim}.
 */
function smallCircleRegion({ lat, lon, radius }: Circle, frame: Box, rim: Rim): Region {
  const { west, south, east, north } = frame;
  const { north0, north1, east0, east1, east2 } = metricAround(lat);

  // twice the largest error of ten million geodesics; it grows with the square of the radius
  const error = 0.1 * (radius / EARTH_RADIUS / Math.cos(lat * RADIANS)) ** 2 + 2e-8 / radius;
  const surely = (radius * (1 - error)) ** 2;
  const possibly = (radius * (1 + error)) ** 2;

  // bounds of the metric on the frame
  const reach = (north - south) / 2;
  const northSpread = Math.abs(north1) * reach;
  const eastSpread = Math.abs(east1) * reach + Math.abs(east2) * reach * reach;

  const collect: Region['collect'] = (coords, from, to, _boxes, _box, bounds, at) => {
    // a closure's variables would be loaded anew for every row
    const [lat0, lon0] = [lat, lon];
    const [middle, width] = [(surely + possibly) / 2, (possibly - surely) / 2];
    const [mostLat, mostLon] = [reach, (east - west) / 2];
    const [n0, n1, e0, e1, e2] = [north0, north1, east0, east1, east2];
    let end = at;
    for (let row = from; row < to; row++) {
      const dLon = coords[2 * row]! - lon0;
      const dLat = coords[2 * row + 1]! - lat0;
      const meridian = n0 + n1 * dLat;
      const parallel = e0 + (e1 + e2 * dLat) * dLat;
      const square = meridian * dLat * dLat + parallel * dLon * dLon;
      // written in any case and overwritten: no branch is mispredicted
      bounds[end] = row;
      bounds[end + 1] = row + 1;
      // the metric holds on the frame only
      const isFramed = Number(Math.abs(dLat) <= mostLat) & Number(Math.abs(dLon) <= mostLon);
      if (Math.abs(square - middle) > width) end += 2 * (isFramed & Number(square < middle));
      else if (isFramed === 1 && rim.holds(coords, row)) end += 2;
    }
    return end;
  };

  const one = new Int32Array(2);
  return {
    frame,

    overlap(boxes, at) {
      const minX = boxes[at]!;
      const minY = boxes[at + 1]!;
      const maxX = boxes[at + 2]!;
      const maxY = boxes[at + 3]!;
      if (minY > north || maxY < south || minX > east || maxX < west) return OUTSIDE;
      const nearLat = Math.max(0, minY - lat, lat - maxY);
      const farLat = Math.max(lat - minY, maxY - lat);
      const nearLon = Math.max(0, minX - lon, lon - maxX);
      const farLon = Math.max(lon - minX, maxX - lon);
      const nearest =
        (north0 - northSpread) * nearLat * nearLat + (east0 - eastSpread) * nearLon * nearLon;
      if (nearest > possibly) return OUTSIDE;
      const farthest =
        (north0 + northSpread) * farLat * farLat + (east0 + eastSpread) * farLon * farLon;
      // the bounds do not hold beyond the frame, where nothing is inside
      const isFramed = minX >= west && maxX <= east && minY >= south && maxY <= north;
      return isFramed && farthest < surely ? INSIDE : ACROSS;
    },

    contains: (coords, row) => collect(coords, row, row + 1, coords, 0, one, 0) > 0,
    collect,
    work: () => rim.work,
  };
}

/**
 * The metric around a latitude. To a point d degrees of latitude and l degrees of longitude away,
 * the square of the way north is d² (`north0` + d `north1`) square metres, and that of the way east
 * l² (`east0` + d `east1` + d² `east2`): the squares of the metres of a degree along the meridian
 * and along the parallel, and their derivatives by latitude, halved since they are needed half-way
 * to a point.
 */
function metricAround(lat: Degrees) {
  const sin = Math.sin(lat * RADIANS);
  const cos = Math.cos(lat * RADIANS);
  const w = 1 - ECCENTRICITY_SQUARED * sin * sin;
  const rest = 1 - ECCENTRICITY_SQUARED;
  const scale = (EQUATOR_RADIUS * RADIANS) ** 2;
  const meridian = (scale * rest * rest) / (w * w * w);
  const parallel = (scale * cos * cos) / w;
  const slope = (-2 * scale * rest * sin * cos) / (w * w);
  const bend = 4 * ECCENTRICITY_SQUARED * ((sin * cos) / w) ** 2;
  const curvature = (-2 * scale * rest * ((cos * cos - sin * sin) / w + bend)) / w;
  return {
    north0: meridian,
    north1: ((6 * ECCENTRICITY_SQUARED * sin * cos * meridian) / w / 2) * RADIANS,
    east0: parallel,
    east1: (slope / 2) * RADIANS,
    east2: (curvature / 8) * RADIANS * RADIANS,
  };
}
