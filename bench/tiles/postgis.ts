import { basename } from 'node:path';
import pg from 'pg';
import { rowBatches } from '../peers/backend.js';
import { addPostgis, address, startPostgres, withClient } from '../peers/postgres.js';
import { say } from '../support/run.js';
import { type Address, type FilterSet, GRID, onSquare, type TileRecord } from './cases.js';
import type { Contender } from './contender.js';

const BATCH = 5000;

/**
 * Only what tiles need. Places are kept on the square of Web Mercator, so that no query projects
 * anything.
 */
const SCHEMA = `
CREATE UNLOGGED TABLE points (
  place geometry(Point) NOT NULL,
  id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  is_processed boolean NOT NULL,
  status text NOT NULL,
  tags text[] NOT NULL
)`;
const FILL = `
INSERT INTO points
SELECT ST_MakePoint(x, y), id, created_at, is_processed, status, string_to_array(tags, E'\\n')
FROM unnest($1::float8[], $2::float8[], $3::bigint[], $4::timestamptz[], $5::boolean[], $6::text[], $7::text[])
AS row (x, y, id, created_at, is_processed, status, tags)`;
/** Neighbours on the map become neighbours on disk. */
const INDEXES = `
CREATE INDEX points_place ON points USING gist (place);
CLUSTER points USING points_place;
CREATE INDEX points_tags ON points USING gin (tags);
CREATE INDEX points_created_at ON points (created_at);
ALTER TABLE points ADD PRIMARY KEY (id);
VACUUM ANALYZE points`;

/**
 * The same clusters as ours: a grid that is cut from the world. A node of the snapping grid stands
 * in the middle of a cell; the operator `&&` compares boxes of 32 bits, so places are compared,
 * too. Parameters: the tile's corner, then the width of the tile and of a cell.
 */
const tileSql = (where: string): string => `
WITH cells AS MATERIALIZED (
  SELECT count(*)::int AS n, avg(ST_X(place)) AS x, avg(ST_Y(place)) AS y, min(id) AS id
  FROM points
  WHERE place && ST_MakeEnvelope($1::float8, $2::float8, $1::float8 + $3::float8, $2::float8 + $3::float8)
    AND ST_X(place) >= $1::float8 AND ST_X(place) < $1::float8 + $3::float8
    AND ST_Y(place) >= $2::float8 AND ST_Y(place) < $2::float8 + $3::float8 AND ${where}
  GROUP BY ST_SnapToGrid(place, $1::float8 + $4::float8 / 2, $2::float8 + $4::float8 / 2, $4::float8, $4::float8)
)
SELECT coalesce((SELECT ST_AsMVT(clusters, 'clusters') FROM (
  SELECT n AS point_count,
    CASE WHEN n < 1000 THEN n::text WHEN n < 1000000 THEN round(n / 1000.0, 1) || 'k'
      ELSE round(n / 1000000.0, 1) || 'M' END AS point_count_abbreviated,
    ST_MakePoint(floor((x - $1::float8) / $3::float8 * 4096), floor((y - $2::float8) / $3::float8 * 4096)) AS geom
  FROM cells WHERE n > 1
) AS clusters), '')
|| coalesce((SELECT ST_AsMVT(singles, 'points', 4096, 'geom', 'id') FROM (
  SELECT points.id, status, is_processed, extract(epoch FROM created_at)::float8 AS created_at,
    ST_MakePoint(floor((ST_X(place) - $1::float8) / $3::float8 * 4096), floor((ST_Y(place) - $2::float8) / $3::float8 * 4096)) AS geom
  FROM cells JOIN points ON points.id = cells.id WHERE n = 1
) AS singles), '') AS tile`;

/** A PostgreSQL server with a database of tiles. */
interface Server {
  readonly config: pg.ClientConfig;
  stop(): Promise<void>;
}

/**
 * Tiles from PostGIS, over one connection and by prepared statements: from a server of its own, or
 * from the one on `port`, which keeps the points for the next time. Throws Skipped without it.
 */
export async function startPostgisTiles(ndjson: string, port?: number): Promise<PostgisTiles> {
  const { config, stop } =
    port === undefined ? await ownServer(ndjson) : await runningServer(ndjson, port);
  const client = new pg.Client(config);
  await client.connect();
  let set: FilterSet | undefined;
  return {
    name: 'PostGIS',
    async prepare(next) {
      set = next;
    },
    async tile({ z, x, y }: Address) {
      const width = 2 ** -z;
      const { rows } = await client.query<{ tile: Buffer }>({
        name: `tile ${set!.count}`,
        text: tileSql(set!.sql),
        values: [x * width, y * width, width, width / GRID],
      });
      return rows[0]!.tile;
    },
    async nothing() {
      await client.query({ name: 'nothing', text: 'SELECT 1' });
    },
    async stop() {
      await client.end();
      await stop();
    },
  };
}

/** PostGIS, and what a question takes that it need not think about. */
export interface PostgisTiles extends Contender {
  /** Asks for a constant. */
  nothing(): Promise<void>;
}

async function ownServer(ndjson: string): Promise<Server> {
  const { port, stop } = await startPostgres((client) => fill(client, ndjson));
  return { config: address(port), stop };
}

/** Makes a database for the points, if there is none yet. */
async function runningServer(ndjson: string, port: number): Promise<Server> {
  const database = `tiles_${basename(ndjson, '.ndjson').replace('-', '_')}`;
  const config = { ...address(port), database };
  const isThere = await withClient(address(port), async (client) => {
    const found = 'SELECT FROM pg_database WHERE datname = $1';
    if ((await client.query(found, [database])).rowCount === 1) return true;
    await client.query(`CREATE DATABASE ${database}`);
    return false;
  });
  if (!isThere) await withClient(config, (client) => fill(client, ndjson));
  return { config, stop: async () => {} };
}

async function fill(client: pg.Client, ndjson: string): Promise<void> {
  await addPostgis(client);
  await client.query(SCHEMA);
  for await (const rows of rowBatches(ndjson, BATCH)) {
    const records = rows.map(({ body }) => JSON.parse(body) as TileRecord);
    const places = rows.map(({ lon, lat }) => onSquare(lon, lat));
    await client.query({
      name: 'fill',
      text: FILL,
      values: [
        places.map(([x]) => x),
        places.map(([, y]) => y),
        records.map(({ id }) => id),
        records.map(({ created_at }) => created_at),
        records.map(({ is_processed }) => is_processed),
        records.map(({ status }) => status),
        records.map(({ tags = [] }) => tags.join('\n')),
      ],
    });
  }
  // CLUSTER and VACUUM cannot share a statement
  for (const statement of INDEXES.split(';')) await client.query(statement);
  say('PostGIS is filled');
}
