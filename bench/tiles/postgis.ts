import { connect, fillTable, type PointTable, startPostgres } from '../peers/postgres.js';
import { onSquare } from '../scenarios.js';
import { atEnd } from '../support/service.js';
import { type FilterSet, GRID, type TileRecord } from './cases.js';
import type { Contender } from './measure.js';

/** Only what tiles need. Places are on the square of Web Mercator: no query projects any. */
const schema = `
CREATE UNLOGGED TABLE points (
  place geometry(Point) NOT NULL,
  id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  is_processed boolean NOT NULL,
  status text NOT NULL,
  tags text[] NOT NULL
)`;
const insert = `
INSERT INTO points
SELECT ST_MakePoint(x, y), id, created_at::timestamptz, is_processed = 1, status, string_to_array(tags, E'\\n')
FROM unnest($1::float8[], $2::float8[], $3::bigint[], $4::text[], $5::int[], $6::text[], $7::text[])
AS row (x, y, id, created_at, is_processed, status, tags)`;
/** Neighbours on the map become neighbours on disk. */
const indexes = `
CREATE INDEX points_place ON points USING gist (place);
CLUSTER points USING points_place;
CREATE INDEX points_tags ON points USING gin (tags);
CREATE INDEX points_created_at ON points (created_at);
ALTER TABLE points ADD PRIMARY KEY (id);
VACUUM ANALYZE points`;
const TABLE: PointTable = {
  ...{ schema, insert, indexes },
  valuesOf({ id, lon, lat, body }) {
    const { created_at, is_processed, status, tags = [] }: TileRecord = JSON.parse(body);
    return [...onSquare(lon, lat), id, created_at, +is_processed, status, tags.join('\n')];
  },
};

/**
 * The same clusters as ours: a grid that is cut from the world. A node of the snapping grid stands
 * in the middle of a cell. The operator `&&` compares boxes of 32-bit floats, so coordinates are
 * compared, too. Parameters: the tile's corner, then the width of the tile and of a cell.
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

/**
 * Tiles from a PostGIS of our own, over one connection and by prepared statements. Throws Skipped
 * where there is none.
 */
export async function startPostgisTiles(ndjson: string): Promise<Contender> {
  const server = await startPostgres((sql) => fillTable(sql, ndjson, TABLE));
  const sql = connect(server.port);
  atEnd(() => sql.end());
  let set: FilterSet | undefined;
  return {
    name: 'PostGIS',
    isGrid: true,
    async prepare(next) {
      set = next;
    },
    async tile({ z, x, y }) {
      const width = 2 ** -z;
      const values = [x * width, y * width, width, width / GRID];
      const rows = sql.unsafe<[{ tile: Buffer }]>(tileSql(set!.sql), values, { prepare: true });
      return (await rows)[0].tile;
    },
  };
}
