import { connect, fillTable, type PointTable, startPostgres } from './postgres.js';
import { type Backend, PAGE_SIZE, type PeerPage, type PeerStore } from './types.js';

/** Two for each core of a small machine. */
const POOL_SIZE = 4;

const schema = `
CREATE UNLOGGED TABLE points (
  id bigint NOT NULL,
  geom geometry(Point, 4326) NOT NULL,
  geog geography(Point, 4326) NOT NULL,
  body text NOT NULL
)`;
const insert = `
INSERT INTO points
SELECT id, ST_SetSRID(ST_MakePoint(lon, lat), 4326), ST_SetSRID(ST_MakePoint(lon, lat), 4326), body
FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[]) AS row (id, lon, lat, body)`;
/** Neighbours on the map become neighbours on disk. */
const indexes = `
CREATE INDEX points_geom ON points USING gist (geom);
CLUSTER points USING points_geom;
CREATE INDEX points_geog ON points USING gist (geog);
ALTER TABLE points ADD PRIMARY KEY (id);
VACUUM ANALYZE points`;
const TABLE: PointTable = {
  ...{ schema, insert, indexes },
  valuesOf: ({ id, lon, lat, body }) => [id, lon, lat, body],
};

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

export function startPostgis(ndjson: string): Promise<Backend> {
  return startPostgres((sql) => fillTable(sql, ndjson, TABLE));
}

/** Answers from PostGIS, with prepared statements over a pool. */
export function openPostgis(port: number): PeerStore {
  const sql = connect(port, POOL_SIZE);
  return {
    async page({ box, circle }) {
      const [text, values] =
        box === undefined
          ? [CIRCLE_PAGE, [circle!.lon, circle!.lat, circle!.radius]]
          : [BOX_PAGE, [...box]];
      const [page] = await sql.unsafe<[PeerPage?]>(text, values, { prepare: true });
      return page ?? { count: 0, records: '' };
    },
  };
}
