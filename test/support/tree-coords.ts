import KDBush from 'kdbush';
import { Random } from '../../src/cli/generate/random.js';

/**
 * Longitudes and latitudes in the order of their kd-tree: scattered where the seed is even, else on
 * a coarse grid where many coincide.
 */
export function treeCoords(count: number, nodeSize: number, seed: number): Float64Array {
  const random = new Random(seed, 'point');
  const grid = seed % 2 === 0 ? 0 : 10;
  const snap = (value: number): number => (grid === 0 ? value : Math.round(value / grid) * grid);
  const tree = new KDBush(count, nodeSize);
  for (let i = 0; i < count; i++) {
    tree.add(snap(random.between(-180, 180)), snap(random.between(-90, 90)));
  }
  return tree.finish().coords as Float64Array;
}
