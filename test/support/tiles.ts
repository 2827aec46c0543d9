import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { hashId } from '../../src/index/records.js';

/** A feature of a tile, decoded by a package that is not of this project. */
export interface Feature {
  readonly id: number | undefined;
  readonly x: number;
  readonly y: number;
  readonly properties: Readonly<Record<string, string | number | boolean | null>>;
}

export type Layers = Readonly<Record<string, readonly Feature[]>>;

const EXTENT = 4096;
const POINT = 1;

/** The layers of a tile by name. Throws unless it is a Mapbox Vector Tile 2 of single points. */
export function decodeTile(bytes: Uint8Array): Layers {
  const { layers } = new VectorTile(new PbfReader(bytes));
  return Object.fromEntries(
    Object.entries(layers).map(([name, layer]) => {
      const { version, extent, length } = layer;
      if (version !== 2 || extent !== EXTENT) throw new Error(`${name}: ${version}, ${extent}`);
      const features = Array.from({ length }, (_, i): Feature => {
        const feature = layer.feature(i);
        const [[place, ...others] = [], ...lines] = feature.loadGeometry();
        if (feature.type !== POINT || place === undefined || others.length + lines.length > 0) {
          throw new Error(`${name}: feature ${i} is no point`);
        }
        const { id, properties } = feature;
        // a copy, because theirs has no prototype
        return { id, x: place.x, y: place.y, properties: { ...properties } };
      });
      return [name, features];
    }),
  );
}

export function sortedIds(all: readonly Pick<Feature, 'id'>[]): number[] {
  return all.map(({ id }) => id!).sort((a, b) => a - b);
}

/** In the order in which a tile that cannot show all of them takes them. */
export function leastHashes<Some extends { readonly id: number }>(all: readonly Some[]): Some[] {
  return all.toSorted((a, b) => hashId(a.id) - hashId(b.id) || a.id - b.id);
}

/** How many points a tile has, those in clusters included. */
export function pointsIn(bytes: Uint8Array): number {
  const { clusters = [], points = [] } = decodeTile(bytes);
  return clusters.reduce((sum, one) => sum + Number(one.properties['point_count']), points.length);
}

/** The number, row by row, of the grid cell in which a feature lies. */
export function cellOf({ x, y }: Feature, grid: number): number {
  const width = EXTENT / grid;
  return Math.floor(y / width) * grid + Math.floor(x / width);
}

/** A place on the square of Web Mercator, 0 to 1 from its north-western corner. */
export function onSquare(lon: number, lat: number): readonly [x: number, y: number] {
  const sine = Math.sin((lat * Math.PI) / 180);
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return [(lon + 180) / 360, y];
}

/** The row or column, of `count`, that a coordinate of that square lies in; clamped. */
export function lineOf(part: number, count: number): number {
  return Math.max(0, Math.min(Math.floor(part * count), count - 1));
}
