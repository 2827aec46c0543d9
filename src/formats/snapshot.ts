import type { Notification } from '../model/notification.js';
import { InputError } from '../model/quote.js';
import type { ColumnBlock, PointBlock } from './block.js';

export type SnapshotFormat =
  | 'native'
  | 'ndjson'
  | 'json'
  | 'geojson'
  | 'csv'
  | 'msgpack'
  | 'parquet';

/** The text `waypost` as MessagePack: the first eight bytes of every native file. */
export const MAGIC: Uint8Array = Uint8Array.of(0xa7, 0x77, 0x61, 0x79, 0x70, 0x6f, 0x73, 0x74);

/** What reading a snapshot to its end found. */
export interface LoadReport {
  readonly format: SnapshotFormat;
  readonly points: number;
  /** Records left out because they broke a rule. */
  readonly invalid: number;
  /** The place of each of the first invalid records, then all that is wrong with it. */
  readonly problems: readonly string[];
  /** How often each key was dropped that records may not have. */
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** The number of times without an offset, and the time zone that they were read in. */
  readonly localTimes?: { readonly count: number; readonly zone: string };
  readonly notifications: readonly Notification[];
  /** A digest of the content, in hexadecimal. */
  readonly digest: string;
  /** When the export was made, in milliseconds: as the file says, else its mtime. */
  readonly createdAt: number;
  /** The posts that the file has, or leaves out on purpose. */
  readonly watermark?: Watermark | undefined;
}

/** Stands for all posts of a journal up to a sequence. */
export interface Watermark {
  /** Empty where the file does not name the journal. */
  readonly journal: string;
  readonly sequence: number;
}

/** The checksum file of `name` is `name.sha256`. */
export const CHECKSUM_SUFFIX = '.sha256';

export type Progress = (bytesRead: number, bytesTotal: number) => void;

export interface ReadOptions {
  /** The most invalid records that are left out; one more refuses the file. */
  readonly maxInvalid?: number;
  readonly timeZone?: string | undefined;
  /** The most threads that read a large file of NDJSON; 1 where absent. */
  readonly threads?: number;
  readonly onProgress?: Progress;
}

export type IsWanted = (columns: ColumnBlock) => boolean;

export interface SnapshotReader {
  readonly format: SnapshotFormat;
  /**
   * The points; blocks that are not wanted may come without records. Throws an InputError where
   * the file is broken or has too many invalid records.
   */
  blocks(isWanted?: IsWanted): AsyncIterable<PointBlock>;
  /** Throws where the blocks have not been read to the end. */
  report(): LoadReport;
  close(): void;
}

/** A native file, which can also be read in two passes: all columns, then all records. */
export interface TwoPassReader extends SnapshotReader {
  readonly format: 'native';
  /** The header's count, which is checked at the end. */
  readonly count: number;
  /** The columns of each block, valid until the next block. */
  columns(): Iterable<ColumnBlock>;
  /**
   * Reads all records, once, to the memory that `memoryOf` has for points `from` to `to - 1` of the
   * file, in pieces that cut no record in two.
   */
  recordsInto(memoryOf: (from: number, to: number) => readonly Uint8Array[]): void;
}

export interface Leniency {
  readonly allowEmpty?: boolean | undefined;
}

/** Throws an InputError where a sound file has no points, unless that is allowed. */
export function requirePoints(
  path: string,
  { points, invalid }: LoadReport,
  { allowEmpty = false }: Leniency,
): void {
  if (points > 0 || allowEmpty) return;
  const left = invalid === 0 ? '' : `: all ${invalid} records are invalid and were left out`;
  throw new InputError(`${path}: has no points${left}; --allow-empty takes it all the same`);
}
