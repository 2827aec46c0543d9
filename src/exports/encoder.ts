import { type FetchedPage, fetchedRecord } from '../index/record-page.js';
import type { RecordKey } from '../model/point.js';

/** Begins a file whose records have these keys, all where undefined. */
export type BeginFile = (keys: readonly RecordKey[] | undefined) => FileEncoder;

/** Makes a file, piece by piece: each follows the one before. */
export interface FileEncoder {
  /** Records that a piece must have at most, and their bytes, whatever is asked for. */
  readonly piece?: { readonly rows: number; readonly bytes: number };
  add(page: FetchedPage): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

export interface TextLayout {
  /** What stands before the first record, between two, and behind the last one, in ASCII. */
  readonly before: string;
  readonly between: string;
  readonly after: string;
  /** The most that a record of so many bytes becomes. */
  room(bytes: number): number;
  readonly write: (record: Uint8Array, target: Buffer, at: number) => number;
}

export class TextFileEncoder implements FileEncoder {
  readonly #layout: TextLayout;
  /** What stands before the next record. */
  #lead: string;

  constructor(layout: TextLayout) {
    this.#layout = layout;
    this.#lead = layout.before;
  }

  add(page: FetchedPage): Uint8Array<ArrayBuffer> {
    const { before, between, room, write } = this.#layout;
    const records = Array.from({ length: page.count }, (_, i) => fetchedRecord(page, i));
    const most = records.reduce((sum, { length }) => sum + between.length + room(length), 0);
    const target = Buffer.allocUnsafeSlow(before.length + most);
    let end = 0;
    for (const record of records) {
      if (this.#lead !== '') end += target.write(this.#lead, end, 'latin1');
      end = write(record, target, end);
      this.#lead = between;
    }
    return target.subarray(0, end);
  }

  end(): Uint8Array<ArrayBuffer> {
    const { before, after } = this.#layout;
    const isEmpty = this.#lead === before && before !== '';
    return Buffer.from(isEmpty ? before + after : after);
  }
}

/** One part behind the other, in memory of its own, which can go to another thread. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}
