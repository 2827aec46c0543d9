import { Random } from '../../src/cli/generate/random.js';
import { geodesic } from '../../src/model/geo.js';
import type { Box, Circle, Filters, Ordering, TimeWindow } from '../../src/model/query.js';
import { type Note, pickSkewed, STATUSES, TAGS, USERS } from './notes.js';

/** A query whose page depends on its count. */
export interface Question {
  readonly filters: Filters;
  readonly ordering: Ordering;
  /** Chooses a page of `count` matches: inside, the last, or past the end. */
  readonly pageOf: (count: number) => { readonly page: number | 'last'; readonly pageSize: number };
}

const ORDERINGS: readonly Ordering[] = [
  ...(['distance', 'id', 'created_at', '-created_at', 'modified_at', '-modified_at'] as const),
];

/** Consecutive questions run through this many combinations of filters and order. */
export const COMBINATIONS: number = 16 * ORDERINGS.length;

const NOWHERE: Note = { id: 1, lon: 0, lat: 0, created: 0, modified: 0 };

export function randomQuestion(seed: number, index: number, notes: readonly Note[]): Question {
  const random = new Random(seed, 'point');
  random.restart(index + 1);
  const some = (): Note => (notes.length === 0 ? NOWHERE : random.pick(notes));
  const combination = index % COMBINATIONS;
  const filters: Filters = {
    ...(combination & 1 ? { boxes: randomBoxes(random, some) } : {}),
    ...(combination & 2 ? { circle: randomCircle(random, some) } : {}),
    ...(combination & 4 ? { createdAt: randomWindow(random, () => some().created) } : {}),
    ...(combination & 8 ? { modifiedAt: randomWindow(random, () => some().modified) } : {}),
    ...randomAttributes(seed, index),
  };
  const wanted = ORDERINGS[combination >> 4]!;
  const ordering = wanted === 'distance' && filters.circle === undefined ? 'id' : wanted;
  return { filters, ordering, pageOf: (count) => randomPage(random, count) };
}

/** Filters by attributes for three questions of ten; known and unknown values. */
function randomAttributes(seed: number, index: number): Filters {
  const random = new Random(seed, 'other');
  random.restart(index + 1);
  if (random.chance(0.7)) return {};
  const some = <Value>(values: readonly Value[], other: Value): Value[] =>
    Array.from({ length: random.pick([1, 1, 1, 2, 3, 12]) }, () =>
      random.chance(0.05) ? other : pickSkewed(random, values),
    );
  const likely = random.pick([0.15, 0.3, 0.6]);
  return {
    ...(random.chance(likely) ? { statuses: some(STATUSES, 'new') } : {}),
    ...(random.chance(likely) ? { isProcessed: random.chance(0.5) } : {}),
    ...(random.chance(likely) ? { hasImage: random.chance(0.5) } : {}),
    ...(random.chance(likely) ? { createdBy: some([undefined, ...USERS], 1234) } : {}),
    ...(random.chance(likely) ? { tags: some(TAGS, 'lighting') } : {}),
    ...(random.chance(likely) ? { tagsAll: some(TAGS, 'lighting').slice(0, 3) } : {}),
  };
}

function randomBoxes(random: Random, some: () => Note): Box[] {
  const [a, b] = [some(), some()];
  const south = Math.min(a.lat, b.lat);
  const north = Math.max(a.lat, b.lat);
  const between = { west: Math.min(a.lon, b.lon), south, east: Math.max(a.lon, b.lon), north };
  switch (random.int(10)) {
    case 0:
      return [{ west: -180, south: -90, east: 180, north: 90 }];
    case 1: // across the antimeridian, edges on points
      return [
        { west: Math.abs(a.lon), south, east: 180, north },
        { west: -180, south, east: -Math.abs(b.lon), north },
      ];
    case 2: {
      const width = 10 ** random.between(-3, 2);
      return [
        { west: 180 - width, south: -90, east: 180, north },
        { west: -180, south: -90, east: width - 180, north },
      ];
    }
    case 3: // no width, no height, or neither
      return [
        random.pick([
          { ...between, west: a.lon, east: a.lon },
          { ...between, south: a.lat, north: a.lat },
          { west: a.lon, south: a.lat, east: a.lon, north: a.lat },
          { west: 180, south: -90, east: 180, north: 90 },
        ]),
      ];
    case 4:
      return [{ west: -180, south: random.pick([60, 89.9, 90]), east: 180, north: 90 }];
    case 5:
    case 6:
      return [between];
    default: {
      const size = 10 ** random.between(-4, 1.5);
      const west = Math.max(-180, a.lon - size * random.next());
      const bottom = Math.max(-90, a.lat - size * random.next());
      const [east, top] = [Math.min(180, west + size), Math.min(90, bottom + size)];
      return [{ west: Math.min(west, east), south: bottom, east, north: top }];
    }
  }
}

function randomCircle(random: Random, some: () => Note): Circle {
  const [a, b] = [some(), some()];
  const anywhere = { lon: random.between(-180, 180), lat: random.between(-90, 90) };
  const near = {
    lon: Math.max(-180, Math.min(180, a.lon + random.gaussian() * 0.1)),
    lat: Math.max(-90, Math.min(90, a.lat + random.gaussian() * 0.1)),
  };
  const edge = {
    lon: random.pick([-180, 180, 0, a.lon]),
    lat: random.pick([-90, 90, 0, 65, a.lat]),
  };
  const { lon, lat } = random.pick([a, a, near, near, anywhere, edge]);
  const rim = geodesic(lon, lat, b.lon, b.lat);
  switch (random.int(10)) {
    case 0:
      return { lon, lat, radius: 0 };
    case 1: // from below a nanometre
      return { lon, lat, radius: 10 ** random.between(-10, 2) };
    case 2:
    case 3: // the rim exactly on a point, or a hair before it
      return { lon, lat, radius: random.chance(0.7) ? rim : rim * (1 - 2 ** -52) };
    case 4: // half the Earth and more
      return { lon, lat, radius: random.between(9.9e6, 2.1e7) };
    case 5:
      return { lon, lat, radius: random.pick([20_003_931.4586, 20_003_931.4587, 4e7, 1e300]) };
    default:
      return { lon, lat, radius: 10 ** random.between(2, 6.9) };
  }
}

function randomWindow(random: Random, some: () => number): TimeWindow {
  const [a, b] = [some(), some()];
  const [after, before] = [Math.min(a, b), Math.max(a, b)];
  switch (random.int(9)) {
    case 0:
      return { after: -Infinity, before: Infinity };
    case 1:
      return { after, before: Infinity };
    case 2:
      return { after: -Infinity, before };
    case 3: // one instant, which many may share
      return { after: a, before: a };
    case 4: // ends before it begins, or just off every point
      return random.pick([
        { after: before + 1, before: after - 1 },
        { after: 9e15, before: Infinity },
      ]);
    case 5: // the edges one microsecond off
      return { after: after + 1, before: before - 1 };
    case 6:
      return { after: a, before: a + 10 ** random.between(0, 14) };
    default:
      return { after, before };
  }
}

function randomPage(random: Random, count: number): ReturnType<Question['pageOf']> {
  const pageSize = random.pick([1, 2, 10, 100, 100, 999, 1000, 1 + random.int(1000)]);
  const pages = Math.max(1, Math.ceil(count / pageSize));
  const page = random.pick([1, 1, 2, 'last', pages, 1 + random.int(pages), pages + 1] as const);
  return { page, pageSize };
}
