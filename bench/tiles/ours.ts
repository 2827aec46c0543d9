import { Agent } from 'node:http';
import { parseQueryString } from '../../src/http/request/query-string.js';
import { parseTileLook } from '../../src/http/routes/tile-views.js';
import type { Filters } from '../../src/model/query.js';
import { UTC } from '../../src/model/time-zone.js';
import type { Engine } from '../../src/query/engine.js';
import { filtersWithin } from '../../src/tiles/grid.js';
import { makeTile } from '../../src/tiles/tile.js';
import { ask } from '../../test/support/client.js';
import { benchRandom } from '../places.js';
import { atEnd, startService } from '../support/service.js';
import { GRID } from './cases.js';
import type { Contender } from './measure.js';

export const OURS = 'Waypost';
export const BY_HTTP = 'Waypost, by HTTP';

/** Tiles made in this process. */
export function openOurs(engine: Engine): Contender {
  let filters: Filters = {};
  return {
    name: OURS,
    isGrid: true,
    async prepare({ query }) {
      ({ filters } = parseTileLook(parseQueryString(query), UTC));
    },
    tile(address) {
      const within = filtersWithin(address, filters);
      return makeTile(engine, { address, filters: within, grid: GRID });
    },
  };
}

/** Tiles of a service without an answer cache, over one connection. */
export async function startOurs(snapshot: string): Promise<Contender> {
  const { url } = await startService(snapshot, ['--answer-cache', '0', '--workers', '1']);
  const port = Number(new URL(url).port);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  atEnd(async () => agent.destroy());
  let query = '';
  return {
    name: BY_HTTP,
    isGrid: true,
    async prepare(set) {
      query = set.query;
    },
    async tile({ z, x, y }) {
      const path = `/tiles/${z}/${x}/${y}.mvt?${query}`;
      const { status, body, text } = await ask(port, path, { agent });
      if (status > 204) throw new Error(`${path}: ${status} ${text}`);
      return body;
    },
  };
}

/** A tile of the whole world with a filter that was not asked for before. */
export interface WorldTile {
  readonly query: string;
  readonly millis: number;
}

const WORLD = { z: 0, x: 0, y: 0 };

/**
 * The slowest of `tries` tiles of the whole world, each with one filter that was not asked for
 * before: what is known of a filter from an earlier tile does not help.
 */
export function slowestTile(engine: Engine, tries: number): WorldTile {
  const random = benchRandom(1, 510);
  const day = (): string => new Date(Date.UTC(2020, 0, 1 + random.int(1400))).toISOString();
  const degrees = (limit: number): string => ((random.next() * 2 - 1) * limit).toFixed(4);
  const kinds: readonly (() => string)[] = [
    () => `status=NEW,other-${random.int(1e6)}`,
    () => `tags=${random.pick(['Lighting', 'Noise', 'Traffic'])},other-${random.int(1e6)}`,
    () => `created_by=none,${random.int(4000)}`,
    () => `created_at_after=${day()}`,
    () => `modified_at_before=${day()}`,
    () => `bbox=${degrees(180)},${degrees(45)},${degrees(180)},${60 + random.int(30)}`,
    () => `coordinates=${degrees(90)},${degrees(180)},${random.int(20_000_000)}`,
    () => `polygon=${Array.from({ length: 30 }, () => `${degrees(80)},${degrees(90)}`).join(';')}`,
  ];
  let slowest: WorldTile = { query: '', millis: 0 };
  // the first tries of each kind do not count: their code is being compiled
  for (let i = -5 * kinds.length; i < tries; i++) {
    const query = kinds[Math.abs(i) % kinds.length]!();
    const look = parseTileLook(parseQueryString(query), UTC);
    const filters = filtersWithin(WORLD, look.filters);
    const before = process.cpuUsage();
    makeTile(engine, { address: WORLD, filters, grid: GRID });
    const { user, system } = process.cpuUsage(before);
    const millis = (user + system) / 1000;
    if (i >= 0 && millis > slowest.millis) slowest = { query, millis };
  }
  return slowest;
}
