import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPeer } from '../peers/start.js';
import { LIST } from '../places.js';
import { type Spread, spreadOf } from '../support/stats.js';
import type { Address } from './cases.js';
import type { Contender } from './contender.js';
import { fetchBytes } from './ours.js';
import type { PostgisTiles } from './postgis.js';

/** What a request takes that asks for next to nothing, over one connection. */
export interface Floor {
  readonly what: string;
  readonly micros: Spread;
}

/** In the north-western corner, where there is no point. */
const NOWHERE: Address = { z: 22, x: 0, y: 0 };
const REQUESTS = 500;
const ROUNDS = 5;

/**
 * Measures what bounds quick tiles: `byHttp` answering an empty one, a bare Fastify sending the
 * `bytes` of one, PostgreSQL answering a constant.
 */
export async function measureFloors(
  byHttp: Contender,
  postgis: PostgisTiles | undefined,
  bytes: Uint8Array,
  isSmoke: boolean,
): Promise<Floor[]> {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-tile-'));
  writeFileSync(join(folder, 'box-0'), bytes);
  const bare = await startPeer('fastify', folder, '');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asks = new Map<string, () => Promise<unknown>>([
    ['Waypost, an empty tile by HTTP', async () => byHttp.tile(NOWHERE)],
    [
      `a bare Fastify route that sends a tile of ${bytes.length} bytes`,
      () => fetchBytes(`${bare.url}${LIST}`, agent),
    ],
  ]);
  if (postgis !== undefined) asks.set('PostgreSQL, SELECT 1', () => postgis.nothing());
  const micros = new Map([...asks.keys()].map((what) => [what, [] as number[]]));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [what, ask] of asks) micros.get(what)!.push(await timeOf(ask, isSmoke));
    }
  } finally {
    agent.destroy();
    await bare.stop();
    rmSync(folder, { recursive: true });
  }
  // the first round is for warming up
  return [...micros].map(([what, all]) => ({ what, micros: spreadOf(all.slice(1)) }));
}

/** Microseconds of a request, the mean of many. */
async function timeOf(ask: () => Promise<unknown>, isSmoke: boolean): Promise<number> {
  const requests = isSmoke ? 5 : REQUESTS;
  const began = performance.now();
  for (let i = 0; i < requests; i++) await ask();
  return ((performance.now() - began) * 1000) / requests;
}
