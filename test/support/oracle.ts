import { geodesic } from '../../src/model/geo.js';
import type { Box, Circle, Filters, Ordering } from '../../src/query/query.js';
import type { Note } from './notes.js';

/** All matches of some filters, in order; `distances` (metres) only where they were ordered by it. */
export interface Expected {
  readonly notes: readonly Note[];
  readonly distances: ReadonlyMap<Note, number> | undefined;
}

const ALL_TIME = { after: -Infinity, before: Infinity };
const WORLD: readonly Box[] = [{ west: -180, south: -90, east: 180, north: 90 }];

/**
 * Answers queries by looking at every note, with no index and no code of the service but the geodesic:
 * filter, then sort. Columns and sorted lists are made once; picking from a sorted list is sorting what
 * was picked.
 */
export class Oracle {
  /** By id; columns are in this order. */
  readonly #notes: readonly Note[];
  readonly #lon: Float64Array;
  readonly #lat: Float64Array;
  readonly #created: Float64Array;
  readonly #modified: Float64Array;
  readonly #vectors: readonly Vector[];
  /** Places in the columns, in each order there is. */
  readonly #sorted: Readonly<Record<Exclude<Ordering, 'distance'>, readonly number[]>>;

  constructor(notes: readonly Note[]) {
    this.#notes = notes.toSorted((a, b) => a.id - b.id);
    this.#lon = Float64Array.from(this.#notes, (note) => note.lon);
    this.#lat = Float64Array.from(this.#notes, (note) => note.lat);
    this.#created = Float64Array.from(this.#notes, (note) => note.created);
    this.#modified = Float64Array.from(this.#notes, (note) => note.modified);
    this.#vectors = this.#notes.map((note) => vectorOf(note.lon, note.lat));

    const byId = this.#notes.map((_, i) => i);
    // sorting is stable: equal times stay in the order of their ids
    const created = byId.toSorted((a, b) => this.#created[a]! - this.#created[b]!);
    const modified = byId.toSorted((a, b) => this.#modified[a]! - this.#modified[b]!);
    this.#sorted = {
      id: byId,
      created_at: created,
      '-created_at': created.toReversed(),
      modified_at: modified,
      '-modified_at': modified.toReversed(),
    };
  }

  find(filters: Filters, ordering: Ordering): Expected {
    const matches = this.#matches(filters);
    const sorted = this.#sorted[ordering === 'distance' ? 'id' : ordering];
    const found = sorted.filter((i) => matches[i] === 1);
    if (ordering !== 'distance') {
      return { notes: found.map((i) => this.#notes[i]!), distances: undefined };
    }
    const centre = vectorOf(filters.circle!.lon, filters.circle!.lat);
    const metres = new Float64Array(this.#notes.length);
    for (const i of found) metres[i] = arc(centre, this.#vectors[i]!);
    // stable again: one distance, ascending ids
    found.sort((a, b) => metres[a]! - metres[b]!);
    const notes = found.map((i) => this.#notes[i]!);
    return { notes, distances: new Map(found.map((i) => [this.#notes[i]!, metres[i]!])) };
  }

  /** 1 for each note that satisfies all filters. */
  #matches({
    boxes = WORLD,
    circle,
    createdAt = ALL_TIME,
    modifiedAt = ALL_TIME,
  }: Filters): Uint8Array {
    const matches = new Uint8Array(this.#notes.length);
    for (const { west, south, east, north } of boxes) {
      for (let i = 0; i < matches.length; i++) {
        const [lon, lat] = [this.#lon[i]!, this.#lat[i]!];
        if (lon >= west && lon <= east && lat >= south && lat <= north) matches[i] = 1;
      }
    }
    for (let i = 0; i < matches.length; i++) {
      const [created, modified] = [this.#created[i]!, this.#modified[i]!];
      if (created < createdAt.after || created > createdAt.before) matches[i] = 0;
      if (modified < modifiedAt.after || modified > modifiedAt.before) matches[i] = 0;
    }
    if (circle !== undefined) this.#dropOutside(circle, matches);
    return matches;
  }

  /**
   * The geodesic decides. It is asked only where it can be in doubt: a path on the ellipsoid is 0.99441 to
   * 1.00449 times as long as the same path on the sphere of mean radius, the extremes of the ratio of
   * their radii of curvature, so the band here is wider than it need be.
   */
  #dropOutside({ lon, lat, radius }: Circle, matches: Uint8Array): void {
    const centre = vectorOf(lon, lat);
    const surelyIn = squaredChord(radius / 1.005 - 0.001);
    const surelyOut = squaredChord(radius / 0.994 + 0.001);
    for (let i = 0; i < matches.length; i++) {
      if (matches[i] === 0) continue;
      const chord = squaredDistance(centre, this.#vectors[i]!);
      if (chord < surelyIn) continue;
      if (chord > surelyOut || geodesic(lon, lat, this.#lon[i]!, this.#lat[i]!) > radius) {
        matches[i] = 0;
      }
    }
  }
}

type Vector = readonly [x: number, y: number, z: number];

const MEAN_RADIUS = (2 * 6_378_137 + 6_378_137 * (1 - 1 / 298.257223563)) / 3;

function vectorOf(lon: number, lat: number): Vector {
  const [lambda, phi] = [(lon / 180) * Math.PI, (lat / 180) * Math.PI];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

function squaredDistance(a: Vector, b: Vector): number {
  return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
}

/** Great-circle distance in metres between unit vectors. */
function arc(a: Vector, b: Vector): number {
  return 2 * MEAN_RADIUS * Math.asin(Math.min(1, Math.sqrt(squaredDistance(a, b)) / 2));
}

/** Square of the straight line under an arc: less than none for a negative arc, more than any past half a turn. */
function squaredChord(metres: number): number {
  if (metres < 0) return -1;
  return metres >= Math.PI * MEAN_RADIUS ? 5 : (2 * Math.sin(metres / MEAN_RADIUS / 2)) ** 2;
}
