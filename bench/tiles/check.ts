import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import type { TileAddress } from '../../src/tiles/grid.js';
import { say } from '../support/run.js';
import { allTiles, CELL, type FilterSet, GRID } from './cases.js';
import type { Contender } from './measure.js';

/** Tiles of each zoom that are compared cell by cell. */
const COMPARED = 3;

/**
 * Compares tiles before they are timed; throws where they differ. Contenders with the same grid
 * must have the same count in every cell of `tiles`, others as many points in all tiles of zoom 2.
 */
export async function checkTiles(
  [ours, ...others]: readonly Contender[],
  tiles: readonly (readonly TileAddress[])[],
  { count }: FilterSet,
): Promise<void> {
  for (const other of others) {
    const compared = other.isGrid ? tiles.flatMap((some) => some.slice(0, COMPARED)) : allTiles(2);
    let difference = 0;
    for (const address of compared) {
      const [mine, theirs] = [
        cellsOf(await ours!.tile(address)),
        cellsOf(await other.tile(address)),
      ];
      const isSame = [...mine].every(([cell, points]) => theirs.get(cell) === points);
      if (other.isGrid && !isSame) {
        throw new Error(`${other.name} has another tile ${Object.values(address).join('/')}.`);
      }
      difference += sumOf(theirs) - sumOf(mine);
    }
    if (difference !== 0) throw new Error(`${other.name} has ${difference} points too many.`);
  }
  say(`${count} filters: all contenders have the same points`);
}

function sumOf(cells: ReadonlyMap<number, number>): number {
  return [...cells.values()].reduce((sum, points) => sum + points, 0);
}

/** How many points each cell of a tile has, where it has any. */
function cellsOf(bytes: Uint8Array): Map<number, number> {
  const cells = new Map<number, number>();
  const { layers } = new VectorTile(new PbfReader(bytes));
  for (const layer of Object.values(layers)) {
    for (let i = 0; i < layer.length; i++) {
      const feature = layer.feature(i);
      const { x, y } = feature.loadGeometry()[0]![0]!;
      const cell = Math.floor(y / CELL) * GRID + Math.floor(x / CELL);
      const count = Number(feature.properties['point_count'] ?? 1);
      cells.set(cell, (cells.get(cell) ?? 0) + count);
    }
  }
  return cells;
}
