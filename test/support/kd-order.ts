import KDBush from 'kdbush';
import { Random } from '../../src/cli/generate/random.js';

export interface Place {
  readonly lon: number;
  readonly lat: number;
}

const AXES = ['lon', 'lat'] as const;

/** The places in the specified order, made by fully sorting every range, as other writers may. */
export function kdSorted<T extends Place>(places: readonly T[], level = 0): T[] {
  if (places.length <= 17) return [...places];
  const axis = AXES[level % 2]!;
  const sorted = [...places].sort((a, b) => a[axis] - b[axis]);
  const middle = (places.length - 1) >> 1;
  return [
    ...kdSorted(sorted.slice(0, middle), level + 1),
    sorted[middle]!,
    ...kdSorted(sorted.slice(middle + 1), level + 1),
  ];
}

/** The oracle: whether places are in kd order, by comparing each range with its median. */
export function isKdSorted(places: readonly Place[], level = 0): boolean {
  if (places.length <= 17) return true;
  const axis = AXES[level % 2]!;
  const middle = (places.length - 1) >> 1;
  const [before, behind] = [places.slice(0, middle), places.slice(middle + 1)];
  const median = places[middle]![axis];
  return (
    before.every((place) => place[axis] <= median) &&
    behind.every((place) => place[axis] >= median) &&
    isKdSorted(before, level + 1) &&
    isKdSorted(behind, level + 1)
  );
}

/** Longitude and latitude in turn. */
export function coordsOf(places: readonly Place[]): Float64Array {
  return Float64Array.from(places.flatMap(({ lon, lat }) => [lon, lat]));
}

/** Coordinates in kd order: scattered for even seeds, on a grid with many duplicates for odd. */
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
