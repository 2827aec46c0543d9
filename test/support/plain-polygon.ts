/** Longitude and latitude in whole hundredths of a degree, so that all products are exact. */
export type Place = readonly [lon: number, lat: number];

/** A ring as it is written. */
export type WrittenRing = readonly Place[];

const TURN = 36_000;

interface Ring {
  readonly places: readonly Place[];
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

/** The value of a polygon parameter. */
export function textOfRings(rings: readonly WrittenRing[]): string {
  return rings
    .map((ring) => ring.map((place) => place.map((at) => (at / 100).toFixed(2)).join()).join(';'))
    .join('|');
}

/**
 * Tells what a polygon holds by the plain test: count the edges on the way to the west, ring by
 * ring. Has no code of the service.
 */
export class PlainPolygon {
  readonly #rings: readonly Ring[];
  /** Whole turns by which a place is moved before it is looked for. */
  readonly #turns: readonly number[];

  constructor(written: readonly WrittenRing[]) {
    this.#rings = written.map(unroll);
    const isBeyond = this.#rings.some(({ west, east }) => west < -TURN / 2 || east > TURN / 2);
    this.#turns = isBeyond ? [-3, -2, -1, 0, 1, 2, 3] : [0];
  }

  holds(x: number, y: number): boolean {
    for (const [index, ring] of this.#rings.entries()) {
      const side = this.#mostOf(ring, x, y);
      if (index === 0 ? side < 0 : side > 0) return false;
    }
    return true;
  }

  /** The side that a place lies on by the name that lies deepest. */
  #mostOf(ring: Ring, x: number, y: number): number {
    let most = -1;
    for (const turns of this.#turns) {
      const named = x + turns * TURN;
      if (named < ring.west || named > ring.east) continue;
      if (y < ring.south || y > ring.north) continue;
      most = Math.max(most, sideOf(ring.places, named, y));
    }
    return most;
  }
}

/** Takes the short way where an edge is longer than half a turn and no whole one. */
function unroll(ring: WrittenRing): Ring {
  const places: Place[] = [];
  let moved = 0;
  for (const [x, y] of ring) {
    const last = places.at(-1)?.[0] ?? x;
    while (x + moved - last > TURN / 2 && x + moved - last !== TURN) moved -= TURN;
    while (last - x - moved > TURN / 2 && last - x - moved !== TURN) moved += TURN;
    places.push([x + moved, y]);
  }
  const lons = places.map(([x]) => x);
  const lats = places.map(([, y]) => y);
  return {
    places,
    west: Math.min(...lons),
    east: Math.max(...lons),
    south: Math.min(...lats),
    north: Math.max(...lats),
  };
}

/** Above 0 where a place lies in a ring, 0 on its edge, below 0 outside. */
function sideOf(places: readonly Place[], x: number, y: number): number {
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
