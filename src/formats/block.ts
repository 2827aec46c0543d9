import type { Degrees, Microseconds } from '../model/units.js';

/**
 * A run of points as snapshots carry them, column by column; index `i` of every column is one
 * point. Points stand in the order of their file.
 */
export interface ColumnBlock {
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
  /** What the records say besides, where the file has columns of that, too. */
  readonly attributes?: AttributeColumns | undefined;
}

/**
 * What filters may ask of points besides place and times. Texts stand once for the whole block, as
 * JSON has them between its quotes, and points have their numbers.
 */
export interface AttributeColumns {
  readonly statusTexts: readonly string[];
  readonly status: Uint32Array;
  readonly flags: Uint8Array;
  /** -1 where there is none. */
  readonly createdBy: Float64Array;
  readonly tagTexts: readonly string[];
  readonly tagCounts: Uint32Array;
  /** The tags of all points, one after the other. */
  readonly tags: Uint32Array;
}

/** The same run with its records: the rendered JSON of each point, end to end, nothing between. */
export interface PointBlock extends ColumnBlock {
  readonly records: Uint8Array;
}

export type ColumnName = 'id' | 'lat' | 'lon' | 'createdAt' | 'modifiedAt' | 'length';

export const COLUMN_NAMES: readonly ColumnName[] = [
  'id',
  'lat',
  'lon',
  'createdAt',
  'modifiedAt',
  'length',
];

export function blockOf(
  count: number,
  columnOf: (name: ColumnName) => Float64Array | Uint32Array,
): ColumnBlock {
  const columns = Object.fromEntries(COLUMN_NAMES.map((name) => [name, columnOf(name)]));
  return { count, ...columns } as unknown as ColumnBlock;
}

export function allocateColumns(count: number): ColumnBlock {
  return blockOf(count, (name) =>
    name === 'length' ? new Uint32Array(count) : new Float64Array(count),
  );
}

export const MAX_BLOCK_POINTS = 65_536;

/** A record's JSON may not be longer: 4,096 of the longest fit a gibibyte. */
export const MAX_RECORD_BYTES = 262_142;
