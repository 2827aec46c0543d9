import { NOBODY, type TextAttribute } from '../../src/dataset/attributes.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import type { Order } from '../../src/dataset/order.js';
import type { Random } from '../../src/generate/random.js';
import { FARTHEST, geodesic } from '../../src/model/geo.js';
import type { Box, Circle, Filters, Ordering, Query, TimeWindow } from '../../src/model/query.js';
import { randomPolygon } from './polygons.js';

/** A query before the number of its pages is known. */
export interface Candidate {
  readonly filters: Filters;
  readonly ordering: Ordering;
  readonly pageSize: number;
  /** 0 for the first page, 1 for the last. */
  readonly depth: number;
}

/** What queries are asked of. */
export interface Searched {
  readonly dataset: Dataset;
  /** Tried as they are, too. */
  readonly circles: readonly Circle[];
  /** Whether each query has a polygon; else none has. */
  readonly hasPolygons: boolean;
}

const ORDERINGS: readonly Ordering[] = [
  'id',
  'distance',
  'created_at',
  '-created_at',
  'modified_at',
  '-modified_at',
];

/** Any query of the interface: filters, radii and shares of all sizes, any page. */
export function randomCandidate(
  { dataset, circles, hasPolygons }: Searched,
  random: Random,
): Candidate {
  const filters: Filters = {
    ...(random.chance(0.35) ? { boxes: randomBoxes(dataset, random) } : {}),
    ...(random.chance(0.6) ? { circle: randomCircle(dataset, circles, random) } : {}),
    ...(hasPolygons ? { polygon: randomPolygon(dataset, random) } : {}),
    ...(random.chance(0.5) ? { createdAt: randomWindow(dataset.byCreatedAt, random) } : {}),
    ...(random.chance(0.5) ? { modifiedAt: randomWindow(dataset.byModifiedAt, random) } : {}),
    ...(random.chance(0.5) ? randomAttributes(dataset, random) : {}),
  };
  return {
    filters,
    ordering: orderingFor(filters, random.pick(ORDERINGS)),
    pageSize: random.pick([1, 100, 100, 1000]),
    depth: randomDepth(random),
  };
}

/** A copy of the query in which one part is replaced or slightly changed. */
export function mutate(searched: Searched, candidate: Candidate, random: Random): Candidate {
  const { filters, ordering } = candidate;
  const other = randomCandidate(searched, random);
  switch (random.int(9)) {
    case 0:
      return { ...candidate, ordering: orderingFor(filters, other.ordering) };
    case 1:
      return { ...candidate, pageSize: other.pageSize };
    case 2:
      return { ...candidate, depth: other.depth };
    case 3:
      return { ...candidate, depth: clamp(candidate.depth + random.gaussian() * 0.05, 0, 1) };
    case 4: {
      // adds a filter, or replaces one
      const all = { ...filters, ...other.filters };
      return { ...candidate, filters: all, ordering: orderingFor(all, ordering) };
    }
    case 5: {
      const { [random.pick(Object.keys(filters)) as 'boxes']: _, ...rest } = { ...filters };
      return { ...candidate, filters: rest, ordering: orderingFor(rest, ordering) };
    }
    default: {
      const changed = changeALittle(searched.dataset, filters, random);
      return { ...candidate, filters: changed };
    }
  }
}

/** The query as parameters of the interface. */
export function textOf({ filters, ordering, pageSize }: Candidate, { page }: Query): string {
  const { boxes, circle, polygon, createdAt, modifiedAt } = filters;
  const { statuses, isProcessed, hasImage, tags, tagsAll, createdBy } = filters;
  const parts: string[] = [];
  for (const { west, south, east, north } of boxes ?? []) {
    parts.push(`bbox=${[west, south, east, north].map((edge) => edge.toFixed(5)).join()}`);
  }
  if (circle !== undefined) {
    parts.push(`coordinates=${circle.lat.toFixed(5)},${circle.lon.toFixed(5)},${circle.radius}`);
  }
  if (polygon !== undefined) {
    const places = polygon.rings.reduce((sum, ring) => sum + ring.length / 2, 0);
    parts.push(`polygon=…(${places} places, ${polygon.rings.length} rings)`);
  }
  for (const [name, window] of [
    ['created_at', createdAt],
    ['modified_at', modifiedAt],
  ] as const) {
    if (window === undefined) continue;
    parts.push(
      `${name}_after=${timeText(window.after)}`,
      `${name}_before=${timeText(window.before)}`,
    );
  }
  if (statuses !== undefined) parts.push(`status=${statuses}`);
  if (isProcessed !== undefined) parts.push(`is_processed=${isProcessed}`);
  if (hasImage !== undefined) parts.push(`has_image=${hasImage}`);
  if (tags !== undefined) parts.push(`tags=${tags}`);
  if (tagsAll !== undefined) parts.push(`tags_all=${tagsAll}`);
  if (createdBy !== undefined) {
    parts.push(`created_by=${createdBy.map((user) => user ?? 'none')}`);
  }
  if (ordering !== 'distance' && ordering !== 'id') parts.push(`ordering=${ordering}`);
  return [...parts, `page_size=${pageSize}`, `page=${page}`].join('&');
}

function timeText(time: number): string {
  return new Date(time / 1000).toISOString();
}

/** Replaces the order nearest first where there is no circle. */
function orderingFor({ circle }: Filters, ordering: Ordering): Ordering {
  return ordering === 'distance' && circle === undefined ? 'id' : ordering;
}

function randomDepth(random: Random): number {
  const kind = random.int(5);
  if (kind === 0) return 1;
  if (kind === 1) return 0;
  return kind === 2 ? 10 ** random.between(-4, 0) : random.next();
}

function randomPlace({ coords, count }: Dataset, random: Random): [lon: number, lat: number] {
  const row = random.int(count);
  const [lon, lat] = [coords[2 * row]!, coords[2 * row + 1]!];
  switch (random.int(6)) {
    case 0:
      return [random.between(-180, 180), random.between(-90, 90)];
    case 1: // about its antipode
      return [
        clamp((lon > 0 ? lon - 180 : lon + 180) + random.gaussian() * 0.1, -180, 180),
        clamp(-lat + random.gaussian() * 0.1, -90, 90),
      ];
    case 2:
      return [
        clamp(lon + random.gaussian() * 0.1, -180, 180),
        clamp(lat + random.gaussian() * 0.1, -90, 90),
      ];
    default:
      return [lon, lat];
  }
}

function randomCircle(dataset: Dataset, circles: readonly Circle[], random: Random): Circle {
  if (circles.length > 0 && random.chance(0.3)) return random.pick(circles);
  const [lon, lat] = randomPlace(dataset, random);
  switch (random.int(4)) {
    case 0:
      return { lon, lat, radius: 10 ** random.between(0, Math.log10(FARTHEST)) };
    case 1: {
      const [otherLon, otherLat] = randomPlace(dataset, random);
      return { lon, lat, radius: geodesic(lon, lat, otherLon, otherLat) };
    }
    default:
      return { lon, lat, radius: random.between(0, FARTHEST) };
  }
}

function randomBoxes(dataset: Dataset, random: Random): Box[] {
  const [lon, lat] = randomPlace(dataset, random);
  const half = random.chance(0.5) ? random.between(0, 180) : 10 ** random.between(-3, 2);
  return [
    {
      west: Math.max(-180, lon - half),
      south: Math.max(-90, lat - half / random.pick([1, 2, 4])),
      east: Math.min(180, lon + half),
      north: Math.min(90, lat + half / random.pick([1, 2, 4])),
    },
  ];
}

function randomAttributes({ attributes }: Dataset, random: Random): Filters {
  const { status, tags, createdBy } = attributes;
  const some = <Value>(pick: () => Value): Value[] =>
    Array.from({ length: random.pick([1, 1, 2, 5, 30]) }, pick);
  const textOf = ({ texts: { bytes, ends } }: TextAttribute): string => {
    const text = random.int(ends.length);
    const raw = Buffer.from(bytes.subarray(text === 0 ? 0 : ends[text - 1], ends[text]));
    return JSON.parse(`"${raw}"`);
  };
  const userOf = (): number | undefined => {
    const user = createdBy.users[random.int(createdBy.users.length)]!;
    return user === NOBODY ? undefined : user;
  };
  return {
    ...(random.chance(0.4) ? { statuses: some(() => textOf(status)) } : {}),
    ...(random.chance(0.3) ? { isProcessed: random.chance(0.5) } : {}),
    ...(random.chance(0.3) ? { hasImage: random.chance(0.5) } : {}),
    ...(random.chance(0.3) ? { createdBy: some(userOf) } : {}),
    ...(random.chance(0.4) ? { tags: some(() => textOf(tags)) } : {}),
    ...(random.chance(0.2) ? { tagsAll: some(() => textOf(tags)).slice(0, 3) } : {}),
  };
}

function randomWindow({ keys }: Order, random: Random): TimeWindow {
  const share = random.chance(0.7) ? random.next() : 10 ** random.between(-5, 0);
  const length = Math.max(1, Math.floor(share * keys.length));
  const from = random.chance(0.2) ? 0 : random.int(keys.length - length + 1);
  return { after: keys[from]!, before: keys[from + length - 1]! };
}

function changeALittle(dataset: Dataset, filters: Filters, random: Random): Filters {
  const { circle, createdAt, modifiedAt, boxes } = filters;
  const factor = 1 + random.gaussian() * random.pick([1e-6, 1e-3, 0.1]);
  return {
    ...filters,
    ...(circle === undefined
      ? {}
      : { circle: { ...circle, radius: Math.abs(circle.radius * factor) } }),
    ...(boxes === undefined || random.chance(0.5)
      ? {}
      : { boxes: boxes.map((box) => ({ ...box, east: Math.max(box.west, box.east * factor) })) }),
    ...(createdAt === undefined || random.chance(0.5)
      ? {}
      : { createdAt: moved(dataset.byCreatedAt, createdAt, factor) }),
    ...(modifiedAt === undefined || random.chance(0.5)
      ? {}
      : { modifiedAt: moved(dataset.byModifiedAt, modifiedAt, factor) }),
  };
}

/** A window that is longer or shorter by a factor. */
function moved({ keys }: Order, { after, before }: TimeWindow, factor: number): TimeWindow {
  return { after, before: clamp(after + (before - after) * factor, after, keys.at(-1)!) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
