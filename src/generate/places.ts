import { CITIES, type City } from './material.js';
import { cumulative, type Random } from './random.js';

/** Where a point lies, in whole units of 10^-8 degrees, which is as fine as a record says it. */
interface Place {
  readonly lat: number;
  readonly lon: number;
  /** ISO 3166-1 alpha-2; empty outside the clusters. */
  readonly country: string;
}

const UNIT = 1e8;
const HALF_TURN = 180 * UNIT;
const UNITS_PER_KM = UNIT / 111.2;

/** Points around a place: rings of a bell shape, their spread in kilometres, their weights. */
interface Cluster {
  readonly lat: number;
  readonly lon: number;
  readonly country: string;
  /** Units of longitude for one of latitude. */
  readonly stretch: number;
  readonly spreads: readonly number[];
  readonly weights: Float64Array;
}

const HELSINKI = cluster('FI', 60.166, 24.951, [0.85, 4.5, 16], [75, 20, 5]);
const OTHER_CITIES = CITIES.filter(([name]) => name !== 'Helsinki');
const CLUSTERS = OTHER_CITIES.map(([, country, lat, lon, population]) => {
  // 2 km for a small town, 20 for the largest cities
  const wide = 1.5 + Math.sqrt(population) / 250;
  return cluster(country, lat, lon, [wide / 6, wide, wide * 4], [45, 47, 8]);
});
const BY_POPULATION = cumulative(weights(OTHER_CITIES));

const SHARE_OF_EDGES = 0.025;
const SHARE_OF_HELSINKI = 0.155;
/** Notes without a position of their own sit on the middle of their city, one upon the other. */
const SHARE_OF_CENTRES = 0.012;

/** Ordinary coordinates that careless code trips over. */
const EDGES: readonly ((random: Random) => Place)[] = [
  (random) => exact(random.between(-60, 75), 180),
  (random) => exact(random.between(-60, 75), -180),
  (random) => exact(90, random.between(-180, 180)),
  (random) => exact(-90, random.between(-180, 180)),
  (random) => exact(random.between(-70, 80), 0),
  (random) => exact(0, random.between(-180, 180)),
  () => exact(0, 0),
  // Fiji's islands lie on both sides of the antimeridian
  (random) => exact(random.between(-17.1, -16.4), 180 + random.between(-0.4, 0.4)),
  (random) => exact(random.between(-16.9, -16.7), 180 + random.between(-0.0005, 0.0005)),
  (random) => exact(random.between(89.99, 90), random.between(-180, 180)),
  (random) => exact(random.between(-90, -89.99), random.between(-180, 180)),
  (random) => random.pick(CROWDED),
];

/** A handful of places that take many notes each. */
const CROWDED: readonly Place[] = [
  exact(60.16985, 24.93838, 'FI'),
  exact(60.16985001, 24.93838, 'FI'),
  exact(60.20989, 25.14195, 'FI'),
  exact(51.4779, -0.0015, 'GB'),
  exact(-16.8, 180),
];

/**
 * A place as the points of a real city's map lie: dense in the middle, thinner with the distance.
 */
export function place(random: Random): Place {
  const share = random.next();
  if (share < SHARE_OF_EDGES) return random.pick(EDGES)(random);
  if (share < SHARE_OF_EDGES + SHARE_OF_HELSINKI) return around(random, HELSINKI);
  return around(random, CLUSTERS[random.weighted(BY_POPULATION)]!);
}

function around(random: Random, cluster: Cluster): Place {
  if (random.chance(SHARE_OF_CENTRES)) return cluster;
  const spread = cluster.spreads[random.weighted(cluster.weights)]! * UNITS_PER_KM;
  return {
    lat: Math.round(cluster.lat + random.gaussian() * spread),
    lon: wrap(Math.round(cluster.lon + random.gaussian() * spread * cluster.stretch)),
    country: cluster.country,
  };
}

function cluster(
  country: string,
  lat: number,
  lon: number,
  spreads: readonly number[],
  weights: readonly number[],
): Cluster {
  // rounded, because `Math.cos` may differ by a bit between platforms
  const stretch = 1 / (Math.round(Math.cos((lat * Math.PI) / 180) * 1e6) / 1e6);
  return { ...exact(lat, lon, country), stretch, spreads, weights: cumulative(weights) };
}

function exact(lat: number, lon: number, country = ''): Place {
  return { lat: Math.round(lat * UNIT), lon: wrap(Math.round(lon * UNIT)), country };
}

/** Both 180 and -180 stay as they are. */
function wrap(lon: number): number {
  if (lon > HALF_TURN) return lon - 2 * HALF_TURN;
  return lon < -HALF_TURN ? lon + 2 * HALF_TURN : lon;
}

/** The people; of Finland's towns, which would vanish, as if they were an eighth of all. */
function weights(cities: readonly City[]): number[] {
  const people = (finnish: boolean): number =>
    cities.reduce((sum, city) => sum + ((city[1] === 'FI') === finnish ? city[4] : 0), 0);
  const boost = people(false) / 7 / people(true);
  return cities.map(([, country, , , people]) => people * (country === 'FI' ? boost : 1));
}
