import { fromGeojsonVt } from '@maplibre/vt-pbf';
import Supercluster from 'supercluster';
import { EXTENT } from '../../src/tiles/mercator.js';
import { rowBatches } from '../peers/backend.js';
import { CELL, type TileRecord } from './cases.js';
import type { Contender } from './contender.js';

const BATCH = 5000;
const MAX_ZOOM = 16;

interface Properties {
  readonly id: number;
  readonly status: string;
  readonly is_processed: boolean;
  readonly created_at: number;
}

/** What the encoder takes as a layer. */
type Layer = Parameters<typeof fromGeojsonVt>[0][string];

/** Supercluster, and how long it took to make its index for each filter set. */
export interface Superclusters extends Contender {
  /** Seconds, by the number of filters; from records in memory to an index. */
  readonly rebuilt: ReadonlyMap<number, number>;
}

/**
 * Tiles from supercluster, whose clusters reach as far as ours do: it merges what is nearer than a
 * cell's width, instead of what shares a cell. Its index is of one set of points, so that each
 * filter set needs another one.
 */
export async function openSupercluster(ndjson: string): Promise<Superclusters> {
  const records: TileRecord[] = [];
  for await (const rows of rowBatches(ndjson, BATCH)) {
    for (const { body } of rows) records.push(needed(JSON.parse(body) as TileRecord));
  }
  const rebuilt = new Map<number, number>();
  let index: Supercluster<Properties>;
  return {
    name: 'supercluster',
    rebuilt,
    async prepare(set) {
      const began = performance.now();
      index = new Supercluster<Properties>({ radius: CELL, extent: EXTENT, maxZoom: MAX_ZOOM });
      index.load(records.filter(set.accepts).map(featureOf));
      rebuilt.set(set.count, (performance.now() - began) / 1000);
    },
    tile({ z, x, y }) {
      const tile = index.getTile(z, x, y);
      return tile === null ? new Uint8Array(0) : encode(tile, y === 2 ** z - 1);
    },
    async stop() {},
  };
}

/**
 * Clusters and single points in a layer each, without those of the margin that tiles share. What is
 * beyond Web Mercator stands at its southern edge, below which there is no tile.
 */
function encode(
  { features }: Supercluster.Tile<Supercluster.AnyProps, Properties>,
  isSouthernmost: boolean,
): Uint8Array {
  const below = isSouthernmost ? EXTENT + 1 : EXTENT;
  const clusters: typeof features = [];
  const points: typeof features = [];
  for (const feature of features) {
    const [[x, y]] = feature.geometry as [[number, number]];
    if (x < 0 || x >= EXTENT || y < 0 || y >= below) continue;
    ('cluster' in feature.tags ? clusters : points).push(feature);
  }
  const layers = { clusters: { features: clusters }, points: { features: points } };
  return fromGeojsonVt(layers as unknown as Record<string, Layer>, { version: 2 });
}

/** Without comments, which a million records need not have in memory. */
function needed({ id, lat, lon, status, is_processed, tags, created_at }: TileRecord): TileRecord {
  return { id, lat, lon, status, is_processed, created_at, ...(tags && { tags }) };
}

function featureOf(record: TileRecord): Supercluster.PointFeature<Properties> {
  const { id, lat, lon, status, is_processed, created_at } = record;
  const created = Math.floor(Date.parse(created_at) / 1000);
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [Number(lon), Number(lat)] },
    properties: { id, status, is_processed, created_at: created },
  };
}
