import { Agent, get } from 'node:http';
import type { Filters } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import { filtersWithin } from '../../src/tiles/query.js';
import { makeTile } from '../../src/tiles/tile.js';
import { startService } from '../support/service.js';
import { type Address, filtersOf, GRID } from './cases.js';
import type { Contender } from './contender.js';

const OURS = 'Waypost';
const OURS_BY_HTTP = 'Waypost, by HTTP';

/** Tiles made in this process, without pauses. */
export function openOurs(engine: Engine): Contender {
  let filters: Filters = {};
  return {
    name: OURS,
    async prepare(set) {
      filters = await filtersOf(set);
    },
    tile(address) {
      const within = filtersWithin(address, filters);
      return makeTile(engine, { address, filters: within, grid: GRID });
    },
    async stop() {},
  };
}

/** Tiles asked of a service over one connection, no answer being kept. */
export async function startOurs(snapshot: string): Promise<Contender> {
  const service = await startService(snapshot, ['--answer-cache', '0', '--workers', '1']);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let query = '';
  return {
    name: OURS_BY_HTTP,
    async prepare(set) {
      query = set.query;
    },
    tile: ({ z, x, y }: Address) =>
      fetchBytes(`${service.url}/tiles/${z}/${x}/${y}.mvt?${query}`, agent),
    async stop() {
      agent.destroy();
      await service.stop();
    },
  };
}

/** Asks for an address over a connection of the agent; returns the body. */
export function fetchBytes(url: string, agent: Agent): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const body = Buffer.concat(chunks);
        if (answer.statusCode === 200 || answer.statusCode === 204) resolve(body);
        else reject(new Error(`${url}: ${answer.statusCode} ${body}`));
      });
    });
    sent.on('error', reject);
  });
}
