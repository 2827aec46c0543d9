import {
  copyBytes,
  createMemberPlaces,
  findMembers,
  hasEscape,
  memberOf,
  textOf,
  valueStart,
} from '../formats/record-layout.js';
import { createFeatureWriter, FEATURE_ROOM } from '../http/formats/features.js';
import { createProjection, type WriteRecord } from '../http/formats/json-format.js';
import { createPageCopier } from '../index/record-page.js';
import { RECORD_KEYS, type RecordKey } from '../model/point.js';
import { type BeginFile, type FileEncoder, TextFileEncoder } from './encoder.js';

const LINE_FEED = 0x0a;

const TEXTS: Readonly<Record<string, BeginFile | undefined>> = {
  // a record a line, as answers have it
  ndjson: (keys) => (keys === undefined ? copyLines() : lines(createProjection(keys), 0)),
  // all that a record says as a Feature, its place as it is written
  geojson: (keys) =>
    new TextFileEncoder({
      before: '{"type":"FeatureCollection","features":[\n',
      between: ',\n',
      after: '\n]}\n',
      room: (bytes) => bytes + FEATURE_ROOM,
      write: createFeatureWriter(keys),
    }),
  csv: encodeCsv,
  geojsonl: (keys) => lines(createFeatureWriter(keys), FEATURE_ROOM),
};

export async function exportEncoder(name: string): Promise<BeginFile> {
  const text = TEXTS[name];
  if (text !== undefined) return text;
  // few threads ever write these, and their libraries take 80 ms to load
  const { encodeMsgpack, encodeParquet } = await import('./parquet-encoder.js');
  return name === 'msgpack' ? encodeMsgpack : encodeParquet;
}

/** Whole records, copied as they are kept. */
function copyLines(): FileEncoder {
  const copier = createPageCopier(LINE_FEED);
  return {
    add(page) {
      const target = Buffer.allocUnsafeSlow(page.size + 1);
      const end = copier.copy(page, target, 0);
      target[end] = LINE_FEED;
      return target;
    },
    end: () => Buffer.alloc(0),
  };
}

function lines(write: WriteRecord, room: number): FileEncoder {
  return new TextFileEncoder({
    ...{ before: '', between: '', after: '' },
    room: (bytes) => bytes + room + 1,
    write(record, target, at) {
      const end = write(record, target, at);
      target[end] = LINE_FEED;
      return end + 1;
    },
  });
}

const QUOTE = 0x22;
const COMMA = 0x2c;

/** Fields whose text may hold anything; the texts of others need no quotes. */
const FREE_TEXTS: ReadonlySet<RecordKey> = new Set(['status', 'comment', 'image']);

/** CSV by commas with a header. JSON without escapes is a quoted field as it is. */
function encodeCsv(keys: readonly RecordKey[] = RECORD_KEYS): FileEncoder {
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
  if (!hasEscape(record, from, to)) return copyBytes(record, from, to, target, at);
  const text = textOf(record, from, to).replaceAll('"', '""');
  return at + target.write(`"${text}"`, at);
}

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
