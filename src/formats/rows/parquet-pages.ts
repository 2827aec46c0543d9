import { brotliDecompressSync, crc32, gunzipSync } from 'node:zlib';
import type { ColumnMetaData, DecodedArray, PageHeader } from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert } from 'hyparquet/src/convert.js';
import { compressors, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';
import type { Chunk, Column } from './parquet-file.js';
import { checkPage, endOfThrift, MAX_PAGE_BYTES } from './parquet-guard.js';
import { parsersOf } from './parquet-values.js';
import { BrokenRows } from './row.js';
import type { Source } from './source.js';

/** The head of a page has statistics, cut by every writer that is known. */
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_VALUES = 100;
/** Values of a list: a record with more of them would be longer than one may be. */
const MAX_LIST = 2 ** 18;

type Decoder = Parameters<typeof readPage>[2];

/**
 * The values of one column in one row group, page by page; a list in a row is an array. Memory is
 * bounded by the largest page.
 */
export async function* readPages(
  source: Source,
  column: Column,
  { meta, from, to }: Chunk,
  spend: (bytes: number) => void,
): AsyncGenerator<DecodedArray> {
  const decoder = decoderOf(column, meta);
  const isList = column.levels.repetition > 0;
  let dictionary: DecodedArray | undefined;
  // a list may go on in the next page
  let held: DecodedArray = [];
  for (let at = from; at < to; ) {
    const head = await source.readAt(at, Math.min(MAX_HEADER_BYTES, to - at));
    at += endOfThrift(head, 0, MAX_HEADER_VALUES);
    const header = parquetHeader({ view: viewOf(head), offset: 0 });
    const { type, compressed_page_size: size } = header;
    if (!(size >= 0 && at + size <= to)) throw new BrokenRows(`a page of ${size} bytes`);
    const packed = await source.readAt(at, size);
    at += size;
    if (type === 'INDEX_PAGE') continue;
    if (header.crc !== undefined && crc32(packed) !== header.crc >>> 0) {
      throw new BrokenRows('the checksum of a page is wrong');
    }
    const page = uncompress(header, packed, meta.codec);
    spend(page.length);
    checkPage(header, page, column.levels, dictionary !== undefined);
    // what was uncompressed is the page now, levels included
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
      yield data.slice(0, -1);
      if (isLong(held[0])) throw new BrokenRows(`a list has more than ${MAX_LIST} values`);
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

/** The bytes of a page as they were before compression, which leaves levels of version 2 alone. */
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
      // its decoder would answer with what is left of the page before
      if (snappySize(packed) !== size) throw new BrokenRows('a page is of another size');
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

/** The length that Snappy data begin with. */
function snappySize(packed: Uint8Array): number {
  let size = 0;
  for (let at = 0; at < 5; at++) {
    const byte = packed[at] ?? 0;
    size += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) break;
  }
  return size;
}

/** Whether a list, or the last list in it, has too many values. */
function isLong(list: unknown): boolean {
  for (let at = list; Array.isArray(at); at = at.at(-1)) if (at.length > MAX_LIST) return true;
  return false;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
