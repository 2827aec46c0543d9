import type { Tail, TailMatches } from '../../src/dataset/tail.js';
import { HttpError, NotFound } from '../../src/http/request/errors.js';
import { parseFilters } from '../../src/http/request/filters.js';
import { parseQueryString } from '../../src/http/request/query-string.js';
import { parseTile, parseTileLook } from '../../src/http/request/tile.js';
import { openTimeZone, type TimeZone } from '../../src/model/time-zone.js';
import type { Engine } from '../../src/query/engine.js';
import { matchTail } from '../../src/query/tail.js';
import { filtersWithin, type TileQuery } from '../../src/tiles/query.js';
import { makeTile } from '../../src/tiles/tile.js';
import { benchRandom } from '../places.js';
import { leastOf, type Took, timeWork, type Work } from '../support/held.js';
import { GRID } from './cases.js';
import { createHostileTiles } from './hostile.js';

/** A tile of the whole world with one filter. */
export interface SlowTile extends Took {
  readonly query: string;
}

const WORLD = { z: 0, x: 0, y: 0 };
const TAGS = ['Lighting', 'Noise', 'Traffic', 'Safety', 'Nature'];
const KEPT = 5;
/** Filters by what a bitmap tells. */
const ATTRIBUTE = /^(?:status|tags|created_by|is_processed|has_image)=/;
/** Times that a slow tile is made again: one hiccup of the machine must not make a finding. */
const AGAIN = 5;
/** Filters of each kind that are tried before, so that no code is compiled while time is taken. */
const WARMING = 5;
/** Hostile addresses that are tried before, of which each kind of work is a part. */
const HOSTILE_WARMING = 5_000;

/**
 * Times the tile of the whole world with one filter, each time another one: what is known of a
 * filter from an earlier tile does not help. Returns the slowest.
 */
export async function slowestTiles(engine: Engine, tries: number): Promise<SlowTile[]> {
  const random = benchRandom(1, 510);
  const zone = await openTimeZone('UTC');
  const found: SlowTile[] = [];
  const degrees = (limit: number): string => ((random.next() * 2 - 1) * limit).toFixed(4);
  const day = (): string => new Date(Date.UTC(2020, 0, 1 + random.int(1400))).toISOString();
  const kinds: readonly (() => string)[] = [
    () => `status=${random.pick(['NEW', 'OPEN'])},other-${random.int(1e6)}`,
    () => `tags=${random.pick(TAGS)},other-${random.int(1e6)}`,
    () => `created_by=none,${random.int(4000)}`,
    () => `created_by=${1 + random.int(4000)}`,
    () => random.pick(['is_processed=false', 'is_processed=true', 'has_image=false']),
    () => `created_at_after=${day()}`,
    () => `modified_at_before=${day()}`,
    () => `bbox=${degrees(180)},${degrees(45)},${degrees(180)},${60 + random.int(30)}`,
    () => `coordinates=${degrees(90)},${degrees(180)},${random.int(20_000_000)}`,
    () => `polygon=${Array.from({ length: 30 }, () => `${degrees(180)},${degrees(90)}`).join(';')}`,
  ];
  for (let i = -WARMING * kinds.length; i < tries; i++) {
    const query = kinds[Math.abs(i) % kinds.length]!();
    const filters = filtersWithin(WORLD, parseFilters(parseQueryString(query), zone, []));
    const work: Work = (budget) =>
      makeTile(engine, { address: WORLD, filters, grid: GRID }, undefined, undefined, budget);
    const took = timeWork(work);
    if (i < 0 || took.millis <= (found[KEPT - 1]?.millis ?? 0)) continue;
    // bitmaps of attributes are kept, so that only what needs none may be measured again
    found.push({ query, ...(ATTRIBUTE.test(query) ? took : leastOf(work, AGAIN, took)) });
    found.sort((a, b) => b.millis - a.millis);
    found.length = Math.min(found.length, KEPT);
  }
  return found;
}

/** What came of hostile addresses. */
export interface HostileTiles {
  readonly tried: number;
  /** Those that were refused with 4xx before anything was looked for. */
  readonly refused: number;
  /** The slowest of the others; `query` is the whole address. */
  readonly slowest: SlowTile | undefined;
  /** The one that holds a thread longest. */
  readonly longestHeld?: SlowTile | undefined;
}

/**
 * Makes tiles for hostile addresses, with the matches among the points of a `tail` where there is
 * one, and finds the one that takes longest and the one holds a thread longest.
 */
export async function hostileTiles(
  engine: Engine,
  tries: number,
  tail?: Tail,
): Promise<HostileTiles> {
  const zone = await openTimeZone('UTC');
  for (let next = createHostileTiles(2), i = Math.min(tries, HOSTILE_WARMING); i > 0; i--) {
    const tile = tileOf(next(), zone);
    if (tile !== undefined) makeTile(engine, tile, acceptedOf(tail, tile));
  }
  const next = createHostileTiles(1);
  let refused = 0;
  let slowest: SlowTile | undefined;
  let longestHeld: SlowTile | undefined;
  for (let tried = 0; tried < tries; tried++) {
    const query = next();
    const tile = tileOf(query, zone);
    if (tile === undefined) {
      refused++;
      continue;
    }
    const accepted = acceptedOf(tail, tile);
    const work: Work = (budget) => makeTile(engine, tile, accepted, undefined, budget);
    const isNew = (one: Took): boolean =>
      one.millis > (slowest?.millis ?? 0) || one.held > (longestHeld?.held ?? 0);
    const took = timeWork(work);
    if (!isNew(took)) continue;
    const least = leastOf(work, AGAIN, took);
    if (least.millis > (slowest?.millis ?? 0)) slowest = { query, ...least };
    if (least.held > (longestHeld?.held ?? 0)) longestHeld = { query, ...least };
  }
  return { tried: tries, refused, slowest, longestHeld };
}

/** The tile that an address asks for; undefined where it is refused. */
function tileOf(address: string, zone: TimeZone): TileQuery | undefined {
  const [path, text = ''] = address.split('?');
  const [, z, x, y] = /^\/tiles\/([^/]*)\/([^/]*)\/(.*)\.mvt$/.exec(path!) ?? [];
  try {
    if (y === undefined) throw new NotFound();
    return parseTile({ z: z!, x: x!, y }, parseTileLook(parseQueryString(text), zone));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return undefined;
  }
}

/** The matches of a tile among the points of a tail. */
function acceptedOf(tail: Tail | undefined, { filters }: TileQuery): TailMatches | undefined {
  if (tail === undefined || filters === undefined) return undefined;
  const rows = matchTail(tail, filters, 0, tail.id.length);
  return rows.length === 0 ? undefined : { tail, rows };
}
