import type { Row } from '../../index/order.js';
import type { Degrees } from '../../model/units.js';

const RADIANS = Math.PI / 180;

/**
 * A place that distances are measured from, as haversines: the squared sine of half the angle,
 * which grows with distance and takes neither a root nor an arc sine.
 */
export class Centre {
  readonly lon: Degrees;
  readonly lat: Degrees;
  // 180 where `lon` is -180: one longitude for the antimeridian
  readonly #lon: Degrees;
  readonly #sinLat: number;
  readonly #cosLat: number;

  constructor(lon: Degrees, lat: Degrees) {
    this.lon = lon;
    this.lat = lat;
    this.#lon = lon === -180 ? 180 : lon;
    this.#sinLat = Math.sin(lat * RADIANS);
    this.#cosLat = Math.cos(lat * RADIANS);
  }

  /** The haversine to a row's point in `coords`, equal for all coordinates of a place. */
  to(coords: Float64Array, row: Row): number {
    const lon = coords[2 * row]!;
    const lat = coords[2 * row + 1]!;
    const dLat = (lat - this.lat) * RADIANS;
    let dLon = ((lon === -180 ? 180 : lon) - this.#lon) * RADIANS;
    // a pole has every longitude: rounding must make no difference
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
}

/** Radians, 60 km, up to which the first terms of the series are exact. */
const NEAR = 0.01;

// quotients are constants: six divisions a row would take a third of its time

function sineNear(angle: number): number {
  const square = angle * angle;
  return angle * (1 - square * (1 / 6) * (1 - square * (1 / 20) * (1 - square * (1 / 42))));
}

function cosineNear(angle: number): number {
  const square = angle * angle;
  return 1 - square * (1 / 2) * (1 - square * (1 / 12) * (1 - square * (1 / 30)));
}
