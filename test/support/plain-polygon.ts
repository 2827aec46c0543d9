import { Random } from '../../src/cli/generate/random.js';
import type { Box } from '../../src/model/query.js';

/** Longitude and latitude in hundredths of a degree; integers keep all products exact. */
export type Place = readonly [lon: number, lat: number];

export type WrittenRing = readonly Place[];

const TURN = 36_000;

interface Ring extends Box {
  readonly places: readonly Place[];
  /** Whether it crosses the antimeridian, or touches it from an edge that took the short way. */
  readonly crosses: boolean;
}

export function textOfRings(rings: readonly WrittenRing[]): string {
  return rings
    .map((ring) => ring.map((place) => place.map((at) => (at / 100).toFixed(2)).join()).join(';'))
    .join('|');
}

/** An oracle for polygons: counts the edges to the west of a place, ring by ring. */
export class PlainPolygon {
  readonly #rings: readonly Ring[];
  /** Whole turns by which a place is shifted before each test. */
  readonly #turns: readonly number[];

  constructor(written: readonly WrittenRing[]) {
    this.#rings = written.map(unroll);
    const isBeyond = ({ crosses, west, east }: Ring): boolean =>
      crosses || west < -TURN / 2 || east > TURN / 2;
    this.#turns = this.#rings.some(isBeyond) ? [-3, -2, -1, 0, 1, 2, 3] : [0];
  }

  holds(x: number, y: number): boolean {
    return this.#rings.every((ring, index) => {
      let side = -1;
      for (const turns of this.#turns) side = Math.max(side, sideOf(ring, x + turns * TURN, y));
      return index === 0 ? side >= 0 : side <= 0;
    });
  }
}

/** Takes the short way for edges longer than half a turn, except whole turns. */
function unroll(ring: WrittenRing): Ring {
  const places: Place[] = [];
  let moved = 0;
  let crosses = false;
  for (const [x, y] of ring) {
    const last = places.at(-1)?.[0] ?? x;
    while (x + moved - last > TURN / 2 && x + moved - last !== TURN) moved -= TURN;
    while (last - x - moved > TURN / 2 && last - x - moved !== TURN) moved += TURN;
    places.push([x + moved, y]);
    crosses ||= moved !== 0;
  }
  const lons = places.map(([x]) => x);
  const lats = places.map(([, y]) => y);
  const [west, south] = [Math.min(...lons), Math.min(...lats)];
  return { places, crosses, west, south, east: Math.max(...lons), north: Math.max(...lats) };
}

/** Above 0 where a place lies in a ring, 0 on its edge, below 0 outside. */
function sideOf({ places, west, south, east, north }: Ring, x: number, y: number): number {
  if (x < west || x > east || y < south || y > north) return -1;
  let side = -1;
  let [ax, ay] = places.at(-1)!;
  for (const [bx, by] of places) {
    const turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    const isBeside = (ax <= x || bx <= x) && (ax >= x || bx >= x);
    const isLevel = (ay <= y || by <= y) && (ay >= y || by >= y);
    if (turn === 0 && isBeside && isLevel) return 0;
    if (ay > y !== by > y && turn > 0 === by < ay) side = -side;
    ax = bx;
    ay = by;
  }
  return side;
}

/** Grid of most places, in hundredths of a degree: many lie on edges of others. */
const STEP = 900;

/**
 * The outer ring and holes of polygon number `index` of a seed: self-touching, self-crossing, flat,
 * with duplicate places, across the antimeridian, the whole world.
 */
export function randomRings(seed: number, index: number): WrittenRing[] {
  const random = new Random(seed, 'point');
  random.restart(index + 1);
  const turned = random.chance(0.4) ? random.int(2 * TURN) - TURN : 0;
  const holes = random.chance(0.4) ? 1 + random.int(3) : 0;
  return Array.from({ length: 1 + holes }, () => {
    const ring = randomRing(random);
    // shifted to another longitude, mostly onto the grid
    const by = random.chance(0.7) ? Math.round(turned / STEP) * STEP : turned;
    const moved = ring.map(([lon, lat]): Place => [lon + by, lat]);
    const isWritable = ring.every(([lon], i) => Math.abs(lon - ring.at(i - 1)![0]) < TURN / 2);
    return isWritable && random.chance(0.5) ? moved.map(wrapped) : moved;
  });
}

function randomRing(random: Random): Place[] {
  switch (random.int(8)) {
    case 0: {
      // a box, in either direction
      const [a, b] = [corner(random), corner(random)];
      return [a, [a[0], b[1]], b, [b[0], a[1]]];
    }
    case 1:
      return world(random);
    case 2: {
      // flat: on one line
      const [lon, lat] = corner(random);
      const dx = random.int(5) - 2;
      const dy = random.int(3) - 1;
      return Array.from({ length: 3 + random.int(4) }, () => {
        const far = random.int(4);
        return [lon + dx * far * STEP, clamp(lat + dy * far * STEP)];
      });
    }
    case 3:
    case 4:
      return star(random);
    default: {
      const places = Array.from({ length: 3 + random.int(8) }, () => near(random));
      // duplicates, adjacent or not
      if (random.chance(0.3)) places.push(random.pick(places));
      if (random.chance(0.3)) places.splice(1, 0, places[0]!);
      if (random.chance(0.3)) places.push(places[0]!);
      return places;
    }
  }
}

function world(random: Random): Place[] {
  const [, lat] = corner(random);
  const pole = random.chance(0.5) ? 9_000 : -9_000;
  const lons = [-TURN / 2, TURN / 2, TURN / 2, -TURN / 2];
  const ring = lons.map((lon, i): Place => [lon, i < 2 ? pole : lat]);
  return random.chance(0.5) ? ring : ring.toReversed();
}

function star(random: Random): Place[] {
  const [lon, lat] = near(random);
  const count = random.pick([5, 20, 60]);
  const wide = random.between(200, 8_000);
  const shape = random.chance(0.5) ? 0 : 0.6;
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    const far = wide * (1 - shape * random.next());
    const north = Math.round(lat + (far / 2) * Math.sin(angle));
    return [Math.round(lon + far * Math.cos(angle)), clamp(north)];
  });
}

function corner(random: Random): Place {
  return [(random.int(41) - 20) * STEP, (random.int(21) - 10) * STEP];
}

/** A corner within half the world, so that the short way is the one meant. */
function near(random: Random): Place {
  return random.chance(0.7)
    ? [(random.int(19) - 9) * STEP, (random.int(21) - 10) * STEP]
    : [random.int(17_000) - 8_500, random.int(18_001) - 9_000];
}

function clamp(lat: number): number {
  return Math.max(-9_000, Math.min(9_000, lat));
}

function wrapped([lon, lat]: Place): Place {
  const west = ((lon % TURN) + TURN) % TURN;
  return [west > TURN / 2 ? west - TURN : west, lat];
}
