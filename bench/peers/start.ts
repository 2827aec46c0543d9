import { join } from 'node:path';
import { startServer } from '../support/service.js';
import { startPostgis } from './postgis.js';
import { startRedis } from './redis.js';
import type { Backend } from './types.js';

/** What can be set beside Waypost: its name on the command line, and that in tables. */
export const TITLES: Record<string, string> = {
  fastify: 'bare Fastify, same bytes',
  'fastify-cluster': 'bare Fastify, a process a core',
  redis: 'Redis GEOSEARCH',
  postgis: 'PostGIS',
  sqlite: 'SQLite R*Tree',
};

export const PEERS: readonly string[] = Object.keys(TITLES);

const PEER_SERVER = join(import.meta.dirname, 'server.js');

export interface Peer {
  readonly name: string;
  readonly url: string;
  /** Processes whose CPU time, with that of their children, counts as the peer's. */
  readonly pids: readonly number[];
  /** Sends ready bytes and searches nothing: a bound for what searches. */
  readonly isCeiling: boolean;
}

/**
 * Starts a peer, filled with the points of an NDJSON file; the bare routes send what is in
 * `folder`. Throws Skipped when it is not installed.
 */
export async function startPeer(kind: string, folder: string, ndjson: string): Promise<Peer> {
  if (!PEERS.includes(kind)) throw new Error(`No peer is called ${kind}.`);
  let backend: Backend | undefined;
  if (kind === 'redis') backend = await startRedis(ndjson);
  if (kind === 'postgis') backend = await startPostgis(ndjson);
  const isCeiling = kind.startsWith('fastify');
  const argument = backend === undefined ? (isCeiling ? folder : ndjson) : String(backend.port);
  const server = await startServer(PEER_SERVER, [kind, argument]);
  return {
    name: TITLES[kind]!,
    url: server.url,
    pids: [server.pid, ...(backend === undefined ? [] : [backend.pid])],
    isCeiling,
  };
}
