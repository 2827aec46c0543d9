import { geodesic } from '../../src/model/geo.js';
import type { Circle, Filters, Ordering, TimeWindow } from '../../src/model/query.js';
import type { Note } from './notes.js';

/** All matches of a question, in order. */
export interface Expected {
  readonly count: number;
  slice(from: number, to: number): Note[];
  readonly notes: readonly Note[];
  /** Metres; undefined unless the matches are ordered by distance. */
  readonly distances: ReadonlyMap<Note, number> | undefined;
}

/**
 * Answers queries by filtering and sorting all notes, without an index and without code of the
 * service but the geodesic. The notes are sorted once in each order, and then filtered.
 */
export class Oracle {
  /** In the order of ids, as are all columns. */
  readonly #notes: readonly Note[];
  readonly #lon: Float64Array;
  readonly #lat: Float64Array;
  readonly #created: Float64Array;
  readonly #modified: Float64Array;
  readonly #attributes: Attributes;
  /** Places on the unit sphere; three coordinates each. */
  readonly #vectors: Float64Array;
  /** Working memory, reused by each question. */
  readonly #isMatch: Uint8Array;
  readonly #found: Uint32Array;
  readonly #distances: Float64Array;
  /** Indexes into the columns, in each order. */
  readonly #sorted: Readonly<Record<Exclude<Ordering, 'distance'>, Uint32Array>>;

  constructor(notes: readonly Note[]) {
    this.#notes = notes.toSorted((a, b) => a.id - b.id);
    this.#lon = Float64Array.from(this.#notes, (note) => note.lon);
    this.#lat = Float64Array.from(this.#notes, (note) => note.lat);
    this.#created = Float64Array.from(this.#notes, (note) => note.created);
    this.#modified = Float64Array.from(this.#notes, (note) => note.modified);
    this.#vectors = Float64Array.from(this.#notes.flatMap((note) => vectorOf(note.lon, note.lat)));

    this.#attributes = new Attributes(this.#notes);

    this.#isMatch = new Uint8Array(notes.length);
    this.#found = new Uint32Array(notes.length + 1);
    this.#distances = new Float64Array(notes.length);

    const byId = Uint32Array.from(this.#notes, (_, i) => i);
    // sorting is stable: equal times stay in the order of ids
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
    const found = this.#select(filters, ordering === 'distance' ? 'id' : ordering);
    const circle = ordering === 'distance' ? filters.circle! : undefined;
    if (circle !== undefined) {
      const metres = this.#metres(circle, found);
      // stable: equal distances stay in the order of ids
      found.sort((a, b) => metres[a]! - metres[b]!);
    }
    const distancesOf = (one: Circle): Map<Note, number> => {
      const metres = this.#metres(one, found);
      return new Map(Array.from(found, (i) => [this.#notes[i]!, metres[i]!]));
    };
    const notesOf = (places: Uint32Array): Note[] => Array.from(places, (i) => this.#notes[i]!);
    // lazily, because most questions are about one page
    return {
      count: found.length,
      slice: (from, to) => notesOf(found.subarray(from, to)),
      get notes() {
        return notesOf(found);
      },
      get distances() {
        return circle && distancesOf(circle);
      },
    };
  }

  /** Indexes of the notes that satisfy all filters. */
  #select(filters: Filters, ordering: Exclude<Ordering, 'distance'>): Uint32Array {
    const matches = this.#matches(filters);
    const sorted = this.#sorted[ordering];
    const found = this.#found;
    let count = 0;
    for (let at = 0; at < sorted.length; at++) {
      const i = sorted[at]!;
      // without a branch, which would cost more
      found[count] = i;
      count += matches[i]!;
    }
    return found.slice(0, count);
  }

  /** Metres from the centre by index, for `places` only; valid until the next call. */
  #metres({ lon, lat }: Circle, places: Uint32Array): Float64Array {
    const centre = vectorOf(lon, lat);
    const metres = this.#distances;
    for (const i of places) metres[i] = arc(squaredDistance(centre, this.#vectors, i));
    return metres;
  }

  /** 1 for each note that satisfies all filters; valid until the next call. */
  #matches(filters: Filters): Uint8Array {
    const { boxes, circle, createdAt, modifiedAt } = filters;
    const [lons, lats] = [this.#lon, this.#lat];
    const matches = this.#isMatch.fill(boxes === undefined ? 1 : 0);
    for (const { west, south, east, north } of boxes ?? []) {
      for (let i = 0; i < matches.length; i++) {
        const lon = lons[i]!;
        const lat = lats[i]!;
        matches[i]! |= +(lon >= west) & +(lon <= east) & +(lat >= south) & +(lat <= north);
      }
    }
    if (createdAt !== undefined) dropOutside(createdAt, this.#created, matches);
    if (modifiedAt !== undefined) dropOutside(modifiedAt, this.#modified, matches);
    this.#attributes.keep(matches, filters);
    if (circle !== undefined) this.#dropOutside(circle, matches);
    return matches;
  }

  /**
   * The geodesic is computed only where the distance on the sphere leaves a doubt. A path on the
   * ellipsoid is 0.99441 to 1.00449 times as long as on the sphere of mean radius (the extremes of
   * the ratio of their radii of curvature); the band used here is wider.
   */
  #dropOutside({ lon, lat, radius }: Circle, matches: Uint8Array): void {
    const centre = vectorOf(lon, lat);
    const surelyIn = squaredChord(radius / 1.005 - 0.001);
    const surelyOut = squaredChord(radius / 0.994 + 0.001);
    const vectors = this.#vectors;
    for (let i = 0; i < matches.length; i++) {
      if (matches[i] === 0) continue;
      const chord = squaredDistance(centre, vectors, i);
      if (chord < surelyIn) continue;
      if (chord > surelyOut || geodesic(lon, lat, this.#lon[i]!, this.#lat[i]!) > radius) {
        matches[i] = 0;
      }
    }
  }
}

/** One attribute of all notes: its distinct values, and an index into them for each note. */
class Column<Value> {
  readonly #values: Value[] = [];
  readonly #indexes: Uint32Array;

  constructor(notes: readonly Note[], pick: (note: Note) => Value) {
    const known = new Map<string, number>();
    this.#indexes = Uint32Array.from(notes, (note) => {
      const value = pick(note);
      const key = JSON.stringify([value]);
      const index = known.get(key) ?? this.#values.push(value) - 1;
      known.set(key, index);
      return index;
    });
  }

  /** Clears the notes whose value fails; tests each distinct value once. */
  keep(matches: Uint8Array, test: (value: Value) => boolean): void {
    const passes = Uint8Array.from(this.#values, (value) => +test(value));
    const indexes = this.#indexes;
    for (let i = 0; i < matches.length; i++) matches[i]! &= passes[indexes[i]!]!;
  }
}

class Attributes {
  readonly #status: Column<string>;
  readonly #isProcessed: Column<boolean>;
  readonly #hasImage: Column<boolean>;
  readonly #createdBy: Column<number | undefined>;
  readonly #tags: Column<readonly string[]>;

  constructor(notes: readonly Note[]) {
    this.#status = new Column(notes, ({ status = 'NEW' }) => status);
    this.#isProcessed = new Column(notes, ({ isProcessed = false }) => isProcessed);
    this.#hasImage = new Column(notes, ({ hasImage = false }) => hasImage);
    this.#createdBy = new Column(notes, ({ createdBy }) => createdBy);
    this.#tags = new Column(notes, ({ tags = [] }) => tags.toSorted());
  }

  keep(matches: Uint8Array, filters: Filters): void {
    const { statuses, isProcessed, hasImage, createdBy, tags, tagsAll } = filters;
    if (statuses) this.#status.keep(matches, (status) => statuses.includes(status));
    if (isProcessed !== undefined) this.#isProcessed.keep(matches, (is) => is === isProcessed);
    if (hasImage !== undefined) this.#hasImage.keep(matches, (has) => has === hasImage);
    if (createdBy) this.#createdBy.keep(matches, (user) => createdBy.includes(user));
    if (tags) this.#tags.keep(matches, (own) => tags.some((tag) => own.includes(tag)));
    if (tagsAll) this.#tags.keep(matches, (own) => tagsAll.every((tag) => own.includes(tag)));
  }
}

function dropOutside(
  { after, before }: TimeWindow,
  times: Float64Array,
  matches: Uint8Array,
): void {
  for (let i = 0; i < matches.length; i++) {
    const time = times[i]!;
    matches[i]! &= +(time >= after) & +(time <= before);
  }
}

type Vector = [x: number, y: number, z: number];

const MEAN_RADIUS = (2 * 6_378_137 + 6_378_137 * (1 - 1 / 298.257223563)) / 3;

function vectorOf(lon: number, lat: number): Vector {
  const [lambda, phi] = [(lon / 180) * Math.PI, (lat / 180) * Math.PI];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

/** Square of the chord to vector number `i`. */
function squaredDistance(centre: Vector, vectors: Float64Array, i: number): number {
  const dx = centre[0] - vectors[3 * i]!;
  const dy = centre[1] - vectors[3 * i + 1]!;
  const dz = centre[2] - vectors[3 * i + 2]!;
  return dx * dx + dy * dy + dz * dz;
}

/** Great-circle metres between unit vectors, from the square of their chord. */
function arc(squared: number): number {
  return 2 * MEAN_RADIUS * Math.asin(Math.min(1, Math.sqrt(squared) / 2));
}

/** Square of an arc's chord; -1 for negative metres, and above every square past half a turn. */
function squaredChord(metres: number): number {
  if (metres < 0) return -1;
  return metres >= Math.PI * MEAN_RADIUS ? 5 : (2 * Math.sin(metres / MEAN_RADIUS / 2)) ** 2;
}
