import { brotliDecompressSync, crc32, gunzipSync } from 'node:zlib';
import type {
  ColumnMetaData,
  DecodedArray,
  PageHeader,
  ParquetParsers,
  SchemaElement,
} from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert } from 'hyparquet/src/convert.js';
import { compressors, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';
import { viewOf } from '../../model/memory.js';
import { formatUtc } from '../../model/timestamp.js';
import { MAX_RECORD_BYTES } from '../block.js';
import { readCell } from './csv.js';
import type { Chunk, Column } from './parquet-file.js';
import { Cursor, checkPage, countOf, endOfThrift, MAX_PAGE_BYTES } from './parquet-guard.js';
import { BrokenRows, NOT_UTF8, TOO_LONG, utf8Of } from './row.js';
import type { RowFile } from './row-file.js';

/** Page headers hold statistics, which known writers truncate. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_VALUES = 100;
/** Bytes of memory a value takes at least: a tiny page may repeat one value millions of times. */
const VALUE_BYTES = 8;
/** Values that a list may have: with more, its record would be too long. */
const MAX_LIST = 2 ** 18;

type Decoder = Parameters<typeof readPage>[2];

/** The values of a column chunk, page by page; a list is an array. Memory holds one page. */
export function* readPages(
  source: RowFile,
  column: Column,
  { meta, from, to }: Chunk,
  spend: (bytes: number) => void,
): Generator<DecodedArray> {
  const decoder = decoderOf(column, meta);
  const isList = column.levels.repetition > 0;
  let dictionary: DecodedArray | undefined;
  // the last list of a page, which the next page may continue
  let held: DecodedArray = [];
  let heldValues = 0;
  for (let at = from; at < to; ) {
    const head = source.readAt(at, Math.min(MAX_HEADER_BYTES, to - at));
    at += endOfThrift(head, 0, MAX_HEADER_VALUES);
    const header = parquetHeader({ view: viewOf(head), offset: 0 });
    const { type } = header;
    const size = Number(header.compressed_page_size);
    if (!(size >= 0 && at + size <= to)) throw new BrokenRows(`a page of ${size} bytes`);
    const packed = source.readAt(at, size);
    at += size;
    if (type === 'INDEX_PAGE') continue;
    if (header.crc !== undefined && crc32(packed) !== header.crc >>> 0) {
      throw new BrokenRows('the checksum of a page is wrong');
    }
    const page = uncompress(header, packed, meta.codec);
    checkPage(header, page, column.levels, dictionary !== undefined);
    spend(page.length + VALUE_BYTES * countOf(header));
    // for the reader the page is uncompressed, its levels included
    const plain = {
      ...header,
      compressed_page_size: page.length,
      uncompressed_page_size: page.length,
    };
    const before = isList ? held : undefined;
    const { data } = readPage(
      { view: viewOf(page), offset: 0 },
      plain,
      decoder,
      dictionary,
      before,
      0,
    );
    if (data === undefined) continue;
    if (type === 'DICTIONARY_PAGE') {
      dictionary = convert(data, decoder);
    } else if (isList) {
      held = data.slice(-1);
      heldValues = data.length === 1 ? heldValues + countOf(header) : 0;
      if (heldValues > MAX_LIST) throw new BrokenRows(`a list has more than ${MAX_LIST} values`);
      yield data.slice(0, -1);
    } else {
      yield data;
    }
  }
  if (held.length > 0) yield held;
}

function decoderOf({ name, path }: Column, meta: ColumnMetaData): Decoder {
  const element = path.at(-1)!;
  if (element.type === undefined || element.type !== meta.type) {
    throw new BrokenRows(`has values of ${meta.type}, where its schema says ${element.type}`);
  }
  return {
    pathInSchema: [name],
    type: element.type,
    element,
    schemaPath: path.map((one) => ({ element: one, children: [], count: 1, path: [] })),
    codec: 'UNCOMPRESSED',
    parsers: parsersOf(element),
  };
}

/** The uncompressed bytes of a page. Version 2 never compresses levels. */
function uncompress(
  { uncompressed_page_size: size, data_page_header_v2: v2 }: PageHeader,
  packed: Buffer<ArrayBuffer>,
  codec: ColumnMetaData['codec'],
): Uint8Array {
  if (!(size >= 0 && size <= MAX_PAGE_BYTES)) {
    throw new BrokenRows(`a page of ${size} bytes, at most ${MAX_PAGE_BYTES} are read`);
  }
  if (codec === 'UNCOMPRESSED' || v2?.is_compressed === false) return packed;
  const levels =
    v2 === undefined ? 0 : v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
  if (!(levels >= 0 && levels <= Math.min(size, packed.length))) {
    throw new BrokenRows(`a page has ${levels} bytes of levels`);
  }
  const values = packed.subarray(levels);
  if (size === levels) return packed.subarray(0, levels);
  const plain = decompress(values, size - levels, codec);
  if (plain.length !== size - levels) {
    throw new BrokenRows(`a page has ${plain.length + levels} bytes, its head says ${size}`);
  }
  return levels === 0 ? plain : Buffer.concat([packed.subarray(0, levels), plain]);
}

function decompress(packed: Uint8Array, size: number, codec: ColumnMetaData['codec']): Uint8Array {
  switch (codec) {
    case 'SNAPPY':
      // for a wrong size, the decoder's memory would still hold the page before
      if (new Cursor(packed, 0).varint() !== size)
        throw new BrokenRows('a page is of another size');
      return compressors.SNAPPY!(packed, size);
    case 'GZIP':
      return gunzipSync(packed, { maxOutputLength: size });
    case 'BROTLI':
      return brotliDecompressSync(packed, { maxOutputLength: size });
    case 'LZ4_RAW':
      return decompressLz4Raw(packed, size);
    case 'ZSTD':
      return decompressZstd(packed, new Uint8Array(size));
    default:
      throw new BrokenRows(
        `is compressed by ${codec}; take SNAPPY, GZIP, ZSTD, BROTLI, LZ4_RAW or none`,
      );
  }
}

/** Stands for a value that cannot be read, a problem of its record alone. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

export interface Place {
  readonly lon: number;
  readonly lat: number;
}

/** Parsers of a column's values. Times become text, with an offset where they are of UTC. */
function parsersOf({ logical_type: logical }: SchemaElement): ParquetParsers {
  const isLocal = logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC;
  const time = (micros: bigint): string => timeText(Number(micros), isLocal);
  return {
    timestampFromMilliseconds: (millis) => time(millis * 1000n),
    timestampFromMicroseconds: time,
    timestampFromNanoseconds: (nanos) => time(nanos / 1000n - (nanos % 1000n < 0n ? 1n : 0n)),
    dateFromDays: (days) => timeText(days * 86_400e6, true).slice(0, 10),
    stringFromBytes: text,
    jsonFromBytes: text,
    geometryFromBytes: place,
    geographyFromBytes: place,
    uuidFromBytes: (bytes) => Buffer.from(bytes).toString('hex'),
  };
}

/** The value as records have it in this field; undefined for null. Text is read as in CSV. */
export function cellValue(field: string, value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value === 'string') return readCell(field, value);
  // as text where a number would be rounded
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  return value;
}

function timeText(micros: number, isLocal: boolean): string {
  if (!Number.isSafeInteger(micros)) return `a timestamp of ${micros} microseconds`;
  const text = formatUtc(micros);
  return isLocal ? text.slice(0, -OFFSET.length) : text;
}

const OFFSET = '+00:00';

function text(bytes: Uint8Array | undefined): string | Unreadable {
  // the dictionary has fewer entries than its page says
  if (bytes === undefined) return new Unreadable('is missing');
  if (bytes.length > MAX_RECORD_BYTES) return new Unreadable(TOO_LONG.reason);
  return utf8Of(bytes) ?? new Unreadable(NOT_UTF8);
}

/** A point in well-known binary, of two or more dimensions, with or without a number of its CRS. */
function place(bytes: Uint8Array): Place | Unreadable {
  const view = viewOf(bytes);
  const isLittle = bytes[0] === 1;
  const type = bytes.length < 5 ? 0 : view.getUint32(1, isLittle);
  const hasSrid = (type & 0x2000_0000) !== 0;
  const from = hasSrid ? 9 : 5;
  if ((type & 0x0fff_ffff) % 1000 !== 1 || bytes.length < from + 16) {
    return new Unreadable(`must be a point, got WKB of type ${type & 0x0fff_ffff}`);
  }
  const srid = hasSrid ? view.getUint32(5, isLittle) : 0;
  if (srid !== 0 && srid !== 4326) {
    return new Unreadable(`must be of CRS84 or EPSG:4326, got the SRID ${srid}`);
  }
  return { lon: view.getFloat64(from, isLittle), lat: view.getFloat64(from + 8, isLittle) };
}
