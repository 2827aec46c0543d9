import KDBush from 'kdbush';
import type { LoadReport } from '../snapshot/snapshot.js';
import { BoxIndex, packBoxes } from './box-index.js';
import { memoryOfOrders, type Orders } from './orders.js';
import type { Records } from './records.js';

/**
 * What a build hands over: plain objects and typed arrays only, so that it moves from a worker thread to
 * the one that serves without being copied.
 */
export interface DatasetParts extends Orders {
  readonly count: number;
  /** The memory of a KDBush whose ids are the rows themselves. */
  readonly kdbush: ArrayBufferLike;
  readonly records: Records;
  readonly report: LoadReport;
}

/** One generation of points in memory, frozen: nothing in it changes once it is made. */
export interface Dataset extends DatasetParts {
  /** Longitude and latitude of each row, in turn. */
  readonly coords: Float64Array;
  readonly radiusIndex: KDBush;
  readonly boxIndex: BoxIndex;
}

/** All memory of the parts, to be transferred: to the thread that serves them, or away. */
export function memoryOf(parts: DatasetParts): ArrayBuffer[] {
  const { kdbush, records } = parts;
  const views = [records.ends, ...records.chunks];
  return [
    kdbush as ArrayBuffer,
    ...memoryOfOrders(parts),
    ...views.map((view) => view.buffer as ArrayBuffer),
  ];
}

/** Points a leaf of the kd-tree holds at most, less one. */
export const KD_NODE_SIZE = 16;

/**
 * Makes the dataset that queries run on. The box index consists of JavaScript objects, which cannot be
 * shared between threads, so it is packed here, in slices; `breathe` is awaited between them.
 */
export async function assembleDataset(
  parts: DatasetParts,
  breathe: () => Promise<void>,
): Promise<Dataset> {
  const radiusIndex = KDBush.from(parts.kdbush);
  const coords = radiusIndex.coords as Float64Array;
  const packing = packBoxes(coords, KD_NODE_SIZE);
  let step = packing.next();
  while (step.done !== true) {
    await breathe();
    step = packing.next();
  }
  return { ...parts, radiusIndex, coords, boxIndex: new BoxIndex(coords, step.value) };
}
