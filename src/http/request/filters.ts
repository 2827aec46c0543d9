import type { Circle, Filters, TimeWindow } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import { isWhole, type Microseconds } from '../../model/units.js';
import { MAX_PLACES, parseBbox, parsePolygon } from './areas.js';
import {
  BOX_RULES,
  DECIMAL_PATTERN,
  type Parameter,
  type ParameterReader,
  parseDecimals,
  parseFlag,
  parseWhole,
  type Schema,
} from './parameter.js';
import { splitList } from './query-string.js';

/** Values that one parameter may name: each is looked up, which takes some 1 µs. */
const MAX_VALUES = 1_000;

const TIME: Pick<Parameter, 'accepts' | 'schema'> = {
  accepts:
    "an ISO 8601 date and time, with Z, a UTC offset or none for the service's own time zone",
  schema: { type: 'string', format: 'date-time' },
};
const FLAG: Pick<Parameter, 'accepts' | 'schema'> = {
  accepts: 'true or false',
  schema: { type: 'boolean' },
};
const [MAY, JUNE] = ['2023-05-01T00:00:00Z', '2023-06-01T00:00:00Z'];
const LAT: Schema = { minimum: -90, maximum: 90 };
const PLACE = `${DECIMAL_PATTERN},${DECIMAL_PATTERN}`;
const RING = `${PLACE}(?:;${PLACE}){2,}`;

const ESCAPES = '\\, for a comma that belongs to it and \\\\ for a backslash';
const IDS = 'whole numbers from 0 to 2^53 - 1, with commas between them';
const HOLES = `then holes with | before each; ${MAX_PLACES} places at most`;
const POLYGON = `which is closed by itself and includes its edges, ${HOLES}`;
const LONG_EDGES = 'An edge of more than 180 degrees crosses the antimeridian';
const CIRCLE = 'latitude within ±90, longitude within ±180, radius in metres, 0 or more';
const TEXTS: Schema = { type: 'array', items: { type: 'string', minLength: 1 } };
const USERS: Schema = {
  type: 'array',
  items: {
    anyOf: [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, { const: 'none' }],
  },
};

/** The parameters that say which points are meant, wherever points are asked for. */
export const FILTER_PARAMETERS: readonly Parameter[] = [
  ...windowOf('created_at', 'Points created'),
  ...windowOf('modified_at', 'Points last changed'),
  {
    name: 'bbox',
    means: 'Points in the box or on its edges.',
    accepts: `left,bottom,right,top in decimal degrees, ${BOX_RULES}`,
    example: '24.94,60.16,24.96,60.18',
    schema: decimals([{}, LAT, {}, LAT]),
  },
  {
    name: 'coordinates',
    means: 'Points within the radius; a list has the nearest first, unless `ordering` is given.',
    accepts: `lat,lon,radius in this order: ${CIRCLE}`,
    example: '60.166,24.951,1000',
    schema: decimals([LAT, { minimum: -180, maximum: 180 }, { minimum: 0 }]),
  },
  {
    name: 'polygon',
    means: 'Points in the polygon or on its edges.',
    accepts: `lon,lat;lon,lat;… of three places or more, ${POLYGON}. ${LONG_EDGES}`,
    example: '24.94,60.16;24.96,60.16;24.95,60.18',
    schema: { type: 'string', pattern: `^${RING}(?:\\|${RING})*$` },
  },
  textsOf('status', 'status', 'NEW,OPEN', 'Points that have any of these statuses.'),
  {
    name: 'is_processed',
    means: 'Points that somebody has dealt with, or those that nobody has.',
    example: 'false',
    ...FLAG,
  },
  textsOf('tags', 'tag', 'Lighting,Muu 2', 'Points that have any of these tags.'),
  textsOf('tags_all', 'tag', 'Lighting,Muu 2', 'Points that have all of these tags.'),
  {
    name: 'created_by',
    means: 'Points of any of these users.',
    accepts: `ids of users, ${IDS}; none stands for points without a user`,
    example: '148,none',
    schema: USERS,
  },
  {
    name: 'has_image',
    means: 'Points with an image, or those without.',
    example: 'true',
    ...FLAG,
  },
];

function textsOf(name: string, one: string, example: string, means: string): Parameter {
  const exactly = `each exactly as records have it, but with ${ESCAPES}`;
  const accepts = `one ${one} or several with commas between them, ${exactly}`;
  return { name, means, accepts, example, schema: TEXTS };
}

function windowOf(field: string, means: string): Parameter[] {
  return [
    { name: `${field}_after`, means: `${means} at that time or later.`, example: MAY!, ...TIME },
    {
      name: `${field}_before`,
      means: `${means} at that time or earlier.`,
      example: JUNE!,
      ...TIME,
    },
  ];
}

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

function decimals(bounds: readonly Schema[]): Schema {
  const items = { type: 'number' };
  const [minItems, maxItems] = [bounds.length, bounds.length];
  return {
    type: 'array',
    items,
    prefixItems: bounds.map((one) => ({ ...items, ...one })),
    minItems,
    maxItems,
  };
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
