import type { KeyValue, SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, geojsonToWkb, ParquetWriter } from 'hyparquet-writer';
import { Packr } from 'msgpackr';
import { rendered } from '../formats/record-layout.js';
import { type FetchedPage, fetchedRecord } from '../index/record-page.js';
import { joinedBytes } from '../model/memory.js';
import { RECORD_KEYS, type RecordKey } from '../model/point.js';
import { integer } from '../model/units.js';
import type { FileEncoder } from './export-pieces.js';

/** The most records and bytes of a row group: some 100 ms of work. */
const GROUP = { rows: 10_000, bytes: 4 * 1024 * 1024 };

const GEOMETRY = 'geometry';

type Leaf = Omit<SchemaElement, 'name'>;

const TEXT: Leaf = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type: 'REQUIRED',
};
const WHOLE: Leaf = { type: 'INT64', repetition_type: 'REQUIRED' };
const DEGREES: Leaf = { type: 'DOUBLE', repetition_type: 'REQUIRED' };
const optional = (leaf: Leaf): Leaf => ({ ...leaf, repetition_type: 'OPTIONAL' });

/** Times are texts, which keep their offsets. */
const LEAVES: Readonly<Record<Exclude<RecordKey, 'tags'>, Leaf>> = {
  id: WHOLE,
  status: TEXT,
  comment: TEXT,
  image: optional(TEXT),
  lat: DEGREES,
  lon: DEGREES,
  is_processed: { type: 'BOOLEAN', repetition_type: 'REQUIRED' },
  created_by: optional(WHOLE),
  created_at: TEXT,
  modified_at: TEXT,
};

function elementsOf(key: RecordKey): SchemaElement[] {
  if (key !== 'tags') return [{ ...LEAVES[key], name: key }];
  const list = { converted_type: 'LIST', logical_type: { type: 'LIST' } } as const;
  return [
    { ...list, repetition_type: 'OPTIONAL', name: key, num_children: 1 },
    { repetition_type: 'REPEATED', name: 'list', num_children: 1 },
    { ...TEXT, name: 'element' },
  ];
}

/** GeoParquet: a row group a piece, and a column with the point as well-known binary besides. */
export function encodeParquet(keys: readonly RecordKey[] = RECORD_KEYS): FileEncoder {
  const bytes = new ByteWriter();
  const root = { name: 'points', num_children: keys.length + 1 };
  const place = { type: 'BYTE_ARRAY', repetition_type: 'REQUIRED', name: GEOMETRY } as const;
  const schema: SchemaElement[] = [root, ...keys.flatMap(elementsOf), place];
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'waypost' });
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];

  function take(): Uint8Array<ArrayBuffer> {
    const taken = Buffer.allocUnsafeSlow(bytes.index);
    taken.set(bytes.getBytes());
    bytes.index = 0;
    return taken;
  }

  return {
    piece: GROUP,
    add(page) {
      const records = parseRecords(page);
      const columnData = keys.map((name) => columnOf(records, name));
      const data = records.map((record) => {
        const [lon, lat] = [Number(record.lon), Number(record.lat)];
        [west, south] = [Math.min(west, lon), Math.min(south, lat)];
        [east, north] = [Math.max(east, lon), Math.max(north, lat)];
        // a copy: the library keeps a kibibyte for each
        return geojsonToWkb({ type: 'Point', coordinates: [lon, lat] }).slice();
      });
      const places = { name: GEOMETRY, data, statistics: false };
      writer.write({ columnData: [...columnData, places], rowGroupSize: page.count });
      return take();
    },
    end() {
      writer.kvMetadata = [geoMetadata([west, south, east, north])];
      writer.finish();
      return take();
    },
  };
}

function columnOf(records: readonly ParsedRecord[], name: RecordKey): ColumnSource {
  const { type } = name === 'tags' ? TEXT : LEAVES[name];
  const data = records.map((record) => {
    const value = record[name];
    if (value === undefined) return null;
    if (type === 'INT64') return BigInt(value as number);
    return type === 'DOUBLE' ? Number(value) : value;
  });
  // not as a dictionary, which would take 0 and -0 for one value
  return type === 'DOUBLE' ? { name, data, encoding: 'PLAIN' } : { name, data };
}

/** The metadata of GeoParquet; without a CRS it means degrees of WGS 84. */
function geoMetadata(bbox: readonly number[]): KeyValue {
  const isEmpty = bbox[0] === Infinity;
  const column = {
    encoding: 'WKB',
    geometry_types: isEmpty ? [] : ['Point'],
    ...(isEmpty ? {} : { bbox }),
  };
  const geo = {
    version: '1.1.0',
    primary_column: GEOMETRY,
    columns: { [GEOMETRY]: column },
  };
  return { key: 'geo', value: JSON.stringify(geo) };
}

type ParsedRecord = Readonly<Partial<Record<RecordKey, unknown>>>;

/** Parses the records of a page, without lone surrogates; some 2 µs each. */
function parseRecords(page: FetchedPage): ParsedRecord[] {
  return Array.from({ length: page.count }, (_, i) => {
    const text = rendered(fetchedRecord(page, i)).toString();
    return text.includes('\\ud') ? JSON.parse(text, wellFormed) : JSON.parse(text);
  });
}

/** Replaces lone surrogates, which only an escape can write, by U+FFFD. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

export function encodeMsgpack(keys: readonly string[] = RECORD_KEYS): FileEncoder {
  const packr = new Packr({ useRecords: false, variableMapSize: true });
  const pack = (record: ParsedRecord): Buffer => {
    const shown = Object.entries(record).filter(([key]) => keys.includes(key));
    const values = shown.map(([key, one]) => [key, typeof one === 'number' ? integer(one) : one]);
    return packr.pack(Object.fromEntries(values));
  };
  return {
    add: (page) => joinedBytes(parseRecords(page).map(pack)),
    end: () => Buffer.alloc(0),
  };
}
