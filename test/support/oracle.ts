import { greatCircle } from '../../bench/support/great-circle.js';
import { geodesic } from '../../src/model/geo.js';
import type { Box, Circle, Filters, Ordering, TimeWindow } from '../../src/model/query.js';
import type { Metres, Microseconds } from '../../src/model/units.js';
import type { Note } from './notes.js';

/** All matches of a question, in order. */
export interface Expected {
  readonly notes: readonly Note[];
  /** Undefined unless the matches are ordered by distance. */
  readonly distanceOf: ((note: Note) => Metres) | undefined;
}

/**
 * Answers queries by filtering and sorting all notes, without an index and without code of the
 * service but the geodesic. The notes are sorted once in each order, and then filtered.
 */
export class Oracle {
  readonly #sorted: Readonly<Record<Exclude<Ordering, 'distance'>, readonly Note[]>>;

  constructor(notes: readonly Note[]) {
    const byId = notes.toSorted((a, b) => a.id - b.id);
    // sorting is stable: equal times stay in the order of ids
    const created = byId.toSorted((a, b) => a.created - b.created);
    const modified = byId.toSorted((a, b) => a.modified - b.modified);
    this.#sorted = {
      id: byId,
      created_at: created,
      '-created_at': created.toReversed(),
      modified_at: modified,
      '-modified_at': modified.toReversed(),
    };
  }

  find(filters: Filters, ordering: Ordering): Expected {
    const sorted = this.#sorted[ordering === 'distance' ? 'id' : ordering];
    const tests = testsOf(filters);
    const notes = sorted.filter((note) => tests.every((test) => test(note)));
    if (ordering !== 'distance') return { notes, distanceOf: undefined };
    const { lon, lat } = filters.circle!;
    const distanceOf = (note: Note): Metres => greatCircle(lon, lat, note.lon, note.lat);
    const measured = notes.map((note) => ({ note, metres: distanceOf(note) }));
    // stable: equal distances stay in the order of ids
    measured.sort((a, b) => a.metres - b.metres);
    return { notes: measured.map(({ note }) => note), distanceOf };
  }
}

type Test = (note: Note) => boolean | undefined;

/** A test for each filter that there is: a note is a match where it passes all. */
function testsOf(filters: Filters): readonly Test[] {
  const { boxes, circle, createdAt, modifiedAt } = filters;
  const { statuses, isProcessed, hasImage, createdBy, tags, tagsAll } = filters;
  const tests: (Test | false | undefined)[] = [
    boxes && ((note) => boxes.some((box) => isInBox(note, box))),
    createdAt && ((note) => isWithin(note.created, createdAt)),
    modifiedAt && ((note) => isWithin(note.modified, modifiedAt)),
    statuses && ((note) => statuses.includes(note.status ?? 'NEW')),
    isProcessed !== undefined && ((note) => isProcessed === (note.isProcessed ?? false)),
    hasImage !== undefined && ((note) => hasImage === (note.hasImage ?? false)),
    createdBy && ((note) => createdBy.includes(note.createdBy)),
    tags && ((note) => tags.some((tag) => note.tags?.includes(tag))),
    tagsAll && ((note) => tagsAll.every((tag) => note.tags?.includes(tag))),
    circle && ((note) => isInCircle(note, circle)),
  ];
  return tests.filter((test) => typeof test === 'function');
}

function isInBox({ lon, lat }: Note, { west, south, east, north }: Box): boolean {
  return lon >= west && lon <= east && lat >= south && lat <= north;
}

function isWithin(time: Microseconds, { after, before }: TimeWindow): boolean {
  return time >= after && time <= before;
}

/**
 * The geodesic is computed only where the distance on the sphere leaves a doubt. A path on the
 * ellipsoid is 0.99441 to 1.00449 times as long as on the sphere of mean radius (the extremes of
 * the ratio of their radii of curvature); the band used here is wider.
 */
function isInCircle({ lon: x, lat: y }: Note, { lon, lat, radius }: Circle): boolean {
  const distance = greatCircle(lon, lat, x, y);
  if (distance < radius / 1.005 - 0.001) return true;
  return distance <= radius / 0.994 + 0.001 && geodesic(lon, lat, x, y) <= radius;
}
