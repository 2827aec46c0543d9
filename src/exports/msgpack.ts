import { Packr } from 'msgpackr';
import { type FetchedPage, fetchedRecord } from '../index/record-page.js';
import type { RecordKey } from '../model/point.js';
import { type FileEncoder, join } from './encoder.js';

const MAX_UINT32 = 0xffff_ffff;

/** A record as `JSON.parse` makes it. */
export type ParsedRecord = Readonly<Partial<Record<RecordKey, unknown>>>;

/** Records of a page, parsed; that takes some 2 µs each. Their texts can be written as UTF-8. */
export function parseRecords(page: FetchedPage): ParsedRecord[] {
  return Array.from({ length: page.count }, (_, i) => {
    const text = Buffer.from(fetchedRecord(page, i)).toString();
    return text.includes('\\ud') ? JSON.parse(text, wellFormed) : JSON.parse(text);
  });
}

/** A text with U+FFFD for each lone surrogate, which only an escape can say. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value).toString() : value;
}

/** Maps of MessagePack, one behind the other. */
export function encodeMsgpack(keys: readonly RecordKey[] | undefined): FileEncoder {
  const packr = new Packr({ useRecords: false, variableMapSize: true });
  return {
    add: (page) =>
      join(
        parseRecords(page).map((record) => {
          const shown = Object.entries(record).filter(
            ([key]) => keys === undefined || keys.includes(key as RecordKey),
          );
          return packr.pack(Object.fromEntries(shown.map(([key, one]) => [key, whole(one)])));
        }),
      ),
    end: () => Buffer.alloc(0),
  };
}

/** A large whole number as such: it would become a float. */
function whole(value: unknown): unknown {
  return typeof value === 'number' && value > MAX_UINT32 ? BigInt(value) : value;
}
