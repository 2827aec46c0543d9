import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { say } from '../support/run.js';
import { type Address, allTiles, CELL, type FilterSet, GRID } from './cases.js';
import type { Contender } from './contender.js';

/** Tiles of each zoom that are compared cell by cell. */
const COMPARED = 3;

/**
 * Compares tiles before they are timed. PostGIS, which `isGrid` tells, must have the same count in
 * every cell of `tiles`; others the same number of points in all tiles of a zoom. Throws where they
 * have not.
 */
export async function checkTiles(
  [ours, ...others]: readonly Contender[],
  isGrid: (contender: Contender) => boolean,
  tiles: readonly (readonly Address[])[],
  { count }: FilterSet,
): Promise<void> {
  for (const other of others) {
    if (isGrid(other)) {
      for (const address of tiles.flatMap((ofZoom) => ofZoom.slice(0, COMPARED))) {
        const [mine, theirs] = [await ours!.tile(address), await other.tile(address)];
        compare(other.name, address, cellsOf(mine), cellsOf(theirs));
      }
    } else {
      const z = 2;
      const [mine, theirs] = [await totalOf(ours!, z), await totalOf(other, z)];
      if (mine !== theirs) {
        throw new Error(`${other.name} has ${theirs} points at zoom ${z} instead of ${mine}.`);
      }
    }
  }
  say(`${count} filters: all contenders have the same points`);
}

function compare(
  name: string,
  { z, x, y }: Address,
  mine: ReadonlyMap<number, number>,
  theirs: ReadonlyMap<number, number>,
): void {
  for (const cell of new Set([...mine.keys(), ...theirs.keys()])) {
    if (mine.get(cell) === theirs.get(cell)) continue;
    throw new Error(
      `${name} has ${theirs.get(cell)} points in cell ${cell} of ${z}/${x}/${y} instead of ${mine.get(cell)}.`,
    );
  }
}

async function totalOf(contender: Contender, z: number): Promise<number> {
  let total = 0;
  for (const address of allTiles(z)) {
    for (const count of cellsOf(await contender.tile(address)).values()) total += count;
  }
  return total;
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
