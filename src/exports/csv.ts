import {
  copyBytes,
  createMemberPlaces,
  findMembers,
  memberOf,
  valueStart,
} from '../formats/record-layout.js';
import { RECORD_KEYS, type RecordKey } from '../model/point.js';
import { type FileEncoder, TextFileEncoder } from './encoder.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;

/** Fields whose text may hold anything; the texts of others need no quotes. */
const FREE_TEXTS: ReadonlySet<RecordKey> = new Set(['status', 'comment', 'image']);

/**
 * CSV with a header, by commas. JSON without escapes between its quotes is a quoted field as it is;
 * tags are an array of JSON.
 */
export function encodeCsv(keys: readonly RecordKey[] = RECORD_KEYS): FileEncoder {
  const places = createMemberPlaces();
  return new TextFileEncoder({
    ...{ before: `${keys.join(',')}\n`, between: '', after: '' },
    // each quote of the tags is doubled, and names of members have more bytes than commas
    room: (bytes) => 2 * bytes,
    write(record, target, at) {
      findMembers(record, places);
      let end = at;
      for (const [i, key] of keys.entries()) {
        if (i > 0) target[end++] = COMMA;
        const member = memberOf(key);
        const to = places[2 * member + 1]!;
        if (to === 0) continue;
        const from = valueStart(places, member);
        if (key === 'tags') end = copyQuoted(record, from, to, target, end);
        else if (FREE_TEXTS.has(key)) end = writeText(record, from, to, target, end);
        else if (record[from] === QUOTE) end = copyBytes(record, from + 1, to - 1, target, end);
        else end = copyBytes(record, from, to, target, end);
      }
      target[end] = LINE_FEED;
      return end + 1;
    },
  });
}

/** Writes a text of JSON, whose quotes are among its bytes, as a quoted field. */
function writeText(
  record: Uint8Array,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  const found = record.indexOf(BACKSLASH, from);
  if (found < 0 || found >= to) return copyBytes(record, from, to, target, at);
  const text: string = JSON.parse(Buffer.from(record.subarray(from, to)).toString());
  return at + target.write(`"${text.replaceAll('"', '""')}"`, at);
}

/** Copies bytes as a quoted field. */
function copyQuoted(
  record: Uint8Array,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  let end = at;
  target[end++] = QUOTE;
  for (let i = from; i < to; i++) {
    if (record[i] === QUOTE) target[end++] = QUOTE;
    target[end++] = record[i]!;
  }
  target[end] = QUOTE;
  return end + 1;
}
