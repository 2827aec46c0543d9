import type { Circle, Filters, TimeWindow } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import { isWhole, type Microseconds } from '../../model/units.js';
import { parseBbox, parsePolygon } from './areas.js';
import {
  type Parameter,
  type ParameterReader,
  parameters,
  parseDecimals,
  parseFlag,
  parseWhole,
} from './parameter.js';
import { splitList } from './query-string.js';

/** Values that one parameter may name: each is looked up, which takes some 1 µs. */
const MAX_VALUES = 1_000;

/** The parameters that say which points are meant, wherever points are asked for. */
export const FILTER_PARAMETERS: readonly Parameter[] = parameters(
  ...['created_at_after', 'created_at_before', 'modified_at_after', 'modified_at_before'],
  ...['bbox', 'coordinates', 'polygon', 'status', 'is_processed', 'tags', 'tags_all'],
  ...['created_by', 'has_image'],
);

/** Reads the filters of points; `zone` is where times without an offset stand. */
export function parseFilters(reader: ParameterReader, zone: TimeZone): Filters {
  const filters: { -readonly [name in keyof Filters]: Filters[name] } = {};
  const createdAt = readWindow(reader, 'created_at', zone);
  if (createdAt !== undefined) filters.createdAt = createdAt;
  const modifiedAt = readWindow(reader, 'modified_at', zone);
  if (modifiedAt !== undefined) filters.modifiedAt = modifiedAt;
  const boxes = reader.read('bbox', parseBbox);
  if (boxes !== undefined) filters.boxes = boxes;
  const circle = reader.read('coordinates', parseCircle);
  if (circle !== undefined) filters.circle = circle;
  const polygon = reader.read('polygon', parsePolygon);
  if (polygon !== undefined) filters.polygon = polygon;
  const statuses = readList(reader, 'status', parseText);
  if (statuses !== undefined) filters.statuses = statuses;
  const isProcessed = reader.read('is_processed', parseFlag);
  if (isProcessed !== undefined) filters.isProcessed = isProcessed;
  const tags = readList(reader, 'tags', parseText);
  if (tags !== undefined) filters.tags = tags;
  const tagsAll = readList(reader, 'tags_all', parseText);
  if (tagsAll !== undefined) filters.tagsAll = tagsAll;
  const createdBy = readList(reader, 'created_by', parseUser);
  if (createdBy !== undefined) filters.createdBy = createdBy;
  const hasImage = reader.read('has_image', parseFlag);
  if (hasImage !== undefined) filters.hasImage = hasImage;
  return filters;
}

function readWindow(reader: ParameterReader, name: string, zone: TimeZone): TimeWindow | undefined {
  const parse = (text: string): Microseconds | string => parseQueryTime(text, zone);
  const after = reader.read(`${name}_after`, parse);
  const before = reader.read(`${name}_before`, parse);
  if (after === undefined && before === undefined) return undefined;
  return {
    after: after ?? Number.NEGATIVE_INFINITY,
    before: before ?? Number.POSITIVE_INFINITY,
  };
}

/** Repeated ones add up, and each value counts once. `parse` returns the value in a list. */
function readList<Value>(
  reader: ParameterReader,
  name: string,
  parse: (text: string) => readonly [Value] | string,
): readonly Value[] | undefined {
  let values: Set<Value> | undefined;
  for (const pair of reader.pairs) {
    if (pair.name !== name || pair.value === '') continue;
    values ??= new Set();
    for (const [index, text] of splitList(pair.value).entries()) {
      const value = text === '' ? `value ${index + 1} is empty` : parse(text);
      if (typeof value === 'string') return reader.refuse(name, pair.value, value);
      values.add(value[0]);
      if (values.size <= MAX_VALUES) continue;
      return reader.refuse(name, pair.value, `more than ${MAX_VALUES} values`);
    }
  }
  return values && [...values];
}

function parseText(text: string): [text: string] | string {
  return text.includes('\0') ? 'has a NUL character, which no record has' : [text];
}

function parseUser(text: string): [user: number | undefined] | string {
  if (text.trim() === 'none') return [undefined];
  const user = parseWhole(text);
  if (isWhole(user, 0)) return [user];
  return `${quote(text)} is neither none nor a whole number up to 2^53 - 1`;
}

function parseCircle(text: string): Circle | string {
  const numbers = parseDecimals(text, 3);
  if (typeof numbers === 'string') return numbers;
  const [lat, lon, radius] = numbers;
  if (lat === undefined) return 'lat is no finite decimal number';
  if (lon === undefined) return 'lon is no finite decimal number';
  if (radius === undefined) return 'radius is no finite decimal number';
  if (Math.abs(lat) > 90) return 'lat, which comes first, is beyond ±90';
  if (Math.abs(lon) > 180) return 'lon, which comes second, is beyond ±180';
  if (radius < 0) return 'radius is negative';
  return { lat, lon, radius };
}
