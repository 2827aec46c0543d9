import {
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet';
import { isRecordKey } from '../../model/point.js';
import { isObject } from '../../model/units.js';
import { assignFields, MAX_COLUMNS } from './csv.js';
import { foreignCrs } from './json.js';
import { endOfThrift, type Levels } from './parquet-guard.js';
import { BrokenRows } from './row.js';
import type { RowFile } from './row-file.js';

/** The last bytes of a file: the length of the metadata, and the mark. */
const TAIL_BYTES = 8;
const MARK = 'PAR1';
/** Row groups of a file of notes have some 2,000 bytes of metadata each. */
const MAX_METADATA_BYTES = 16 * 1024 * 1024;
const MAX_METADATA_VALUES = 2_000_000;

export interface Column {
  /** The field of a record, or `geometry` where both coordinates come from there. */
  readonly field: string;
  readonly name: string;
  /** Its place among the columns of each row group. */
  readonly index: number;
  /** The root, the groups around the values, and the values. */
  readonly path: readonly SchemaElement[];
  readonly levels: Levels;
}

interface RowGroup {
  readonly rows: number;
  /** By {@link Column.index}, with columns that are not read. */
  readonly chunks: readonly (Chunk | undefined)[];
}

export interface Chunk {
  readonly meta: ColumnMetaData;
  readonly from: number;
  readonly to: number;
}

export interface ParquetFile {
  readonly columns: readonly Column[];
  readonly unknown: readonly string[];
  readonly groups: readonly RowGroup[];
}

/** Throws {@link BrokenRows} where the file is damaged, or no list of notes. */
export function readParquetFile(source: RowFile): ParquetFile {
  const end = readEnd(source);
  try {
    const metadata = parquetMetadata(end, { geoparquet: false });
    const leaves = leavesOf(metadata.schema);
    const groups = metadata.row_groups.map(({ num_rows = -1n, columns: chunks }, index) => {
      if (chunks.length !== leaves.length) {
        throw new BrokenRows(`row group ${index + 1} has ${chunks.length} columns`);
      }
      return { rows: Number(num_rows), chunks: chunks.map((one) => chunkOf(one, source.size)) };
    });
    return { ...chooseColumns(leaves, metadata), groups };
  } catch (error) {
    if (error instanceof BrokenRows) throw error;
    throw new BrokenRows(`its metadata are damaged${detailOf(error)}`);
  }
}

/** What an error says of the file; empty where damage had code fail, which says nothing of it. */
export function detailOf(error: unknown): string {
  const { message } = error as Error;
  const isOfCode = error instanceof TypeError || error instanceof RangeError;
  return isOfCode || /\b(?:undefined|NaN)\b/.test(message) ? '' : `: ${message}`;
}

/** The end of the file, from the metadata on. */
function readEnd(source: RowFile): Uint8Array {
  const { size } = source;
  const tail =
    size < TAIL_BYTES + MARK.length ? undefined : source.readAt(size - TAIL_BYTES, TAIL_BYTES);
  if (tail?.subarray(4).toString('latin1') !== MARK) {
    throw new BrokenRows(`does not end with ${MARK}: the Parquet file is cut short`);
  }
  const bytes = tail.readUInt32LE(0);
  if (bytes > Math.min(size - TAIL_BYTES - MARK.length, MAX_METADATA_BYTES)) {
    throw new BrokenRows(
      `announces ${bytes} bytes of metadata, in a file of ${size}; at most ` +
        `${MAX_METADATA_BYTES} are read`,
    );
  }
  const end = source.readAt(size - TAIL_BYTES - bytes, bytes + TAIL_BYTES);
  endOfThrift(end.subarray(0, bytes), 0, MAX_METADATA_VALUES);
  return new Uint8Array(end);
}

/** The columns that have values, each as its path from the root. */
function leavesOf(schema: readonly SchemaElement[]): SchemaElement[][] {
  if (schema.length > MAX_COLUMNS) {
    throw new BrokenRows(
      `it has ${schema.length} columns and groups, at most ${MAX_COLUMNS} are read`,
    );
  }
  const root = parquetSchema({ schema } as FileMetaData);
  if (root.count < schema.length) throw new BrokenRows('its schema has more than one root');
  return root.children.flatMap((group) => leavesBelow(group, [root.element]));
}

function leavesBelow({ element, children }: SchemaTree, above: SchemaElement[]): SchemaElement[][] {
  const path = [...above, element];
  return children.length === 0 ? [path] : children.flatMap((group) => leavesBelow(group, path));
}

function chooseColumns(
  leaves: readonly SchemaElement[][],
  metadata: FileMetaData,
): Pick<ParquetFile, 'columns' | 'unknown'> {
  const names = leaves.map((path) => path[1]!.name);
  const { names: fields, missing, twice } = assignFields(names);
  const geometry = geometryOf(leaves, names, metadata);
  const hasPlace = !missing.includes('lat') && !missing.includes('lon');
  const lacking = missing.filter((one) => geometry === undefined || !/^l(?:at|on)$/.test(one));
  if (lacking.length > 0) {
    throw new BrokenRows(
      'must have columns id, lat, lon (or a GeoParquet geometry), created_at; it lacks ' +
        `${lacking.join(', ')}`,
    );
  }
  if (twice !== undefined && isRecordKey(twice)) throw new BrokenRows(`has two columns "${twice}"`);
  const columns: Column[] = [];
  const unknown = new Set<string>();
  for (const [index, path] of leaves.entries()) {
    const name = names[index]!;
    const repeated = path.filter((one) => one.repetition_type === 'REPEATED').length;
    const given = path.slice(1).filter((one) => one.repetition_type !== 'REQUIRED').length;
    const levels = { repetition: repeated, definition: given };
    if (index === geometry?.index) {
      if (hasPlace) continue;
      if (geometry.crs !== undefined) throw new BrokenRows(`its column "${name}" ${geometry.crs}`);
      const element = { ...path.at(-1)!, logical_type: { type: 'GEOMETRY' as const } };
      columns.push({ field: 'geometry', name, index, path: [path[0]!, element], levels });
    } else if (!isRecordKey(fields[index]!)) {
      // GeoParquet's box of each geometry
      if (name !== 'bbox') unknown.add(name);
    } else if (repeated > 1 || (repeated === 0 && path.length > 2)) {
      throw new BrokenRows(`its column "${name}" is nested: neither a value nor a list of values`);
    } else {
      columns.push({ field: fields[index]!, name, index, path, levels });
    }
  }
  return { columns, unknown: [...unknown] };
}

/** The column of points that GeoParquet names, and why its coordinates are not degrees. */
function geometryOf(
  leaves: readonly SchemaElement[][],
  names: readonly string[],
  { key_value_metadata }: FileMetaData,
): { readonly index: number; readonly crs: string | undefined } | undefined {
  const geo = parsed(key_value_metadata?.find(({ key }) => key === 'geo')?.value);
  const primary = isObject(geo) ? geo['primary_column'] : undefined;
  const index = leaves.findIndex((path, at) => {
    const { type, logical_type: logical } = path.at(-1)!;
    const isGeometry = logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY';
    return path.length === 2 && type === 'BYTE_ARRAY' && (isGeometry || names[at] === primary);
  });
  if (index === -1) return undefined;
  const described = isObject(geo) && isObject(geo['columns']) ? geo['columns'][names[index]!] : {};
  const { encoding = 'WKB', crs } = isObject(described) ? described : {};
  if (encoding !== 'WKB') return undefined;
  const id = isObject(crs) && isObject(crs['id']) ? crs['id'] : undefined;
  const name = id === undefined ? crs : `${id['authority']}:${id['code']}`;
  return { index, crs: foreignCrs(name && { properties: { name } }) };
}

function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Where the pages of a column chunk stand; undefined where that is outside of this file. */
function chunkOf(
  { file_path, meta_data: meta }: FileMetaData['row_groups'][number]['columns'][number],
  size: number,
): Chunk | undefined {
  if (meta === undefined || file_path) return undefined;
  const from = Number(meta.dictionary_page_offset || meta.data_page_offset);
  const to = from + Number(meta.total_compressed_size);
  return from >= MARK.length && from <= to && to <= size ? { meta, from, to } : undefined;
}
