import type { Random } from '../../src/cli/generate/random.js';
import { FARTHEST } from '../../src/model/geo.js';
import type { Box, Filters, Ordering, TimeWindow } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { benchRandom } from '../places.js';

export type Kind = 'box' | 'radius' | 'time' | 'combined';

/** Some queries of one kind that match about as many points. */
export interface Case {
  readonly kind: Kind;
  /** Matches aimed at; Infinity for all. */
  readonly target: number;
  readonly ordering: Ordering;
  readonly filters: readonly Filters[];
  /** Matches of a query, on average. */
  readonly matches: number;
}

export const KINDS: readonly Kind[] = ['box', 'radius', 'time', 'combined'];
const TARGETS: readonly number[] = [100, 10_000, Infinity];

const ORDERING: Record<Kind, Ordering> = {
  box: 'id',
  radius: 'distance',
  time: '-created_at',
  combined: '-created_at',
};
const WORLD: Box = { west: -180, south: -90, east: 180, north: 90 };
const METRES_PER_DEGREE = 111_200;
/** Share of the points that the time window of a combined query lets through. */
const COMBINED_SHARE = 0.2;
const TRIES = 40;
/** Small queries: enough that their rows do not all stay in the CPU's caches, as in a service. */
const MANY = 2_000;

/** Queries for every kind and target; the same seed and points give the same. */
export function makeCases(engine: Engine, seed: number): Case[] {
  const cases: Case[] = [];
  for (const kind of KINDS) {
    for (const target of TARGETS) {
      if (Number.isFinite(target) && target * 4 > engine.dataset.count) continue;
      const stream = 200 + KINDS.indexOf(kind) * 10 + TARGETS.indexOf(target);
      cases.push(makeCase(engine, kind, target, benchRandom(seed, stream)));
    }
  }
  return cases;
}

export function countOf(engine: Engine, filters: Filters): number {
  return engine.run({ filters, ordering: 'id', page: 1, pageSize: 1 })!.count;
}

function makeCase(engine: Engine, kind: Kind, target: number, random: Random): Case {
  const filters: Filters[] = [];
  const wanted = target === 100 ? MANY : target === 10_000 ? 50 : 200;
  while (filters.length < wanted) {
    const found =
      target === Infinity ? everything(engine, kind, random) : fitted(engine, kind, target, random);
    if (found !== undefined) filters.push(found);
  }
  const sum = filters.reduce((total, one) => total + countOf(engine, one), 0);
  return { kind, target, ordering: ORDERING[kind], filters, matches: sum / filters.length };
}

/**
 * Filters for all points, or, with a time window, for all but the newest, up to a tenth: so first
 * pages differ, and are not always in the CPU's caches.
 */
function everything({ dataset }: Engine, kind: Kind, random: Random): Filters {
  const { keys } = dataset.byCreatedAt;
  const last = keys.length - 1 - random.int(Math.ceil(keys.length / 10));
  const createdAt = { after: keys[0]!, before: keys[last]! };
  const row = random.int(dataset.count);
  const [lon, lat] = [dataset.coords[2 * row]!, dataset.coords[2 * row + 1]!];
  const circle = { lat, lon, radius: Math.ceil(FARTHEST) };
  if (kind === 'box') return { boxes: [WORLD] };
  if (kind === 'radius') return { circle };
  return kind === 'time' ? { createdAt } : { boxes: [WORLD], createdAt };
}

/** Filters around a random point, widened or narrowed until about `target` match. */
function fitted(engine: Engine, kind: Kind, target: number, random: Random): Filters | undefined {
  if (kind === 'time') return { createdAt: windowOf(engine, target, random) };
  const { coords, count } = engine.dataset;
  const row = random.int(count);
  const [lon, lat] = [coords[2 * row]!, coords[2 * row + 1]!];
  if (Math.abs(lat) > 75 || Math.abs(lon) > 175) return undefined;
  const createdAt = kind === 'combined' ? windowOf(engine, count * COMBINED_SHARE, random) : null;
  let least = 0;
  let most = Infinity;
  let half = 0.01;
  for (let i = 0; i < TRIES && half < 40; i++) {
    const filters = around(kind, lat, lon, half, createdAt);
    const found = countOf(engine, filters);
    if (found >= target * 0.7 && found <= target * 1.4) return filters;
    if (found < target) least = half;
    else most = half;
    half = most === Infinity ? half * 2 : (least + most) / 2;
  }
  return undefined;
}

function around(
  kind: Kind,
  lat: number,
  lon: number,
  half: number,
  createdAt: TimeWindow | null,
): Filters {
  if (kind === 'radius') return { circle: { lat, lon, radius: half * METRES_PER_DEGREE } };
  const halfLon = Math.min(half / Math.cos((lat * Math.PI) / 180), 180);
  const boxes = [
    {
      west: Math.max(-180, lon - halfLon),
      south: Math.max(-90, lat - half),
      east: Math.min(180, lon + halfLon),
      north: Math.min(90, lat + half),
    },
  ];
  return createdAt === null ? { boxes } : { boxes, createdAt };
}

function windowOf({ dataset }: Engine, target: number, random: Random): TimeWindow {
  const { keys } = dataset.byCreatedAt;
  const from = random.int(keys.length - Math.floor(target));
  return { after: keys[from]!, before: keys[from + Math.floor(target) - 1]! };
}
