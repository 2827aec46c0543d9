import KDBush from 'kdbush';
import type { LoadReport } from '../snapshot/snapshot.js';
import type { Attributes } from './attributes.js';
import type { Blocks } from './blocks.js';
import { BoxIndex } from './box-index.js';
import type { Orders } from './orders.js';
import type { Records } from './records.js';

/**
 * What a build hands over: plain objects, and arrays over shared memory, so that every thread it is
 * posted to serves the same copy.
 */
export interface DatasetParts extends Orders {
  readonly count: number;
  /** The memory of a KDBush whose ids are the rows themselves. */
  readonly kdbush: ArrayBufferLike;
  readonly blocks: Blocks;
  readonly records: Records;
  readonly attributes: Attributes;
  /** The upper half of the {@link hashId} of each row. */
  readonly thinning: Uint16Array;
  /** Of id and time of creation, two a row: see `rowHashesOf`. */
  readonly rowHashes: Int32Array;
  readonly report: LoadReport;
}

/** One generation of points in memory, frozen: nothing in it changes once it is made. */
export interface Dataset extends DatasetParts {
  /** Longitude and latitude of each row, in turn. */
  readonly coords: Float64Array;
  readonly radiusIndex: KDBush;
  readonly boxIndex: BoxIndex;
}

/**
 * Makes the dataset that queries run on, in a few milliseconds: only the box index has objects to
 * be made.
 */
export function assembleDataset(parts: DatasetParts): Dataset {
  const radiusIndex = KDBush.from(parts.kdbush);
  const coords = radiusIndex.coords as Float64Array;
  return { ...parts, radiusIndex, coords, boxIndex: new BoxIndex(parts.blocks) };
}
