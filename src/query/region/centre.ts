import type { Row } from '../../index/order.js';
import type { Degrees } from '../../model/units.js';
import { ACROSS, collectEach, INSIDE, OUTSIDE, type Region } from './overlap.js';

const RADIANS = Math.PI / 180;

/**
 * A place that distances are measured from, as haversines: the squared sine of half the angle,
 * which grows with distance and costs neither a root nor an arc sine.
 */
export class Centre {
  readonly lon: Degrees;
  readonly lat: Degrees;
  // 180 where `lon` is -180: the antimeridian by one of its two names
  readonly #lon: Degrees;
  readonly #sinLat: number;
  readonly #cosLat: number;
  /** Set by {@link bound}: no point of the box is nearer, and none farther, than these. */
  least = 0;
  most = 0;

  constructor(lon: Degrees, lat: Degrees) {
    this.lon = lon;
    this.lat = lat;
    this.#lon = lon === -180 ? 180 : lon;
    this.#sinLat = Math.sin(lat * RADIANS);
    this.#cosLat = Math.cos(lat * RADIANS);
  }

  /**
   * Haversine of the great circle to the point at `2 * row` of `coords`, which has longitudes and
   * latitudes in turn. All names of a place have the same haversine.
   */
  to(coords: Float64Array, row: Row): number {
    const lon = coords[2 * row]!;
    const lat = coords[2 * row + 1]!;
    const dLat = (lat - this.lat) * RADIANS;
    let dLon = ((lon === -180 ? 180 : lon) - this.#lon) * RADIANS;
    // a pole has every longitude: rounding must not tell its names apart
    if (lat === 90 || lat === -90) dLon = 0;
    if (Math.abs(dLat) < NEAR && Math.abs(dLon) < NEAR) {
      const sinLat = sineNear(dLat / 2);
      const sinLon = sineNear(dLon / 2);
      const cosLat = this.#cosLat * cosineNear(dLat) - this.#sinLat * sineNear(dLat);
      return sinLat * sinLat + this.#cosLat * cosLat * sinLon * sinLon;
    }
    const sinLat = Math.sin(dLat / 2);
    const sinLon = Math.sin(dLon / 2);
    return sinLat * sinLat + this.#cosLat * Math.cos(lat * RADIANS) * sinLon * sinLon;
  }

  /**
   * Sets {@link least} and {@link most} to bounds of the haversines to all points of a box,
   * rounding included. West, south, east and north of the box are at `at` and the places after.
   */
  bound(boxes: Float64Array, at: number): void {
    const west = boxes[at]!;
    const south = boxes[at + 1]!;
    const east = boxes[at + 2]!;
    const north = boxes[at + 3]!;
    const { lon } = this;
    const toWest = longitudeGap(west - lon);
    const toEast = longitudeGap(east - lon);
    const opposite = lon > 0 ? lon - 180 : lon + 180;
    const nearGap = lon >= west && lon <= east ? 0 : Math.min(toWest, toEast);
    const farGap = opposite >= west && opposite <= east ? 180 : Math.max(toWest, toEast);

    const cosSouth = Math.cos(south * RADIANS);
    const sinSouth = Math.sin(south * RADIANS);
    const cosNorth = Math.cos(north * RADIANS);
    const sinNorth = Math.sin(north * RADIANS);

    // along a meridian the haversine is ½ - ½(sin φ sin φ0 + k cos φ cos φ0), a sinusoid in φ: its
    // extremes are at the ends, or where its slope changes sign between them
    const near = Math.cos(nearGap * RADIANS);
    const southNear = this.#along(sinSouth, cosSouth, near);
    const northNear = this.#along(sinNorth, cosNorth, near);
    const dips =
      this.#slope(sinSouth, cosSouth, near) < 0 && this.#slope(sinNorth, cosNorth, near) > 0;
    const least = dips ? 0.5 - this.#amplitude(near) : Math.min(southNear, northNear);

    const far = Math.cos(farGap * RADIANS);
    const southFar = this.#along(sinSouth, cosSouth, far);
    const northFar = this.#along(sinNorth, cosNorth, far);
    const peaks =
      this.#slope(sinSouth, cosSouth, far) > 0 && this.#slope(sinNorth, cosNorth, far) < 0;
    const most = peaks ? 0.5 + this.#amplitude(far) : Math.max(southFar, northFar);

    this.least = Math.max(0, least - ROUNDING);
    this.most = most + ROUNDING;
  }

  #along(sin: number, cos: number, k: number): number {
    return 0.5 - 0.5 * (sin * this.#sinLat + k * cos * this.#cosLat);
  }

  #slope(sin: number, cos: number, k: number): number {
    return k * sin * this.#cosLat - cos * this.#sinLat;
  }

  #amplitude(k: number): number {
    const adjacent = k * this.#cosLat;
    return 0.5 * Math.sqrt(this.#sinLat * this.#sinLat + adjacent * adjacent);
  }
}

/** All whose haversine from a centre is at most `most`. */
export function discRegion(centre: Centre, most: number): Region {
  const contains: Region['contains'] = (coords, row) => centre.to(coords, row) <= most;
  return {
    frame: { west: -180, south: -90, east: 180, north: 90 },
    overlap(boxes, at) {
      centre.bound(boxes, at);
      if (centre.least > most) return OUTSIDE;
      return centre.most <= most ? INSIDE : ACROSS;
    },
    contains,
    collect: (...range) => collectEach(contains, ...range),
    work: () => 0,
  };
}

/** Radians up to which the first terms of a series are exact: 60 km. */
const NEAR = 0.01;

function sineNear(angle: number): number {
  const square = angle * angle;
  return angle * (1 - (square / 6) * (1 - (square / 20) * (1 - square / 42)));
}

function cosineNear(angle: number): number {
  const square = angle * angle;
  return 1 - (square / 2) * (1 - (square / 12) * (1 - square / 30));
}

/** Bound of the rounding in a haversine taken as a difference of products. */
const ROUNDING = 2e-15;

/** Difference in longitude, 0 to 180. */
function longitudeGap(difference: Degrees): Degrees {
  const gap = Math.abs(difference) % 360;
  return gap > 180 ? 360 - gap : gap;
}
