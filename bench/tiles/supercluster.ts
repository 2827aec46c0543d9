import { fromGeojsonVt } from '@maplibre/vt-pbf';
import Supercluster from 'supercluster';
import { EXTENT } from '../../src/tiles/grid.js';
import { rowBatches } from '../peers/backend.js';
import { Skipped } from '../peers/types.js';
import { CELL, type FilterSet, type TileRecord } from './cases.js';
import type { Contender } from './measure.js';

const BATCH = 5000;
const MAX_ZOOM = 16;
/** More points, an object each, do not fit into the memory that Node gives. */
const MOST_POINTS = 2_000_000;

type Layer = Parameters<typeof fromGeojsonVt>[0][string];

/**
 * Tiles from supercluster. Its clusters reach as far as ours do: it merges points nearer than a
 * cell's width, instead of those that share a cell. Each filter set needs an index of its own.
 * Throws Skipped where there are too many points.
 */
export async function openSupercluster(ndjson: string, points: number): Promise<Contender> {
  if (points > MOST_POINTS) throw new Skipped(`${points} points do not fit in its memory`);
  const records: TileRecord[] = [];
  for await (const rows of rowBatches(ndjson, BATCH)) {
    for (const { body } of rows) records.push(JSON.parse(body));
  }
  let index: Supercluster;
  return {
    name: 'supercluster',
    isGrid: false,
    async prepare({ accepts }: FilterSet) {
      const features = records.filter(accepts).map(featureOf);
      index = new Supercluster({ radius: CELL, extent: EXTENT, maxZoom: MAX_ZOOM }).load(features);
    },
    tile({ z, x, y }) {
      const tile = index.getTile(z, x, y);
      return tile === null ? new Uint8Array(0) : encode(tile, y === 2 ** z - 1);
    },
  };
}

function featureOf({ id, lat, lon, status, is_processed, created_at }: TileRecord) {
  const properties = { id, status, is_processed, created_at: Date.parse(created_at) / 1000 };
  const coordinates = [Number(lon), Number(lat)];
  return {
    type: 'Feature' as const,
    geometry: { type: 'Point' as const, coordinates },
    properties,
  };
}

/**
 * Clusters and single points in a layer each, without those of the margin that tiles share. Points
 * beyond Web Mercator stand at its southern edge, below which there is no tile.
 */
function encode(
  { features }: Supercluster.Tile<Supercluster.AnyProps, Supercluster.AnyProps>,
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
