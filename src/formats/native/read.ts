import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { release } from '../../model/memory.js';
import type { Notification } from '../../model/notification.js';
import { cut, InputError, show } from '../../model/quote.js';
import {
  allocateColumns,
  blockOf,
  type ColumnBlock,
  MAX_BLOCK_POINTS,
  type PointBlock,
} from '../block.js';
import {
  type IsWanted,
  type LoadReport,
  MAGIC,
  type Progress,
  type ReadOptions,
  type TwoPassReader,
} from '../snapshot.js';
import {
  decodeMap,
  decodeRecords,
  readColumns,
  readFooter,
  readHeader,
  readNotifications,
} from './decode.js';
import type { Labels } from './encode.js';
import {
  FOOTER_FRAME_BYTES,
  type Footer,
  LEAST_POINT_BYTES,
  MAX_COLUMNS_BYTES,
  MAX_HEADER_BYTES,
  MAX_NOTIFICATIONS_BYTES,
  MAX_RECORDS_BYTES,
} from './format.js';
import { type Frame, FrameFile, type FramePlace, failAt } from './frame-file.js';

const MAX_MAP_BYTES = Math.max(MAX_COLUMNS_BYTES, MAX_NOTIFICATIONS_BYTES);

/**
 * Opens a native snapshot and checks its header and footer: one cut short is refused at once.
 * Undefined for a file that is none. All reading is synchronous. Throws an InputError for whatever
 * is wrong, whatever `maxInvalid` is.
 */
export function openNative(path: string, options: ReadOptions): NativeReader | undefined {
  const file = new FrameFile(path);
  try {
    if (file.isNative()) return new NativeReader(file, readEnds(file), options.onProgress);
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

interface RecordsPlace extends FramePlace {
  readonly size: number;
  readonly lengths: Uint32Array;
}

export class NativeReader implements TwoPassReader {
  readonly format = 'native';
  readonly count: number;
  readonly origin: string;
  readonly digest: string;
  readonly #file: FrameFile;
  readonly #ends: Ends;
  readonly #onProgress: Progress | undefined;
  #bytesRead = 0;
  #records: RecordsPlace[] = [];
  #notifications: Notification[] = [];
  #columnsDone = false;
  #recordsDone = false;

  constructor(file: FrameFile, ends: Ends, onProgress: Progress | undefined) {
    this.#file = file;
    this.#ends = ends;
    this.#onProgress = onProgress;
    this.count = ends.header.count;
    this.origin = ends.header.origin;
    this.digest = ends.digest;
  }

  async *blocks(isWanted: IsWanted = () => true): AsyncIterable<PointBlock> {
    for (const [block, place] of this.#walk(allocateColumns)) {
      yield { ...block, records: Uint8Array.from(isWanted(block) ? this.#recordsAt(place) : []) };
    }
    this.#recordsDone = true;
  }

  *columns(): Iterable<ColumnBlock> {
    // all blocks share memory: to allocate it would take longer than all else
    const memory = allocateColumns(MAX_BLOCK_POINTS);
    const firstOf = (count: number): ColumnBlock =>
      blockOf(count, (name) => memory[name].subarray(0, count));
    for (const [block, place] of this.#walk(firstOf)) {
      this.#records.push(place);
      yield block;
    }
  }

  recordsInto(memoryOf: (from: number, to: number) => readonly Uint8Array[]): void {
    if (!this.#columnsDone) throw new Error('the columns must be read to the end first');
    let from = 0;
    for (const place of this.#records) {
      const to = from + place.lengths.length;
      const records = this.#recordsAt(place);
      let at = 0;
      for (const piece of memoryOf(from, to)) {
        piece.set(records.subarray(at, at + piece.length));
        at += piece.length;
      }
      release(place.lengths);
      from = to;
    }
    this.#recordsDone = true;
  }

  report(): LoadReport {
    if (!this.#columnsDone || !this.#recordsDone) {
      throw new Error('the snapshot has not been read to its end');
    }
    const { createdAt, watermark } = this.#ends.header;
    return {
      format: 'native',
      points: this.count,
      invalid: 0,
      problems: [],
      unknownKeys: {},
      notifications: this.#notifications,
      digest: this.digest,
      createdAt,
      ...(watermark && { watermark }),
    };
  }

  get marks(): string {
    return this.#file.marks;
  }

  close(): void {
    this.#file.close();
  }

  /** The records of a block, valid until more is read. */
  #recordsAt(place: RecordsPlace): Uint8Array {
    const { object } = this.#file.frame(place);
    this.#advance(place);
    return decodeRecords(object, place.size, place.lengths, failAt(this.#file, place));
  }

  /** Reads all frames but those of records, of which it yields the places. */
  *#walk(take: (count: number) => ColumnBlock): Generator<[ColumnBlock, RecordsPlace]> {
    const { headerPlace, footerPlace } = this.#ends;
    this.#columnsDone = this.#recordsDone = false;
    this.#records = [];
    this.#notifications = [];
    this.#bytesRead = MAGIC.length;
    this.#advance(headerPlace);
    let crcs = addCrc(0, headerPlace.crc);
    let points = 0;
    let blocks = 0;
    let blocksEnded = false;
    let { end } = headerPlace;
    while (end < footerPlace.position) {
      const frame = this.#file.frame(this.#file.place(end, footerPlace.position, MAX_MAP_BYTES));
      const fail = failAt(this.#file, frame);
      const fields = decodeMap(frame.object, fail);
      if (fields['type'] === 'notifications') {
        blocksEnded = true;
        for (const item of readNotifications(fields, fail)) this.#notifications.push(item);
      } else if (fields['type'] !== 'columns' || blocksEnded) {
        const { type } = fields;
        const shown = typeof type === 'string' ? cut(type) : show(type);
        throw fail(`a frame of type ${shown} has no place here`);
      }
      end = frame.end;
      crcs = addCrc(crcs, frame.crc);
      this.#advance(frame);
      if (blocksEnded) continue;

      const columns = readColumns(fields, blocks++, fail, take);
      // overwrites the memory of `fields`
      const place = this.#file.place(end, footerPlace.position, MAX_RECORDS_BYTES);
      if (place.crc !== columns.recordsCrc) {
        throw failAt(this.#file, place)('these records do not belong to the columns before them');
      }
      // a copy: the next block may be read to the same memory
      const lengths = columns.block.length.slice();
      const records = { ...place, size: columns.recordsSize, lengths };
      end = place.end;
      crcs = addCrc(crcs, place.crc);
      points += columns.block.count;
      yield [columns.block, records];
    }
    this.#checkTotals(blocks, points, crcs);
    this.#advance(footerPlace);
    this.#columnsDone = true;
  }

  #checkTotals(blocks: number, points: number, crc: number): void {
    const { footer, footerPlace } = this.#ends;
    const found = { blocks, points, notifications: this.#notifications.length, crc };
    for (const key of ['blocks', 'points', 'notifications', 'crc'] as const) {
      if (found[key] !== footer[key]) {
        throw this.#file.broken(
          footerPlace.position,
          `the footer says ${key} ${footer[key]}, the frames before it have ${found[key]}`,
        );
      }
    }
  }

  #advance({ position, end }: FramePlace): void {
    this.#bytesRead += end - position;
    this.#onProgress?.(this.#bytesRead, this.#file.size);
  }
}

function addCrc(crcs: number, crc: number): number {
  return crc32(Uint32Array.of(crc), crcs);
}

interface Ends {
  readonly header: Labels;
  readonly footer: Footer;
  readonly headerPlace: FramePlace;
  readonly footerPlace: FramePlace;
  readonly digest: string;
}

/** Throws an InputError where the file is cut short or of another version. */
function readEnds(file: FrameFile): Ends {
  const headerPlace = file.place(MAGIC.length, file.size, MAX_HEADER_BYTES);
  const failHeader = failAt(file, headerPlace);
  const headerFrame = file.frame(headerPlace);
  const header = readHeader(decodeMap(headerFrame.object, failHeader), failHeader);
  const hash = createHash('sha256').update(headerFrame.bytes);

  const footerFrame = findFooter(file, headerPlace.end);
  const failFooter = failAt(file, footerFrame);
  const footer = readFooter(decodeMap(footerFrame.object, failFooter), failFooter);
  if (footer.points !== header.count) {
    throw failFooter(
      `the header promises ${header.count} points, the footer counts ${footer.points}`,
    );
  }
  // readers take memory for all columns first
  if (header.count * LEAST_POINT_BYTES > file.size) {
    throw failHeader(`${header.count} points cannot be in a file of ${file.size} bytes`);
  }
  const digest = hash.update(footerFrame.bytes).digest('hex');
  return { header, footer, headerPlace, footerPlace: footerFrame, digest };
}

function findFooter(file: FrameFile, from: number): Frame {
  try {
    const position = Math.max(from, file.size - FOOTER_FRAME_BYTES);
    const place = file.place(position, file.size, FOOTER_FRAME_BYTES);
    if (place.end === file.size) return file.frame(place);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
  }
  throw new InputError(
    `${file.path}: does not end with a footer: it is incomplete, or something was added to ` +
      'it; copy or pack it again',
  );
}
