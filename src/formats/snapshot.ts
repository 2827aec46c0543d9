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

/** What reading a snapshot found; complete once its blocks have been read to the end. */
export interface LoadReport {
  readonly format: SnapshotFormat;
  readonly points: number;
  /** Records left out because they broke a rule. */
  readonly invalid: number;
  /** Of the first of these: where each stands, then all that is wrong with it. */
  readonly problems: readonly string[];
  /** Keys that records may not have, dropped, with how often each was seen. */
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** Times without an offset, where there are some, and the time zone that they were read by. */
  readonly localTimes?: { readonly count: number; readonly zone: string };
  readonly notifications: readonly Notification[];
  /** Why the file is a page of a longer list; undefined where it is all of one. */
  readonly page: string | undefined;
  /** Changes whenever the content does: hexadecimal, the same for the same bytes. */
  readonly digest: string;
  /** When the export was made, in milliseconds: what the file says, else its mtime. */
  readonly createdAt: number;
  readonly watermark?: Watermark | undefined;
}

/** Names posts: all of a journal up to a sequence. */
export interface Watermark {
  /** The name of the journal; empty where the file does not say. */
  readonly journal: string;
  readonly sequence: number;
}

/** Called while a file is read, with bytes of it read so far and in all. */
export type Progress = (bytesRead: number, bytesTotal: number) => void;

export interface ReadOptions {
  /** How many invalid records are left out before the file is refused; 0 refuses the first. */
  readonly maxInvalid?: number;
  readonly timeZone?: string | undefined;
  /** When rows were exported, in milliseconds; the time of their file where absent. */
  readonly exportedAt?: number | undefined;
  /** How many may read a large file of rows at the same time; 1 where absent. */
  readonly threads?: number;
  readonly onProgress?: Progress;
}

export interface SnapshotReader {
  readonly format: SnapshotFormat;
  /** Which posts the file has, or leaves out on purpose; undefined where it does not say. */
  readonly watermark?: Watermark | undefined;
  /**
   * The points, block by block, in constant memory. Throws an InputError when the file is broken,
   * or, at its end, when it has more invalid records than allowed.
   */
  blocks(): AsyncIterable<PointBlock>;
  /** Throws if the blocks have not been read to the end. */
  report(): LoadReport;
  close(): void;
}

/**
 * A native file can also be read in two passes, first all columns, then all records, which lets a
 * builder put each record where it belongs without holding the file twice.
 */
export interface TwoPassReader extends SnapshotReader {
  readonly format: 'native';
  /** As the header says; checked against the blocks at the end. */
  readonly count: number;
  /** The columns of each block; valid until the next are asked for. */
  columns(): Iterable<ColumnBlock>;
  /**
   * Reads the records to where they are wanted, once: `memoryOf` is asked for the memory of points
   * `from` to `to - 1` of the file, in pieces of which none cuts a record in two.
   */
  recordsInto(memoryOf: (from: number, to: number) => readonly Uint8Array[]): void;
}

/** What may be taken though it is most likely a mistake. */
export interface Leniency {
  readonly allowEmpty?: boolean | undefined;
}

/** Why a sound file is still not taken, with the way out; undefined where it is. */
export function doubtOf(
  { page, points, invalid }: LoadReport,
  { allowEmpty = false }: Leniency,
): string | undefined {
  if (page !== undefined) return `is a page of a longer list: ${page}; fetch all of it`;
  if (points > 0 || allowEmpty) return undefined;
  const left = invalid === 0 ? '' : `: all ${invalid} records are invalid and were left out`;
  return `has no points${left}; --allow-empty takes it all the same`;
}

export function requireWhole(path: string, report: LoadReport, leniency: Leniency): void {
  const doubt = doubtOf(report, leniency);
  if (doubt !== undefined) throw new InputError(`${path}: ${doubt}`);
}
