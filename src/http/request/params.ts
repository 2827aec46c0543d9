import type { Circle, Filters, Ordering, Query, TimeWindow } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import type { Microseconds } from '../../model/units.js';
import { parseBbox } from './bbox.js';
import { invalidPage, ParameterErrors, type ParameterProblem } from './errors.js';
import { parseDecimals, parseWhole } from './numbers.js';
import { last, type Pair } from './query-string.js';

/** A parameter as the documentation, the browsable page and the error texts name it. */
export interface Parameter {
  readonly name: string;
  /** Completes "expected …". */
  readonly accepts: string;
  readonly example: string;
}

/** Which page of a list is asked for. */
export interface PageRequest {
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to {@link MAX_PAGE_SIZE}. */
  readonly pageSize: number;
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;

const TIME =
  "an ISO 8601 date and time, with Z, a UTC offset or none for the service's own time zone";

const PAGE: readonly Parameter[] = [
  { name: 'page', accepts: 'a whole number from 1, or last', example: '2' },
  {
    name: 'page_size',
    accepts: `a whole number from 1; above ${MAX_PAGE_SIZE} it counts as ${MAX_PAGE_SIZE}, and ${DEFAULT_PAGE_SIZE} is the default`,
    example: '20',
  },
  { name: 'format', accepts: 'json or api (the browsable page)', example: 'api' },
];

/** The parameters of the list of points; all are optional, and an empty one counts as absent. */
export const POINTS_PARAMETERS: readonly Parameter[] = [
  { name: 'created_at_after', accepts: TIME, example: '2023-05-01T00:00:00Z' },
  { name: 'created_at_before', accepts: TIME, example: '2023-06-01T00:00:00Z' },
  { name: 'modified_at_after', accepts: TIME, example: '2023-05-01T00:00:00Z' },
  { name: 'modified_at_before', accepts: TIME, example: '2023-06-01T00:00:00Z' },
  {
    name: 'bbox',
    accepts:
      'left,bottom,right,top in decimal degrees, bottom not above top; left greater than right crosses the antimeridian',
    example: '24.94,60.16,24.96,60.18',
  },
  {
    name: 'coordinates',
    accepts:
      'lat,lon,radius in this order: latitude within ±90, longitude within ±180, radius in metres, 0 or more',
    example: '60.166,24.951,1000',
  },
  {
    name: 'ordering',
    accepts: 'created_at, -created_at, modified_at or -modified_at',
    example: '-created_at',
  },
  ...PAGE,
];

/** The parameters of the list of notifications. */
export const PAGE_PARAMETERS: readonly Parameter[] = PAGE;

/**
 * Reads the parameters of the list of points; `zone` is where times without an offset stand. Throws
 * ParameterErrors with all that is wrong, else NotFound for a page that cannot exist.
 */
export function parsePointsQuery(pairs: readonly Pair[], zone: TimeZone): Query {
  const problems: ParameterProblem[] = [];
  const filters: { -readonly [name in keyof Filters]: Filters[name] } = {};

  const created = readWindow(pairs, 'created_at_after', 'created_at_before', zone, problems);
  if (created !== undefined) filters.createdAt = created;
  const modified = readWindow(pairs, 'modified_at_after', 'modified_at_before', zone, problems);
  if (modified !== undefined) filters.modifiedAt = modified;
  const bbox = last(pairs, 'bbox');
  if (bbox) {
    const boxes = parseBbox(bbox);
    if (typeof boxes === 'string') refuse(problems, 'bbox', bbox, boxes);
    else filters.boxes = boxes;
  }
  const coordinates = last(pairs, 'coordinates');
  if (coordinates) {
    const circle = parseCircle(coordinates);
    if (typeof circle === 'string') refuse(problems, 'coordinates', coordinates, circle);
    else filters.circle = circle;
  }
  const ordering = readOrdering(pairs, problems) ?? (filters.circle ? 'distance' : 'id');
  const pageSize = readPageSize(pairs, problems);

  if (problems.length > 0) throw new ParameterErrors(problems);
  return { filters, ordering, page: readPage(pairs), pageSize };
}

/**
 * Reads the parameters of a list that has pages and nothing else; throws as the list of points
 * does.
 */
export function parsePageQuery(pairs: readonly Pair[]): PageRequest {
  const problems: ParameterProblem[] = [];
  const pageSize = readPageSize(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return { page: readPage(pairs), pageSize };
}

function readPage(pairs: readonly Pair[]): number | 'last' {
  const text = last(pairs, 'page');
  if (text === undefined) return 1;
  if (text === 'last') return text;
  const page = parseWhole(text);
  if (page === undefined || page < 1 || !Number.isSafeInteger(page)) throw invalidPage();
  return page;
}

function readPageSize(pairs: readonly Pair[], problems: ParameterProblem[]): number {
  const text = last(pairs, 'page_size');
  if (!text) return DEFAULT_PAGE_SIZE;
  const size = parseWhole(text);
  if (size !== undefined && size >= 1) return Math.min(size, MAX_PAGE_SIZE);
  refuse(problems, 'page_size', text, 'not a whole number from 1');
  return DEFAULT_PAGE_SIZE;
}

function readOrdering(pairs: readonly Pair[], problems: ParameterProblem[]): Ordering | undefined {
  const text = last(pairs, 'ordering');
  if (!text) return undefined;
  const ordering = text.trim();
  switch (ordering) {
    case 'created_at':
    case '-created_at':
    case 'modified_at':
    case '-modified_at':
      return ordering;
    default:
      refuse(problems, 'ordering', text, 'not one of the four orders');
      return undefined;
  }
}

function readWindow(
  pairs: readonly Pair[],
  after: string,
  before: string,
  zone: TimeZone,
  problems: ParameterProblem[],
): TimeWindow | undefined {
  const from = readTime(pairs, after, zone, problems);
  const to = readTime(pairs, before, zone, problems);
  if (from === undefined && to === undefined) return undefined;
  return { after: from ?? Number.NEGATIVE_INFINITY, before: to ?? Number.POSITIVE_INFINITY };
}

function readTime(
  pairs: readonly Pair[],
  name: string,
  zone: TimeZone,
  problems: ParameterProblem[],
): Microseconds | undefined {
  const text = last(pairs, name);
  if (!text) return undefined;
  const time = parseQueryTime(text, zone);
  if (typeof time === 'number') return time;
  refuse(problems, name, text, time);
  return undefined;
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

function refuse(problems: ParameterProblem[], name: string, value: string, reason: string): void {
  const { accepts, example } = POINTS_PARAMETERS.find((parameter) => parameter.name === name)!;
  const text = `Got ${quote(value)}: ${reason}. Expected ${accepts}. Example: ${name}=${example}`;
  problems.push({ parameter: name, text });
}
