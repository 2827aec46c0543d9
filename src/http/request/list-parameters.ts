import type { RecordKey } from '../../model/point.js';
import type { Filters, Ordering, Query, TimeOrdering } from '../../model/query.js';
import type { TimeZone } from '../../model/time-zone.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { invalidPage, ParameterErrors, type ParameterProblem } from './http-error.js';
import {
  FIELDS_PARAMETER,
  type Parameter,
  parseRecordKeys,
  parseWhole,
  readParameter,
  refusal,
  wholeFrom,
} from './parameter.js';
import { last, type Pair } from './query-string.js';

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

/** What is asked of an export of points. */
export interface ExportQuery {
  readonly filters: Filters;
  /** Undefined for the order in which points lie in memory. */
  readonly ordering: TimeOrdering | undefined;
  /** The keys that records shall have; undefined for all. */
  readonly keys: readonly RecordKey[] | undefined;
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

const ORDERING: Parameter = {
  name: 'ordering',
  means: 'The order of the points; `-` stands for descending, and ties go by id.',
  accepts: 'created_at, -created_at, modified_at or -modified_at',
  example: '-created_at',
  schema: { enum: ['created_at', '-created_at', 'modified_at', '-modified_at'] },
};

/** The parameters of an export; all are optional, and an empty one counts as absent. */
export const EXPORT_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ORDERING,
  FIELDS_PARAMETER,
];

/** Those of the list of points, likewise. */
export const POINTS_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ORDERING,
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
  const nearest = filters.circle === undefined ? 'id' : 'distance';
  const ordering: Ordering = readOrdering(pairs, problems) ?? nearest;
  const keys = parseRecordKeys(pairs, problems);
  const pageSize = readPageSize(pairs, problems);

  if (problems.length > 0) throw new ParameterErrors(problems);
  const query = { filters, ordering, page: readPage(pairs), pageSize };
  return keys === undefined ? query : { ...query, keys };
}

/**
 * Reads the parameters of an export; `zone` is where times without an offset stand. Throws
 * ParameterErrors with all that is wrong.
 */
export function parseExportQuery(pairs: readonly Pair[], zone: TimeZone): ExportQuery {
  const problems: ParameterProblem[] = [];
  const filters = parseFilters(pairs, zone, problems);
  const ordering = readOrdering(pairs, problems);
  const keys = parseRecordKeys(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return { filters, ordering, keys };
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

function readOrdering(
  pairs: readonly Pair[],
  problems: ParameterProblem[],
): TimeOrdering | undefined {
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
      problems.push(refusal(EXPORT_PARAMETERS, 'ordering', text, 'not one of the four orders'));
      return undefined;
  }
}
