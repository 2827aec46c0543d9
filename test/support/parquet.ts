import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import {
  type CompressionCodec,
  type FileMetaData,
  parquetMetadata,
  type SchemaElement,
} from 'hyparquet';
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import type { Fields } from './rows.js';

export interface ParquetShape {
  readonly codec?: CompressionCodec;
  /** Compresses pages instead of the codec's compressor. */
  readonly compress?: (page: Uint8Array) => Uint8Array;
  /** Uncompressed bytes of a page, and rows of a group. */
  readonly pageSize?: number;
  readonly rowGroupSize?: number;
  readonly place?: 'columns' | 'geometry' | 'both';
  /** Columns that replace or join those of records. */
  readonly others?: Readonly<Record<string, Others>>;
  /** Columns to leave out. */
  readonly without?: readonly string[];
  readonly crs?: unknown;
}

interface Others {
  /** The column and its children. */
  readonly schema: readonly SchemaElement[];
  readonly value: (record: Fields, row: number) => unknown;
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

const COLUMNS: Readonly<Record<string, Others>> = {
  id: column({ name: 'id', type: 'INT64', repetition_type: 'REQUIRED' }, (one) =>
    BigInt(one['id'] as number),
  ),
  status: column({ name: 'status', ...TEXT }),
  comment: column({ name: 'comment', ...TEXT }),
  image: column({ name: 'image', ...TEXT }),
  lat: column({ name: 'lat', type: 'DOUBLE' }, (one) => Number(one['lat'])),
  lon: column({ name: 'lon', type: 'DOUBLE' }, (one) => Number(one['lon'])),
  geometry: column({ name: 'geometry', type: 'BYTE_ARRAY' }, (one) =>
    wkb(Number(one['lon']), Number(one['lat'])),
  ),
  is_processed: column({ name: 'is_processed', type: 'BOOLEAN' }),
  created_by: column({ name: 'created_by', type: 'INT64' }, (one) =>
    one['created_by'] === undefined ? undefined : BigInt(one['created_by'] as number),
  ),
  tags: {
    schema: [
      { name: 'tags', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', ...TEXT, repetition_type: 'OPTIONAL' },
    ],
    value: (one) => one['tags'],
  },
  created_at: column({ name: 'created_at', ...TEXT }),
  modified_at: column({ name: 'modified_at', ...TEXT }),
};

const COMPRESSORS = {
  GZIP: gzipSync,
  // the default quality takes half a second
  BROTLI: (page: Uint8Array) =>
    brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  ZSTD: zstdStored,
};

export function parquetOf(
  records: readonly Fields[],
  {
    codec = 'SNAPPY',
    compress,
    place = 'columns',
    others = {},
    without = [],
    crs,
    ...sizes
  }: ParquetShape = {},
): Buffer {
  const columns = { ...COLUMNS, ...others };
  const left = place === 'columns' ? ['geometry'] : place === 'geometry' ? ['lat', 'lon'] : [];
  for (const name of [...left, ...without]) delete columns[name];
  const names = Object.keys(columns);
  const geo = {
    version: '1.1.0',
    primary_column: 'geometry',
    columns: { geometry: { encoding: 'WKB', geometry_types: ['Point'], crs } },
  };
  const buffer = parquetWriteBuffer({
    ...sizes,
    codec,
    compressors: compress === undefined ? COMPRESSORS : { [codec]: compress },
    schema: [
      { name: 'schema', num_children: names.length },
      ...names.flatMap((name) => columns[name]!.schema),
    ],
    columnData: names.map((name) => ({
      name: columns[name]!.schema[0]!.name,
      data: records.map((record, row) => columns[name]!.value(record, row)),
    })),
    ...(place !== 'columns' && { kvMetadata: [{ key: 'geo', value: JSON.stringify(geo) }] }),
  });
  return Buffer.from(buffer);
}

/** A Parquet file whose metadata say something else. */
export function changeMetadata(file: Buffer, change: (metadata: FileMetaData) => void): Buffer {
  const metadata = parquetMetadata(new Uint8Array(file));
  change(metadata);
  const writer = new ByteWriter();
  writeMetadata(writer, metadata);
  const pages = file.subarray(0, file.length - metadata.metadata_length - 8);
  return Buffer.concat([pages, writer.getBytes(), Buffer.from('PAR1')]);
}

/** A column of optional values. */
export function column(
  element: SchemaElement,
  value: Others['value'] = (record) => record[element.name],
): Others {
  return { schema: [{ repetition_type: 'OPTIONAL', ...element }], value };
}

/** A point in well-known binary. */
export function wkb(lon: number, lat: number): Uint8Array {
  const bytes = Buffer.alloc(21);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(lon, 5);
  bytes.writeDoubleLE(lat, 13);
  return bytes;
}

/** A Zstandard frame of uncompressed blocks: Node 20 has no compressor. */
function zstdStored(bytes: Uint8Array): Uint8Array {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  const parts: Uint8Array[] = [Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0), size];
  for (let at = 0; at === 0 || at < bytes.length; at += 100_000) {
    const block = bytes.subarray(at, at + 100_000);
    const isLast = at + 100_000 >= bytes.length;
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | Number(isLast), 0, 3);
    parts.push(head, block);
  }
  return Buffer.concat(parts);
}
