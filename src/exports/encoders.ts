import { hasEscape, textOf } from '../formats/attributes.js';
import { createProjection, Members, memberOf, type WriteRecord } from '../formats/record-layout.js';
import { createFeatureWriter, FEATURE_ROOM } from '../http/formats/features.js';
import { copyPage, fetchedRecord } from '../index/record-page.js';
import { copyBytes } from '../model/memory.js';
import { FREE_TEXTS, RECORD_KEYS, type RecordKey } from '../model/point.js';
import type { BeginFile, FileEncoder } from './export-pieces.js';

const LINE_FEED = 0x0a;

const TEXTS: Readonly<Record<string, BeginFile | undefined>> = {
  ndjson: (keys) => (keys === undefined ? encodeLines() : lines(createProjection(keys), 0)),
  geojson: (keys) =>
    encodeText({
      before: '{"type":"FeatureCollection","features":[\n',
      between: ',\n',
      after: '\n]}\n',
      room: FEATURE_ROOM,
      write: createFeatureWriter(keys),
    }),
  csv: encodeCsv,
  geojsonl: (keys) => lines(createFeatureWriter(keys), FEATURE_ROOM),
};

export async function exportEncoder(name: string): Promise<BeginFile> {
  const text = TEXTS[name];
  if (text !== undefined) return text;
  // few threads need these libraries, which take 80 ms to load
  const { encodeMsgpack, encodeParquet } = await import('./parquet-encoder.js');
  return name === 'msgpack' ? encodeMsgpack : encodeParquet;
}

interface TextLayout {
  /** What stands before the first record, between two, and behind the last; ASCII. */
  readonly before?: string;
  readonly between?: string;
  readonly after?: string;
  /** The most bytes of a record beyond its JSON. */
  readonly room: number;
  /** A factor of its JSON besides. */
  readonly growth?: number;
  readonly write: (record: Uint8Array, target: Buffer, at: number) => number;
}

function encodeText({
  before = '',
  between = '',
  after = '',
  room,
  growth = 1,
  write,
}: TextLayout): FileEncoder {
  /** What stands before the next record. */
  let lead = before;
  return {
    add(page) {
      const records = Array.from({ length: page.count }, (_, i) => fetchedRecord(page, i));
      const most = page.size * growth + page.count * (between.length + room);
      const target = Buffer.allocUnsafeSlow(before.length + most);
      let end = 0;
      for (const record of records) {
        if (lead !== '') end += target.write(lead, end, 'latin1');
        end = write(record, target, end);
        lead = between;
      }
      return target.subarray(0, end);
    },
    // without records the beginning is still to be written
    end: () => Buffer.from(lead === between ? after : before + after),
  };
}

function lines(write: WriteRecord, room: number): FileEncoder {
  return encodeText({
    room: room + 1,
    write(record, target, at) {
      const end = write(record, target, at);
      target[end] = LINE_FEED;
      return end + 1;
    },
  });
}

/** Whole records, a line each. */
function encodeLines(): FileEncoder {
  return {
    add(page) {
      const target = Buffer.allocUnsafeSlow(page.size + 1);
      target[copyPage(page, target, 0, LINE_FEED)] = LINE_FEED;
      return target;
    },
    end: () => Buffer.alloc(0),
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;

/** CSV with commas and a header. */
function encodeCsv(keys: readonly RecordKey[] = RECORD_KEYS): FileEncoder {
  const members = new Members();
  return encodeText({
    before: `${keys.join(',')}\n`,
    // quotes of tags are doubled, and names of members have more bytes than commas
    growth: 2,
    room: 0,
    write(record, target, at) {
      members.find(record);
      let end = at;
      for (const [i, key] of keys.entries()) {
        if (i > 0) target[end++] = COMMA;
        const member = memberOf(key);
        if (key === 'is_processed') end += target.write(`${members.isProcessed}`, end, 'latin1');
        if (!members.has(member)) continue;
        const [from, to] = [members.starts[member]!, members.ends[member]!];
        if (key === 'tags') {
          const tags = Buffer.from(record.subarray(from, to)).toString();
          end = writeQuoted(`[${tags}]`, target, end);
        } else if (FREE_TEXTS.has(key)) end = writeText(record, from, to, target, end);
        else end = copyBytes(record, from, to, target, end);
      }
      // readers take a blank line for no record
      if (end === at) end = writeQuoted('', target, end);
      target[end] = LINE_FEED;
      return end + 1;
    },
  });
}

/** Writes a text of JSON as a quoted field: without escapes it stays as it is. */
function writeText(
  record: Uint8Array,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  if (!hasEscape(record, from, to)) {
    target[at] = QUOTE;
    const end = copyBytes(record, from, to, target, at + 1);
    target[end] = QUOTE;
    return end + 1;
  }
  return writeQuoted(textOf(record, from, to), target, at);
}

function writeQuoted(text: string, target: Buffer, at: number): number {
  return at + target.write(`"${text.replaceAll('"', '""')}"`, at);
}
