import { geodesic } from '../../src/model/geo.js';
import type { Circle, Filters, Ordering } from '../../src/query/query.js';
import type { Note } from './notes.js';

/** All matches of some filters, in order; `distances` (metres) only where they were ordered by it. */
export interface Expected {
  readonly notes: readonly Note[];
  readonly distances: ReadonlyMap<Note, number> | undefined;
}

/**
 * Answers queries by looking at every note, with no index and no code of the service but the geodesic:
 * filter, then sort.
 */
export class Oracle {
  /** The notes in each order there is. Picking from a sorted list is sorting what was picked. */
  readonly #sorted: Readonly<Record<Exclude<Ordering, 'distance'>, readonly Note[]>>;
  readonly #vectors = new Map<Note, Vector>();

  constructor(notes: readonly Note[]) {
    const up = (key: (note: Note) => number) => (a: Note, b: Note) =>
      key(a) - key(b) || a.id - b.id;
    const created = notes.toSorted(up((note) => note.created));
    const modified = notes.toSorted(up((note) => note.modified));
    this.#sorted = {
      id: notes.toSorted(up((note) => note.id)),
      created_at: created,
      '-created_at': created.toReversed(),
      modified_at: modified,
      '-modified_at': modified.toReversed(),
    };
    for (const note of notes) this.#vectors.set(note, vectorOf(note.lon, note.lat));
  }

  find(filters: Filters, ordering: Ordering): Expected {
    const { boxes, circle, createdAt, modifiedAt } = filters;
    const nearby = circle === undefined ? undefined : this.#circleTest(circle);
    const notes = this.#sorted[ordering === 'distance' ? 'id' : ordering].filter((note) => {
      if (createdAt && (note.created < createdAt.after || note.created > createdAt.before)) {
        return false;
      }
      if (modifiedAt && (note.modified < modifiedAt.after || note.modified > modifiedAt.before)) {
        return false;
      }
      const { lon, lat } = note;
      const inBox =
        boxes === undefined ||
        boxes.some(
          (box) => box.west <= lon && lon <= box.east && box.south <= lat && lat <= box.north,
        );
      return inBox && (nearby === undefined || nearby(note));
    });
    if (ordering !== 'distance') return { notes, distances: undefined };

    const centre = vectorOf(circle!.lon, circle!.lat);
    const distances = new Map<Note, number>();
    for (const note of notes) distances.set(note, arc(centre, this.#vectors.get(note)!));
    notes.sort((a, b) => distances.get(a)! - distances.get(b)! || a.id - b.id);
    return { notes, distances };
  }

  /**
   * The geodesic decides. It is asked only where it can be in doubt: a path on the ellipsoid is 0.99441 to
   * 1.00449 times as long as the same path on the sphere of mean radius, the extremes of the ratio of
   * their radii of curvature, so the band here is wider than it need be.
   */
  #circleTest({ lon, lat, radius }: Circle): (note: Note) => boolean {
    const centre = vectorOf(lon, lat);
    const surelyIn = squaredChord(radius / 1.005 - 0.001);
    const surelyOut = squaredChord(radius / 0.994 + 0.001);
    return (note) => {
      const chord = squaredDistance(centre, this.#vectors.get(note)!);
      if (chord < surelyIn) return true;
      return chord <= surelyOut && geodesic(lon, lat, note.lon, note.lat) <= radius;
    };
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
