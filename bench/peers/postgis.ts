import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { say } from '../support/run.js';
import { freePort, isInstalled, rowBatches, startBackend } from './backend.js';
import { type Backend, PAGE_SIZE, type PeerStore, Skipped } from './types.js';

const PACKAGED = '/usr/lib/postgresql';
const DATABASE = 'postgres';
const BATCH = 5000;
/** Two for each core of a small machine. */
const POOL_SIZE = 4;

/** For a database that is read only and fits in memory. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '2GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  max_wal_size: '8GB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  random_page_cost: '1.0',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

const SCHEMA = `
CREATE EXTENSION postgis;
CREATE UNLOGGED TABLE points (
  id bigint NOT NULL,
  geom geometry(Point, 4326) NOT NULL,
  geog geography(Point, 4326) NOT NULL,
  body text NOT NULL
)`;
const FILL = `
INSERT INTO points
SELECT id, ST_SetSRID(ST_MakePoint(lon, lat), 4326), ST_SetSRID(ST_MakePoint(lon, lat), 4326), body
FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[]) AS row (id, lon, lat, body)`;
/** Neighbours on the map become neighbours on disk. */
const INDEXES = `
CREATE INDEX points_geom ON points USING gist (geom);
CLUSTER points USING points_geom;
CREATE INDEX points_geog ON points USING gist (geog);
ALTER TABLE points ADD PRIMARY KEY (id);
VACUUM ANALYZE points`;

const PAGE = (where: string, order: string): string => `
SELECT count, string_agg(body, ',') AS records FROM (
  SELECT count(*) OVER ()::int AS count, body FROM points
  WHERE ${where} ORDER BY ${order}, id LIMIT ${PAGE_SIZE}
) AS page GROUP BY count`;
const CENTRE = 'ST_SetSRID(ST_MakePoint($1, $2), 4326)::geography';
const BOX_PAGE = PAGE('geom && ST_MakeEnvelope($1, $2, $3, $4, 4326)', 'id').replace(
  'id, id',
  'id',
);
const CIRCLE_PAGE = PAGE(`ST_DWithin(geog, ${CENTRE}, $3)`, `geog <-> ${CENTRE}`);

/** Starts a PostgreSQL of our own on a free port, fills it and makes its indexes. */
export async function startPostgis(ndjson: string): Promise<Backend> {
  const bin = findBinaries();
  if (bin === undefined) throw new Skipped('PostgreSQL is not installed');
  const user = unprivileged();
  const data = mkdtempSync(join(tmpdir(), 'waypost-postgis-'));
  const remove = (): void => rmSync(data, { recursive: true, force: true });
  try {
    if (user !== undefined) chownSync(data, user.uid, user.gid);
    const init = ['-D', data, '-U', 'bench', '--auth=trust', '--no-sync', '-E', 'UTF8'];
    execFileSync(join(bin, 'initdb'), init, { stdio: 'ignore', cwd: '/', ...user });
    const port = await freePort();
    const settings = Object.entries(SETTINGS).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const args = ['-D', data, '-p', String(port), ...settings];
    const backend = await startBackend(
      join(bin, 'postgres'),
      args,
      port,
      async () => {
        await withClient(port, (client) => client.query('SELECT 1'));
      },
      user,
    );
    const stop = async (): Promise<void> => {
      await backend.stop();
      remove();
    };
    try {
      await withClient(port, (client) => fill(client, ndjson));
    } catch (error) {
      await stop();
      throw error;
    }
    return { ...backend, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Answers from PostGIS, with prepared statements over a pool. */
export function openPostgis(port: number): PeerStore {
  const pool = new pg.Pool({ ...address(port), max: POOL_SIZE });
  return {
    async page({ box, circle }) {
      const { rows } = await pool.query<{ count: number; records: string }>(
        box === undefined
          ? {
              name: 'circle',
              text: CIRCLE_PAGE,
              values: [circle!.lon, circle!.lat, circle!.radius],
            }
          : { name: 'box', text: BOX_PAGE, values: [...box] },
      );
      return rows[0] ?? { count: 0, records: '' };
    },
  };
}

async function fill(client: pg.Client, ndjson: string): Promise<void> {
  try {
    await client.query(SCHEMA);
  } catch (error) {
    throw new Skipped(`PostGIS is not installed: ${(error as Error).message}`);
  }
  for await (const rows of rowBatches(ndjson, BATCH)) {
    await client.query({
      name: 'fill',
      text: FILL,
      values: [
        rows.map((row) => row.id),
        rows.map((row) => row.lon),
        rows.map((row) => row.lat),
        rows.map((row) => row.body),
      ],
    });
  }
  // CLUSTER and VACUUM cannot share a statement
  for (const statement of INDEXES.split(';')) await client.query(statement);
  say('PostGIS is filled');
}

async function withClient<T>(port: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(address(port));
  // a PostgreSQL that is still starting drops connections
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function address(port: number): pg.ClientConfig {
  return { host: '127.0.0.1', port, user: 'bench', database: DATABASE };
}

/** The folder of `postgres` and `initdb`; where Debian keeps them they are in no PATH. */
function findBinaries(): string | undefined {
  let versions: string[] = [];
  try {
    versions = readdirSync(PACKAGED).sort((a, b) => Number(b) - Number(a));
  } catch {
    // the folder is where Debian has it only
  }
  const folders = [...versions.map((version) => join(PACKAGED, version, 'bin')), ''];
  return folders.find((folder) => isInstalled(join(folder, 'initdb')));
}

/**
 * The user to run PostgreSQL as, where this process is of root: PostgreSQL refuses to run as root.
 */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
  const user = { uid: id('-u'), gid: id('-g') };
  if (Number.isNaN(user.uid)) throw new Skipped('PostgreSQL does not run as root');
  return user;
}
