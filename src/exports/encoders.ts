import { createFeatureWriter, FEATURE_ROOM } from '../http/formats/features.js';
import { createProjection, type WriteRecord } from '../http/formats/json-format.js';
import { createPageCopier } from '../index/record-page.js';
import { encodeCsv } from './csv.js';
import { type BeginFile, type FileEncoder, TextFileEncoder } from './encoder.js';
import { encodeMsgpack } from './msgpack.js';
import { encodeParquet } from './parquet.js';

const LINE_FEED = 0x0a;

/** What makes the files of each format. */
const ENCODERS: Readonly<Record<string, BeginFile>> = {
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
  msgpack: encodeMsgpack,
  parquet: encodeParquet,
  geojsonl: (keys) => lines(createFeatureWriter(keys), FEATURE_ROOM),
};

/** What makes the files of a format. */
export function exportEncoder(name: string): BeginFile {
  return ENCODERS[name]!;
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
