import { cumulative, type Random } from '../src/cli/generate/random.js';
import { latitudeOf, longitudeOf, southwards } from '../src/tiles/grid.js';
import { benchRandom, boxText, LIST, type Places } from './places.js';

/** A kind of request, as many different ones as wanted. */
export interface Scenario {
  readonly name: string;
  /** The query of the next request. */
  readonly next: (places: Places, random: Random) => string;
  /** Whether the scenario sends the same request again and again. */
  readonly isFixed?: boolean;
}

/** How often map clients ask for each zoom: most time is spent between a district and a street. */
const ZOOMS = [4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17] as const;
const ZOOM_WEIGHTS = cumulative([1, 2, 4, 7, 9, 12, 14, 15, 15, 12, 9]);
/** Neighbouring tiles that fill a screen. */
const TILES_ACROSS = 4;
const DAY_MS = 86_400_000;
const WINDOW_DAYS = [1 / 24, 1, 7, 30, 365] as const;
const ORDERINGS = ['created_at', '-created_at', 'modified_at', '-modified_at'] as const;

/** Page of 100 for a box of 100 to 300 points, every one another box. */
const SMALL_BOX: Scenario = {
  name: 'small-box',
  next(places, random) {
    const { lat, lon, halfLat, halfLon } = random.pick(places.centres);
    // shifted by a hair, so that no two requests are the same
    const dLat = random.between(-0.02, 0.02) * halfLat;
    const dLon = random.between(-0.02, 0.02) * halfLon;
    return `bbox=${boxText(lat + dLat, lon + dLon, halfLat, halfLon)}`;
  },
};

/** The 100 nearest of some hundred points in a circle, every one another centre. */
const NEARBY: Scenario = {
  name: 'nearby',
  next(places, random) {
    const { lat, lon, halfLat, halfLon } = random.pick(places.centres);
    const centreLat = lat + random.between(-0.1, 0.1) * halfLat;
    const centreLon = lon + random.between(-0.1, 0.1) * halfLon;
    // a circle of the box's area and up to twice that
    const radius = halfLat * 111_200 * (2 / Math.sqrt(Math.PI)) * random.between(1, 1.4);
    return `coordinates=${centreLat.toFixed(6)},${centreLon.toFixed(6)},${radius.toFixed(1)}`;
  },
};

/** The 100 nearest in a circle fifteen times as wide: up to a tenth of all points. */
const WIDE: Scenario = {
  name: 'wide',
  next(places, random) {
    const { lat, lon, halfLat } = random.pick(places.centres);
    const radius = halfLat * 111_200 * 15 * random.between(0.8, 1.2);
    return `coordinates=${lat.toFixed(6)},${lon.toFixed(6)},${radius.toFixed(1)}`;
  },
};

/** Map tiles, z/x/y boxes over many zooms and places. */
const TILES: Scenario = {
  name: 'tiles',
  next(places, random) {
    const zoom = ZOOMS[random.weighted(ZOOM_WEIGHTS)]!;
    const { lat, lon } = random.pick(places.centres);
    const [x, y] = tileAt(lat, lon, zoom);
    const last = 2 ** zoom - 1;
    const pan = (at: number): number =>
      Math.min(last, Math.max(0, at + random.int(TILES_ACROSS) - TILES_ACROSS / 2));
    return `bbox=${tileBox(zoom, pan(x), pan(y))}`;
  },
};

/** Time windows of an hour to a year, in all orderings. */
const TIME: Scenario = {
  name: 'time',
  next({ first, last }, random) {
    const days = random.pick(WINDOW_DAYS);
    const field = random.chance(0.7) ? 'created_at' : 'modified_at';
    const from = random.between(first, Math.max(first, last - days * DAY_MS));
    const after = new Date(from).toISOString();
    const before = new Date(from + days * DAY_MS).toISOString();
    return `${field}_after=${after}&${field}_before=${before}&ordering=${random.pick(ORDERINGS)}`;
  },
};

/** Any page of all points, no filter. */
const DEEP: Scenario = {
  name: 'deep-pages',
  next: ({ count }, random) => `page=${1 + random.int(Math.max(1, Math.floor(count / 100)))}`,
};

/** One URL again and again. */
const HOT: Scenario = {
  name: 'hot',
  isFixed: true,
  next: (places, random) => SMALL_BOX.next(places, random),
};

const MIX_PARTS = [TILES, SMALL_BOX, NEARBY, TIME, DEEP] as const;
const MIX_WEIGHTS = cumulative([50, 15, 20, 10, 5]);

/** Half tiles, a fifth nearby, the rest boxes, times and deep pages. */
const MIX: Scenario = {
  name: 'mix',
  next: (places, random) => MIX_PARTS[random.weighted(MIX_WEIGHTS)]!.next(places, random),
};

/**
 * Different requests of a scenario: enough that the answer cache has forgotten each before it comes
 * again.
 */
export const MANY_REQUESTS = 100_000;

/** All scenarios, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [
  TILES,
  SMALL_BOX,
  NEARBY,
  WIDE,
  TIME,
  DEEP,
  HOT,
  MIX,
];

/** The scenario of a name; throws with the names there are. */
export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found !== undefined) return found;
  const all = SCENARIOS.map((one) => one.name).join(', ');
  throw new Error(`No scenario is called ${JSON.stringify(name)}; there are ${all}.`);
}

/** Paths of `count` requests; the same seed and data give the same paths. */
export function requestPaths(
  scenario: Scenario,
  places: Places,
  count: number,
  seed: number,
): string[] {
  const random = benchRandom(seed, 100 + SCENARIOS.indexOf(scenario));
  const length = scenario.isFixed ? 1 : count;
  return Array.from({ length }, () => `${LIST}?${scenario.next(places, random)}`);
}

/** Deals out paths in turn over all calls: a repeated one would be answered from the cache. */
export function dealer(paths: readonly string[]): (count: number) => string[] {
  let dealt = 0;
  return (count) => Array.from({ length: count }, () => paths[dealt++ % paths.length]!);
}

/** The largest number below 1: the eastern and the southern edge belong to the last tile. */
const LAST = 1 - Number.EPSILON / 2;

/** A place on the square of Web Mercator: from 0 to below 1, from the north-west. */
export function onSquare(lon: number, lat: number): readonly [x: number, y: number] {
  return [Math.min((lon + 180) / 360, LAST), Math.max(0, Math.min(southwards(lat), LAST))];
}

/** The web map tile that a place lies on. */
export function tileAt(lat: number, lon: number, zoom: number): [x: number, y: number] {
  const [x, y] = onSquare(lon, lat);
  return [Math.floor(x * 2 ** zoom), Math.floor(y * 2 ** zoom)];
}

/** The box of a tile, west, south, east, north, as clients send it. */
export function tileBox(zoom: number, x: number, y: number): string {
  const tiles = 2 ** zoom;
  const [west, east] = [longitudeOf(x, tiles), longitudeOf(x + 1, tiles)];
  const [north, south] = [latitudeOf(y, tiles), latitudeOf(y + 1, tiles)];
  return [west, south, east, north].map((edge) => edge.toFixed(6)).join(',');
}
