import type { Degrees, Microseconds } from '../model/units.js';

/**
 * A run of points as snapshots carry them, column by column; index `i` of every column is one
 * point. Points stand in the order of their file.
 */
export interface ColumnBlock {
  /** Number of points, 1 to {@link MAX_BLOCK_POINTS}. */
  readonly count: number;
  readonly id: Float64Array;
  /** {@link Degrees}. */
  readonly lat: Float64Array;
  readonly lon: Float64Array;
  /** {@link Microseconds} since the epoch. */
  readonly createdAt: Float64Array;
  readonly modifiedAt: Float64Array;
  /** Bytes of each point's rendered JSON. */
  readonly length: Uint32Array;
}

/** The same run with its records: the rendered JSON of each point, end to end, nothing between. */
export interface PointBlock extends ColumnBlock {
  readonly records: Uint8Array;
}

export const MAX_BLOCK_POINTS = 65_536;

/** A record's JSON may not be longer: 4,096 of the longest fit a gibibyte. */
export const MAX_RECORD_BYTES = 262_142;
