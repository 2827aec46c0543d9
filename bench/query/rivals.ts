import * as geokdbush from 'geokdbush';
import KDBush from 'kdbush';
import RBush from 'rbush';
import type { Dataset } from '../../src/index/dataset.js';
import type { Filters } from '../../src/model/query.js';
import { haversine, haversineOf } from '../support/great-circle.js';
import type { Kind } from './cases.js';

/**
 * What a user might write without Waypost: finds matching rows, in any order, and makes no page.
 */
export interface Rival {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** Whether a query of all points is worth waiting for. */
  readonly takesAll: boolean;
  find(filters: Filters): ArrayLike<number>;
}

/** Above this, geokdbush wraps round the Earth and loses points. */
const HALF_WAY_ROUND_KM = 20_015;

interface Item {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly row: number;
}

/** Builds the rivals of the same coordinates; `light` leaves out what takes gigabytes at 10M. */
export function buildRivals(dataset: Dataset, light: boolean): Rival[] {
  return light
    ? [naiveScan(dataset)]
    : [naiveScan(dataset), plainRBush(dataset), ...trees(dataset)];
}

function naiveScan({ coords, count, byCreatedAt }: Dataset): Rival {
  // the key of each row, as a plain array of columns would have it
  const created = new Float64Array(count);
  for (let row = 0; row < count; row++) created[row] = byCreatedAt.keys[byCreatedAt.ranks[row]!]!;
  return {
    name: 'naive scan',
    kinds: ['box', 'radius', 'time', 'combined'],
    takesAll: true,
    find({ boxes, circle, createdAt }) {
      const box = boxes?.[0];
      const limit = circle === undefined ? 0 : haversineOf(circle.radius);
      const rows: number[] = [];
      for (let row = 0; row < count; row++) {
        const lon = coords[2 * row]!;
        const lat = coords[2 * row + 1]!;
        if (box !== undefined) {
          if (lon < box.west || lon > box.east || lat < box.south || lat > box.north) continue;
        }
        if (createdAt !== undefined) {
          if (created[row]! < createdAt.after || created[row]! > createdAt.before) continue;
        }
        if (circle !== undefined && haversine(circle.lon, circle.lat, lon, lat) > limit) continue;
        rows.push(row);
      }
      return rows;
    },
  };
}

function plainRBush({ coords, count }: Dataset): Rival {
  const items: Item[] = [];
  for (let row = 0; row < count; row++) {
    const lon = coords[2 * row]!;
    const lat = coords[2 * row + 1]!;
    items.push({ minX: lon, minY: lat, maxX: lon, maxY: lat, row });
  }
  const tree = new RBush<Item>().load(items);
  return {
    name: 'RBush.search',
    kinds: ['box'],
    takesAll: true,
    find({ boxes }) {
      const { west, south, east, north } = boxes![0]!;
      const found = tree.search({ minX: west, minY: south, maxX: east, maxY: north });
      return found.map((item) => item.row);
    },
  };
}

function trees({ coords, count }: Dataset): Rival[] {
  const tree = new KDBush(count);
  for (let row = 0; row < count; row++) tree.add(coords[2 * row]!, coords[2 * row + 1]!);
  tree.finish();
  return [
    {
      name: 'KDBush.range',
      kinds: ['box'],
      takesAll: true,
      find({ boxes }) {
        const { west, south, east, north } = boxes![0]!;
        return tree.range(west, south, east, north);
      },
    },
    {
      name: 'geokdbush.around',
      kinds: ['radius'],
      takesAll: false,
      find({ circle }) {
        const km = circle!.radius / 1000;
        const limit = km >= HALF_WAY_ROUND_KM ? Infinity : km;
        return geokdbush.around(tree, circle!.lon, circle!.lat, Infinity, limit);
      },
    },
  ];
}
