import type { RecordKey } from '../../model/point.js';
import type { Ordering, Query } from '../../model/query.js';
import type { TimeZone } from '../../model/time-zone.js';
import { invalidPage, ParameterErrors, type ParameterProblem } from './errors.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { parseWhole } from './numbers.js';
import { type Parameter, readParameter, refusal, wholeFrom } from './parameter.js';
import { last, type Pair } from './query-string.js';
import { FIELDS_PARAMETER, parseRecordKeys } from './record-keys.js';

/** Which page of a list is asked for. */
export interface PageRequest {
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to {@link MAX_PAGE_SIZE}. */
  readonly pageSize: number;
}

/** What is asked of the list of points. */
export interface PointsQuery extends Query {
  /** The keys that records shall have; absent for all. */
  readonly keys?: readonly RecordKey[];
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;
const parsePageSize = wholeFrom(1);

/** Which representation is asked for. */
export const FORMAT: Parameter = {
  name: 'format',
  means: 'The form of the answer; else what the Accept header prefers.',
  accepts: 'json or api (the browsable page)',
  example: 'api',
  schema: { enum: ['json', 'api'] },
};

const PAGE_NUMBER: readonly Parameter[] = [
  {
    name: 'page',
    means: 'Which page of the list.',
    accepts: 'a whole number from 1, or last',
    example: '2',
    schema: { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'last' }], default: 1 },
  },
  {
    name: 'page_size',
    means: 'Records of a page.',
    accepts: `a whole number from 1; above ${MAX_PAGE_SIZE} it counts as ${MAX_PAGE_SIZE}, and ${DEFAULT_PAGE_SIZE} is the default`,
    example: '20',
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  },
];

/** The parameters of a point that is asked for alone. */
export const POINT_PARAMETERS: readonly Parameter[] = [
  FIELDS_PARAMETER,
  {
    name: 'format',
    means: 'The form of the answer; else what the Accept header prefers.',
    accepts: 'json, geojson or api (the browsable page)',
    example: 'api',
    schema: { enum: ['json', 'geojson', 'api'] },
  },
];

/** The parameters of the list of points; all are optional, and an empty one counts as absent. */
export const POINTS_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  {
    name: 'ordering',
    means: 'The order of the list; `-` stands for descending, and ties go by id.',
    accepts: 'created_at, -created_at, modified_at or -modified_at',
    example: '-created_at',
    schema: { enum: ['created_at', '-created_at', 'modified_at', '-modified_at'] },
  },
  ...PAGE_NUMBER,
  ...POINT_PARAMETERS,
];

/** The parameters of the list of notifications. */
export const PAGE_PARAMETERS: readonly Parameter[] = [...PAGE_NUMBER, FORMAT];

/**
 * Reads the parameters of the list of points; `zone` is where times without an offset stand. Throws
 * ParameterErrors with all that is wrong, else NotFound for a page that cannot exist.
 */
export function parsePointsQuery(pairs: readonly Pair[], zone: TimeZone): PointsQuery {
  const problems: ParameterProblem[] = [];
  const filters = parseFilters(pairs, zone, problems);
  const ordering = readOrdering(pairs, problems) ?? (filters.circle ? 'distance' : 'id');
  const keys = parseRecordKeys(pairs, problems);
  const pageSize = readPageSize(pairs, problems);

  if (problems.length > 0) throw new ParameterErrors(problems);
  const query = { filters, ordering, page: readPage(pairs), pageSize };
  return keys === undefined ? query : { ...query, keys };
}

/** Reads which keys a point that is asked for alone shall have; undefined for all. */
export function parsePointQuery(pairs: readonly Pair[]): readonly RecordKey[] | undefined {
  const problems: ParameterProblem[] = [];
  const keys = parseRecordKeys(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return keys;
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
  const size = readParameter(pairs, POINTS_PARAMETERS, 'page_size', parsePageSize, problems);
  return Math.min(size ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
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
      problems.push(refusal(POINTS_PARAMETERS, 'ordering', text, 'not one of the four orders'));
      return undefined;
  }
}
