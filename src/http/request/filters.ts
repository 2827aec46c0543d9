import type { Circle, Filters, TimeWindow } from '../../model/query.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import type { Microseconds } from '../../model/units.js';
import { MAX_PLACES, parseBbox, parsePolygon } from './areas.js';
import { ATTRIBUTE_PARAMETERS, type Mutable, readAttributes } from './attribute-filters.js';
import type { ParameterProblem } from './http-error.js';
import {
  DECIMAL_PATTERN,
  type Parameter,
  parseDecimals,
  readParameter,
  type Schema,
} from './parameter.js';
import type { Pair } from './query-string.js';

const TIME =
  "an ISO 8601 date and time, with Z, a UTC offset or none for the service's own time zone";

const TIME_SCHEMA: Schema = { type: 'string', format: 'date-time' };
const LAT: Schema = { minimum: -90, maximum: 90 };
const PLACE = `${DECIMAL_PATTERN},${DECIMAL_PATTERN}`;
const RING = `${PLACE}(?:;${PLACE}){2,}`;

/** The parameters that say which points are meant, wherever points are asked for. */
export const FILTER_PARAMETERS: readonly Parameter[] = [
  {
    name: 'created_at_after',
    means: 'Points created at that time or later.',
    accepts: TIME,
    example: '2023-05-01T00:00:00Z',
    schema: TIME_SCHEMA,
  },
  {
    name: 'created_at_before',
    means: 'Points created at that time or earlier.',
    accepts: TIME,
    example: '2023-06-01T00:00:00Z',
    schema: TIME_SCHEMA,
  },
  {
    name: 'modified_at_after',
    means: 'Points last changed at that time or later.',
    accepts: TIME,
    example: '2023-05-01T00:00:00Z',
    schema: TIME_SCHEMA,
  },
  {
    name: 'modified_at_before',
    means: 'Points last changed at that time or earlier.',
    accepts: TIME,
    example: '2023-06-01T00:00:00Z',
    schema: TIME_SCHEMA,
  },
  {
    name: 'bbox',
    means: 'Points in the box or on its edges.',
    accepts:
      'left,bottom,right,top in decimal degrees, bottom not above top; left greater than right crosses the antimeridian',
    example: '24.94,60.16,24.96,60.18',
    schema: decimals([{}, LAT, {}, LAT]),
  },
  {
    name: 'coordinates',
    means: 'Points within the radius; a list has the nearest first, unless `ordering` is given.',
    accepts:
      'lat,lon,radius in this order: latitude within ±90, longitude within ±180, radius in metres, 0 or more',
    example: '60.166,24.951,1000',
    schema: decimals([LAT, { minimum: -180, maximum: 180 }, { minimum: 0 }]),
  },
  {
    name: 'polygon',
    means: 'Points in the polygon or on its edges.',
    accepts: `lon,lat;lon,lat;… of three places or more, which is closed by itself and includes its edges, then holes with | before each; ${MAX_PLACES} places at most. An edge of more than 180 degrees crosses the antimeridian`,
    example: '24.94,60.16;24.96,60.16;24.95,60.18',
    schema: { type: 'string', pattern: `^${RING}(?:\\|${RING})*$` },
  },
  ...ATTRIBUTE_PARAMETERS,
];

/**
 * Reads the parameters that filter points and adds what is wrong with them to `problems`; `zone` is
 * where times without an offset stand.
 */
export function parseFilters(
  pairs: readonly Pair[],
  zone: TimeZone,
  problems: ParameterProblem[],
): Filters {
  const filters: Mutable = {};
  const created = readWindow(pairs, 'created_at_after', 'created_at_before', zone, problems);
  if (created !== undefined) filters.createdAt = created;
  const modified = readWindow(pairs, 'modified_at_after', 'modified_at_before', zone, problems);
  if (modified !== undefined) filters.modifiedAt = modified;
  const boxes = read(pairs, 'bbox', parseBbox, problems);
  if (boxes !== undefined) filters.boxes = boxes;
  const circle = read(pairs, 'coordinates', parseCircle, problems);
  if (circle !== undefined) filters.circle = circle;
  const polygon = read(pairs, 'polygon', parsePolygon, problems);
  if (polygon !== undefined) filters.polygon = polygon;
  readAttributes(pairs, filters, problems);
  return filters;
}

function read<Value extends number | object>(
  pairs: readonly Pair[],
  name: string,
  parse: (text: string) => Value | string,
  problems: ParameterProblem[],
): Value | undefined {
  return readParameter(pairs, FILTER_PARAMETERS, name, parse, problems);
}

function readWindow(
  pairs: readonly Pair[],
  after: string,
  before: string,
  zone: TimeZone,
  problems: ParameterProblem[],
): TimeWindow | undefined {
  const parse = (text: string): Microseconds | string => parseQueryTime(text, zone);
  const from = read(pairs, after, parse, problems);
  const to = read(pairs, before, parse, problems);
  if (from === undefined && to === undefined) return undefined;
  return { after: from ?? Number.NEGATIVE_INFINITY, before: to ?? Number.POSITIVE_INFINITY };
}

/** Of numbers with these bounds. */
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
