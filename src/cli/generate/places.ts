import { readAsset } from '../../model/quote.js';
import { formatLocal, type Timestamp } from '../../model/timestamp.js';
import { type Degrees, UNITS_PER_DEGREE } from '../../model/units.js';
import { cumulative, type Random } from './random.js';

/** A city: latitude and longitude in degrees, country as ISO 3166-1 alpha-2. */
type City = readonly [name: string, country: string, lat: number, lon: number, population: number];

/** The largest of the world and of Finland, largest first. */
export const CITIES: readonly City[] = JSON.parse(readAsset('cities.json')).cities;

/** Where a point lies, in units of 10^-8 degrees, the precision of records. */
interface Place {
  readonly lat: number;
  readonly lon: number;
  /** ISO 3166-1 alpha-2; empty outside the cities. */
  readonly country: string;
}

const HALF_TURN = 180 * UNITS_PER_DEGREE;
const UNITS_PER_KM = UNITS_PER_DEGREE / 111.2;

/** Has a share of its own, whatever its population. */
const HELSINKI: City = ['Helsinki', 'FI', 60.166, 24.951, 0];
const OTHER_CITIES = CITIES.filter(([name]) => name !== 'Helsinki');
const BY_POPULATION = cumulative(weights(OTHER_CITIES));

const SHARE_OF_EDGES = 0.025;
const SHARE_OF_HELSINKI = 0.155;
/** Notes without a position of their own sit on the middle of their city, one upon the other. */
const SHARE_OF_CENTRES = 0.012;

/** Valid coordinates that careless code trips over. */
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

const CROWDED: readonly Place[] = [
  exact(60.16985, 24.93838, 'FI'),
  exact(60.16985001, 24.93838, 'FI'),
  exact(60.20989, 25.14195, 'FI'),
  exact(51.4779, -0.0015),
  exact(-16.8, 180),
];

/** Dense in the middle of cities, thinner with the distance. */
export function place(random: Random): Place {
  const share = random.next();
  if (share < SHARE_OF_EDGES) return random.pick(EDGES)(random);
  if (share < SHARE_OF_EDGES + SHARE_OF_HELSINKI) {
    return around(random, HELSINKI, [0.85, 4.5, 16], [75, 20, 5]);
  }
  const city = OTHER_CITIES[random.weighted(BY_POPULATION)]!;
  // 2 km for a small town, 20 for the largest cities
  const wide = 1.5 + Math.sqrt(city[4]) / 250;
  return around(random, city, [wide / 6, wide, wide * 4], [45, 47, 8]);
}

/** In one of several rings of a bell shape: their spreads in kilometres, their weights. */
function around(random: Random, city: City, spreads: number[], weights: number[]): Place {
  const [, country, lat, lon] = city;
  const centre = exact(lat, lon, country);
  if (random.chance(SHARE_OF_CENTRES)) return centre;
  const spread = spreads[random.weighted(cumulative(weights))]! * UNITS_PER_KM;
  // rounded, because `Math.cos` may differ by a bit between platforms
  const stretch = 1 / (Math.round(Math.cos((lat * Math.PI) / 180) * 1e6) / 1e6);
  const [north, east] = [random.gaussian() * spread, random.gaussian() * spread * stretch];
  return rounded(centre.lat + north, centre.lon + east, country);
}

function exact(lat: Degrees, lon: Degrees, country = ''): Place {
  return rounded(lat * UNITS_PER_DEGREE, lon * UNITS_PER_DEGREE, country);
}

/** Wraps longitudes at the antimeridian, where both 180 and -180 stay as they are. */
function rounded(lat: number, lon: number, country: string): Place {
  const whole = Math.round(lon);
  const turn = Math.abs(whole) > HALF_TURN ? 2 * HALF_TURN * Math.sign(whole) : 0;
  return { lat: Math.round(lat), lon: whole - turn, country };
}

/** The populations, those of Finland scaled up to an eighth of all. */
function weights(cities: readonly City[]): number[] {
  const people = (finnish: boolean): number =>
    cities.reduce((sum, city) => sum + ((city[1] === 'FI') === finnish ? city[4] : 0), 0);
  const boost = people(false) / 7 / people(true);
  return cities.map(([, country, , , people]) => people * (country === 'FI' ? boost : 1));
}

const DAY = 86_400;
const START_OF_2020 = Date.UTC(2020, 0, 1) / 1000;
const MONTHS = [7, 8, 10, 11, 13, 10, 6, 9, 11, 10, 9, 6];
const HOURS = [2, 1, 1, 1, 1, 2, 4, 8, 11, 12, 12, 12, 13, 12, 12, 13, 14, 13, 12, 11, 9, 7, 5, 3];
const BY_HOUR = cumulative(HOURS);
const BY_DAY = cumulative(
  Array.from({ length: 1461 }, (_, day) => {
    const date = new Date((START_OF_2020 + day * DAY) * 1000);
    const growth = 16 + 3 * (date.getUTCFullYear() - 2020);
    const weekend = date.getUTCDay() % 6 === 0 ? 3 : 4;
    return growth * weekend * MONTHS[date.getUTCMonth()]!;
  }),
);

/** Most by day, in spring and autumn, and more every year, by Helsinki's clocks. */
export function createdAt(random: Random): Timestamp {
  const midnight = START_OF_2020 + random.weighted(BY_DAY) * DAY;
  const local = midnight + random.weighted(BY_HOUR) * 3600 + random.int(3600);
  // read as winter time first, to see whether it is summer; a skipped hour lands beside the gap
  return within(local - helsinkiOffset(local - 7200), random);
}

/** The same time for half of the points, else up to 90 days later, sooner more often. */
export function modifiedAt(random: Random, created: Timestamp): Timestamp {
  if (random.chance(0.5)) return created;
  const share = random.next();
  const seconds = 1 + Math.floor(share * share * share * (90 * DAY - 2));
  return within(Math.floor(created.micros / 1e6) + seconds, random);
}

/** A time within a second. */
function within(second: number, random: Random): Timestamp {
  // some clients never had finer clocks than seconds
  const micros = second * 1e6 + (random.chance(0.06) ? 0 : random.int(1_000_000));
  return { micros, text: formatLocal(micros, helsinkiOffset(second)) };
}

/** When Helsinki's clocks change, in seconds: to summer time and back, by turns. */
const CHANGES =
  '2020-03-29 2020-10-25 2021-03-28 2021-10-31 2022-03-27 2022-10-30 2023-03-26 2023-10-29'
    .split(' ')
    .map((day) => Date.parse(`${day}T01:00Z`) / 1000);

/** Seconds that Helsinki's clocks are ahead of UTC, from 2020 to March of 2024. */
export function helsinkiOffset(seconds: number): number {
  const next = CHANGES.findIndex((change) => seconds < change);
  // the second, fourth … change ends a summer
  return next % 2 === 1 ? 10_800 : 7200;
}
