import { FLATTENING, SECOND_ECCENTRICITY_SQUARED } from './geo.js';
import { GeodesicSeries } from './geodesic-series.js';

const MOST_STEPS = 12;
/** Radians of longitude that the point reached may be off. */
const CLOSE_ENOUGH = 1e-10;

/** Closer than this to the opposite meridian, in radians, two geodesics may be equally long. */
const OPPOSITE = 1e-9;

/**
 * Geodesics to points near the antipode, where the great circle on the auxiliary sphere does not
 * follow from the longitudes: the azimuth at the start is searched for instead, as in Karney's
 * "Algorithms for geodesics" (2013), sections 4 and 5. Places are given by sine and cosine of their
 * reduced latitudes. After {@link solve} the fields describe the geodesic.
 */
export class Antipodal {
  readonly #series = new GeodesicSeries();
  /** In polar radii. */
  length = 0;
  reduced = 0;
  /** Forward azimuth at the end of a geodesic that leads east. */
  sinAzimuth = 0;
  cosAzimuth = 1;
  /** Change of the reduced length along the geodesic, at its end. */
  scale = 0;
  /** Radians of longitude by which the end lies east of where it should. */
  miss = 0;

  /** Returns false where no azimuth was found, or two may lead there. `lambda` is from 0 to π. */
  solve(sin1: number, cos1: number, sin2: number, cos2: number, lambda: number): boolean {
    if (Math.PI - lambda < OPPOSITE) return false;
    // the start is taken to be farther from the equator, and south of it
    const isSwapped = Math.abs(sin2) > Math.abs(sin1);
    const sinA = isSwapped ? sin2 : sin1;
    const sinB = isSwapped ? sin1 : sin2;
    const sign = sinA < 0 ? 1 : -1;
    const cosA = isSwapped ? cos2 : cos1;
    const cosB = isSwapped ? cos1 : cos2;
    return this.#search(sign * sinA, cosA, sign * sinB, cosB, lambda, isSwapped, sign);
  }

  #search(
    sin1: number,
    cos1: number,
    sin2: number,
    cos2: number,
    lambda: number,
    isSwapped: boolean,
    sign: number,
  ): boolean {
    const series = this.#series;
    const sinLambda = Math.sin(lambda);
    const cosLambda = Math.cos(lambda);
    const scale1 = Math.sqrt(1 + SECOND_ECCENTRICITY_SQUARED * sin1 * sin1);
    const scale2 = Math.sqrt(1 + SECOND_ECCENTRICITY_SQUARED * sin2 * sin2);
    const difference = cos1 < -sin1 ? (cos2 - cos1) * (cos1 + cos2) : (sin1 - sin2) * (sin1 + sin2);
    let azimuth = startAzimuth(sin1, cos1, sin2, cos2, lambda);
    let least = 0;
    let most = Math.PI;
    for (let step = 0; step < MOST_STEPS; step++) {
      const sinAzimuth1 = Math.sin(azimuth);
      const cosAzimuth1 = Math.cos(azimuth);
      const sin0 = sinAzimuth1 * cos1;
      const square0 = cosAzimuth1 * cosAzimuth1 + sinAzimuth1 * sinAzimuth1 * sin1 * sin1;
      const along1 = cosAzimuth1 * cos1;
      const along2 = Math.sqrt(Math.max(0, along1 * along1 + difference));

      // arcs and longitudes from where the great circle crosses the equator, at both ends
      const norm1 = 1 / Math.sqrt(sin1 * sin1 + along1 * along1);
      const norm2 = 1 / Math.sqrt(sin2 * sin2 + along2 * along2);
      const sinArc1 = sin1 * norm1;
      const cosArc1 = along1 * norm1;
      const sinArc2 = sin2 * norm2;
      const cosArc2 = along2 * norm2;
      const sinArc = Math.max(0, cosArc1 * sinArc2 - sinArc1 * cosArc2);
      const cosArc = cosArc1 * cosArc2 + sinArc1 * sinArc2;
      const arc = Math.atan2(sinArc, cosArc);
      const east = Math.max(0, sin0 * (along1 * sin2 - sin1 * along2));
      const north = along1 * along2 + sin0 * sin0 * sin1 * sin2;
      const beyond = Math.atan2(
        east * cosLambda - north * sinLambda,
        north * cosLambda + east * sinLambda,
      );
      series.sum(arc, sinArc, cosArc, cosArc1 * cosArc2 - sinArc1 * sinArc2, square0);
      const miss = beyond - sin0 * series.longitude;

      const reduced =
        scale2 * cosArc1 * sinArc2 - scale1 * sinArc1 * cosArc2 - cosArc1 * cosArc2 * series.j;
      if (Math.abs(miss) < CLOSE_ENOUGH) {
        this.length = series.length;
        this.reduced = reduced;
        this.miss = miss;
        const ratio = isSwapped ? scale2 / scale1 : scale1 / scale2;
        const turn = isSwapped
          ? -(sinArc1 * cosArc2 * series.j) / scale1
          : (cosArc1 * sinArc2 * series.j) / scale2;
        this.scale = cosArc1 * cosArc2 + ratio * sinArc1 * sinArc2 + turn;
        this.sinAzimuth = isSwapped ? sinAzimuth1 : sin0 / cos2;
        this.cosAzimuth = sign * (isSwapped ? -cosAzimuth1 : along2 / cos2);
        return reduced > 0;
      }
      if (miss > 0) most = azimuth;
      else least = azimuth;
      const next = azimuth - (miss * along2) / reduced;
      azimuth = next > least && next < most ? next : (least + most) / 2;
    }
    return false;
  }
}

/**
 * The azimuth to begin with: on a sphere whose antipode has grown to an astroid, Karney's equations
 * 53 to 57.
 */
function startAzimuth(
  sin1: number,
  cos1: number,
  sin2: number,
  cos2: number,
  lambda: number,
): number {
  const lambdaScale = FLATTENING * Math.PI * cos1;
  const sinSum = sin2 * cos1 + cos2 * sin1;
  const x = (lambda - Math.PI) / lambdaScale;
  const y = Math.asin(sinSum) / (lambdaScale * cos1);
  if (y > -1e-6 && x > -1) return Math.PI - Math.asin(Math.min(1, -x));
  const k = astroid(x, y);
  const omega = (lambdaScale * -x * k) / (1 + k);
  const sinOmega = Math.sin(omega);
  const cosOmega = -Math.cos(omega);
  return Math.atan2(cos2 * sinOmega, sinSum - (cos2 * sin1 * sinOmega * sinOmega) / (1 - cosOmega));
}

/** The positive root of k⁴ + 2k³ - (x² + y² - 1)k² - 2y²k - y². */
function astroid(x: number, y: number): number {
  const p = x * x;
  const q = y * y;
  const r = (p + q - 1) / 6;
  const s = (p * q) / 4;
  const r3 = r * r * r;
  const discriminant = s * (s + 2 * r3);
  let u = r;
  if (discriminant >= 0) {
    const root = Math.sqrt(discriminant);
    const t3 = s + r3;
    const t = Math.cbrt(t3 + (t3 < 0 ? -root : root));
    u += t + (t === 0 ? 0 : (r * r) / t);
  } else {
    u += 2 * r * Math.cos(Math.atan2(Math.sqrt(-discriminant), -(s + r3)) / 3);
  }
  const v = Math.sqrt(u * u + q);
  const uv = u < 0 ? q / (v - u) : u + v;
  const w = (uv - q) / (2 * v);
  return uv / (Math.sqrt(uv + w * w) + w);
}
