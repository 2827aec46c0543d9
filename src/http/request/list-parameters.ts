import type { RecordKey } from '../../model/point.js';
import type { Filters, Ordering, Query, TimeOrdering } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import type { JournalState } from '../../posts/journal.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { HttpError, invalidPage } from './http-error.js';
import {
  countParameter,
  FIELDS_PARAMETER,
  type Parameter,
  type ParameterReader,
  parseWhole,
  readKeys,
  readParameters,
  wholeFrom,
} from './parameter.js';
import { last, type Pair } from './query-string.js';

export interface PageRequest {
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to {@link MAX_PAGE_SIZE}. */
  readonly pageSize: number;
}

export interface PointsQuery extends Query {
  readonly keys?: readonly RecordKey[];
}

export interface ExportQuery {
  readonly filters: Filters;
  /** Undefined for the order in which points lie in memory. */
  readonly ordering: TimeOrdering | undefined;
  readonly keys: readonly RecordKey[] | undefined;
}

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;
const parsePageSize = wholeFrom(1);

export const FORMAT: Parameter = formatOf('json or api (the browsable page)', ['api', 'json']);

/** The parameter that chooses among some formats; the first is its example. */
function formatOf(accepts: string, choices: readonly [string, ...string[]]): Parameter {
  const means = 'The form of the answer; else what the Accept header prefers.';
  return { name: 'format', means, accepts, example: choices[0], schema: { enum: choices } };
}

const PAGE_NUMBER: readonly Parameter[] = [
  {
    name: 'page',
    means: 'Which page of the list.',
    accepts: 'a whole number from 1, or last',
    example: '2',
    schema: { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'last' }], default: 1 },
  },
  countParameter(
    { name: 'page_size', means: 'Records of a page.', example: '20' },
    MAX_PAGE_SIZE,
    DEFAULT_PAGE_SIZE,
  ),
];

export const POINT_PARAMETERS: readonly Parameter[] = [
  FIELDS_PARAMETER,
  formatOf('json, geojson or api (the browsable page)', ['api', 'json', 'geojson']),
];

const ORDERINGS: readonly TimeOrdering[] = [
  'created_at',
  '-created_at',
  'modified_at',
  '-modified_at',
];

const ORDERING: Parameter = {
  name: 'ordering',
  means: 'The order of the points; `-` stands for descending, and ties go by id.',
  accepts: 'created_at, -created_at, modified_at or -modified_at',
  example: '-created_at',
  schema: { enum: ORDERINGS },
};

/** The parameters of an export; all are optional, and an empty one counts as absent. */
export const EXPORT_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ORDERING,
  FIELDS_PARAMETER,
];
/** Their names. */
export const EXPORTED: ReadonlySet<string> = new Set(EXPORT_PARAMETERS.map(({ name }) => name));

/** Those of the list of points, likewise. */
export const POINTS_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ORDERING,
  ...PAGE_NUMBER,
  ...POINT_PARAMETERS,
];

export const PAGE_PARAMETERS: readonly Parameter[] = [...PAGE_NUMBER, FORMAT];

/** Throws ParameterErrors with all that is wrong, else NotFound for a page that cannot exist. */
export function parsePointsQuery(pairs: readonly Pair[], zone: TimeZone): PointsQuery {
  const query = readParameters(pairs, POINTS_PARAMETERS, (reader) => {
    const filters = parseFilters(reader, zone);
    const nearest = filters.circle === undefined ? 'id' : 'distance';
    const ordering: Ordering = readOrdering(reader) ?? nearest;
    return { filters, ordering, keys: readKeys(reader), pageSize: readPageSize(reader) };
  });
  const { filters, ordering, keys, pageSize } = query;
  const wanted = { filters, ordering, page: readPage(pairs), pageSize };
  return keys === undefined ? wanted : { ...wanted, keys };
}

export function parseExportQuery(pairs: readonly Pair[], zone: TimeZone): ExportQuery {
  return readParameters(pairs, EXPORT_PARAMETERS, (reader) => ({
    filters: parseFilters(reader, zone),
    ordering: readOrdering(reader),
    keys: readKeys(reader),
  }));
}

export function parsePointQuery(pairs: readonly Pair[]): readonly RecordKey[] | undefined {
  return readParameters(pairs, POINT_PARAMETERS, readKeys);
}

/** Reads the parameters of a list that has pages and nothing else; throws as that of points does. */
export function parsePageQuery(pairs: readonly Pair[]): PageRequest {
  const pageSize = readParameters(pairs, PAGE_PARAMETERS, readPageSize);
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

function readPageSize(reader: ParameterReader): number {
  return Math.min(reader.read('page_size', parsePageSize) ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
}

function readOrdering(reader: ParameterReader): TimeOrdering | undefined {
  const text = last(reader.pairs, 'ordering');
  if (!text) return undefined;
  const ordering = ORDERINGS.find((one) => one === text.trim());
  return ordering ?? reader.refuse('ordering', text, 'not one of the four orders');
}

export interface ChangesQuery {
  readonly filters: Filters;
  /** The keys that records shall have; undefined for all. */
  readonly keys: readonly RecordKey[] | undefined;
  /** The sequence behind which to begin, where one is named. */
  readonly after: number | undefined;
}

export const CHANGES_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  FIELDS_PARAMETER,
  {
    name: 'after',
    means:
      'The sequence behind which to begin; else a stream begins now, and lines with the oldest.',
    accepts: 'a sequence, a whole number',
    example: '0',
    schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  formatOf('events or ndjson', ['ndjson', 'events']),
];

/** Reads the parameters of accepted points. Throws ParameterErrors with all that is wrong. */
export function parseChangesQuery(pairs: readonly Pair[], zone: TimeZone): ChangesQuery {
  return readParameters(pairs, CHANGES_PARAMETERS, (reader) => ({
    filters: parseFilters(reader, zone),
    keys: readKeys(reader),
    after: readAfter(reader),
  }));
}

/** The sequence that `after` names. Throws ParameterErrors where it is none. */
export function parseAfter(pairs: readonly Pair[]): number | undefined {
  return readParameters(pairs, CHANGES_PARAMETERS, readAfter);
}

/** The sequence that a stream goes on behind, where a header names one. Throws a 400 HttpError. */
export function parseLastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  const sequence = sequenceOf(String(header));
  if (sequence !== undefined) return sequence;
  const expected = 'the sequence that an event had as its id, such as 17';
  const detail = `Got Last-Event-ID ${quote(String(header))}. Expected ${expected}.`;
  throw new HttpError(400, { detail });
}

/** Throws a 410 HttpError where a journal does not have all posts behind a sequence. */
export function checkKept(
  after: number,
  { keptAfter, lastSequence }: Pick<JournalState, 'keptAfter' | 'lastSequence'>,
): void {
  if (after >= keptAfter && after <= lastSequence) return;
  const why =
    after > lastSequence
      ? `The last post is ${lastSequence}: ${after} is of another journal.`
      : `All posts are kept behind ${keptAfter} only, and those behind ${after} were asked for.`;
  throw new HttpError(410, { detail: `${why} Begin with all points, and go on from there.` });
}

function readAfter(reader: ParameterReader): number | undefined {
  return reader.read('after', (text) => sequenceOf(text.trim()) ?? 'not a sequence');
}

function sequenceOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
