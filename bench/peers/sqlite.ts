import Database from 'libsql';
import { haversine, haversineOf } from '../support/great-circle.js';
import { rowBatches } from './backend.js';
import { PAGE_SIZE, type PeerPage, type PeerStore } from './types.js';

const BATCH = 10_000;
const METRES_PER_DEGREE = 111_200;

interface Place {
  readonly id: number;
  readonly lat: number;
  readonly lon: number;
}

/** Fills a database in this process's memory: an R*Tree beside the records. */
export async function openSqlite(ndjson: string): Promise<PeerStore> {
  const db = new Database(':memory:');
  db.exec('CREATE VIRTUAL TABLE places USING rtree(id, west, east, south, north)');
  db.exec('CREATE TABLE points (id INTEGER PRIMARY KEY, lat REAL, lon REAL, body TEXT)');
  const addPlace = db.prepare('INSERT INTO places VALUES (?, ?, ?, ?, ?)');
  const addPoint = db.prepare('INSERT INTO points VALUES (?, ?, ?, ?)');
  for await (const rows of rowBatches(ndjson, BATCH)) {
    db.exec('BEGIN');
    for (const { id, lat, lon, body } of rows) {
      addPlace.run(id, lon, lon, lat, lat);
      addPoint.run(id, lat, lon, body);
    }
    db.exec('COMMIT');
  }
  // the tree rounds coordinates to 32 bits and finds points just outside: the exact columns decide
  const inBox = db.prepare(
    `SELECT p.id, p.lat, p.lon FROM places t JOIN points p ON p.id = t.id
     WHERE t.east >= ?1 AND t.north >= ?2 AND t.west <= ?3 AND t.south <= ?4
     AND p.lon >= ?1 AND p.lat >= ?2 AND p.lon <= ?3 AND p.lat <= ?4`,
  );
  const bodyOf = db.prepare('SELECT body FROM points WHERE id = ?');
  const find = (box: readonly number[]): Place[] => inBox.all(...box) as Place[];
  const pageOf = (places: readonly Place[]): PeerPage => {
    const page = places.slice(0, PAGE_SIZE).map(({ id }) => bodyOf.get(id) as { body: string });
    return { count: places.length, records: page.map(({ body }) => body).join(',') };
  };
  return {
    page({ box, circle }) {
      if (box !== undefined) return pageOf(find(box).sort((a, b) => a.id - b.id));
      const { lat, lon, radius } = circle!;
      const half = (radius * 1.01) / METRES_PER_DEGREE;
      const halfLon = half / Math.cos((lat * Math.PI) / 180);
      const limit = haversineOf(radius);
      const near = find([lon - halfLon, lat - half, lon + halfLon, lat + half])
        .map((place) => ({ ...place, distance: haversine(lon, lat, place.lon, place.lat) }))
        .filter(({ distance }) => distance <= limit)
        .sort((a, b) => a.distance - b.distance || a.id - b.id);
      return pageOf(near);
    },
  };
}
