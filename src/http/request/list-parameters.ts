import type { RecordKey } from '../../model/point.js';
import type { Filters, Ordering, Query, TimeOrdering, TimeWindow } from '../../model/query.js';
import { cut, quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { DATE, parseDay, parseQueryTime } from '../../model/timestamp.js';
import type { Microseconds } from '../../model/units.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { HttpError, invalidPage } from './http-error.js';
import {
  countOf,
  PARAMETERS,
  type Parameter,
  type ParameterReader,
  parameters,
  parseDecimals,
  parseWhole,
  readKeys,
  readParameters,
  wholeFrom,
} from './parameter.js';
import { last, type Pair } from './query-string.js';

export type PageRequest = Pick<Query, 'page' | 'pageSize'>;

export interface PointsQuery extends Query {
  readonly keys: readonly RecordKey[] | undefined;
}

export interface ExportQuery {
  readonly filters: Filters;
  /** Undefined for the order in which points lie in memory. */
  readonly ordering: TimeOrdering | undefined;
  /** The keys that records shall have; undefined for all. */
  readonly keys: readonly RecordKey[] | undefined;
}

const { enum: ORDERINGS } = PARAMETERS.get('ordering')!.schema as {
  readonly enum: readonly TimeOrdering[];
};

export const EXPORT_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('ordering', 'fields'),
];
export const EXPORTED: ReadonlySet<string> = new Set(EXPORT_PARAMETERS.map(({ name }) => name));

export const POINTS_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('ordering', 'page', 'page_size', 'fields', 'format@points'),
];

export const POINT_PARAMETERS: readonly Parameter[] = parameters('fields', 'format@points');
export const PAGE_PARAMETERS: readonly Parameter[] = parameters('page', 'page_size', 'format');

const readPageSize = countOf('page_size');

/** Throws a 400 HttpError with all that is wrong, else NotFound for a page that cannot exist. */
export function parsePointsQuery(pairs: readonly Pair[], zone: TimeZone): PointsQuery {
  const { filters, ordering, keys, pageSize } = readParameters(
    pairs,
    POINTS_PARAMETERS,
    (reader) => {
      const filters = parseFilters(reader, zone);
      const nearest = filters.circle === undefined ? 'id' : 'distance';
      const ordering: Ordering = readOrdering(reader) ?? nearest;
      return { filters, ordering, keys: readKeys(reader), pageSize: readPageSize(reader) };
    },
  );
  // a spread with a further property takes V8 1 µs, and what reads the object is slower, too
  return { filters, ordering, keys, pageSize, page: readPage(pairs) };
}

export function parseExportQuery(pairs: readonly Pair[], zone: TimeZone): ExportQuery {
  return readParameters(pairs, EXPORT_PARAMETERS, (reader) => ({
    filters: parseFilters(reader, zone),
    ordering: readOrdering(reader),
    keys: readKeys(reader),
  }));
}

/** Throws as {@link parsePointsQuery} does. */
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

function readOrdering(reader: ParameterReader): TimeOrdering | undefined {
  const text = last(reader.pairs, 'ordering');
  if (!text) return undefined;
  const ordering = ORDERINGS.find((one) => one === text.trim());
  return ordering ?? reader.refuse('ordering', text, 'not one of the four orders');
}

interface ChangesQuery extends Pick<ExportQuery, 'filters' | 'keys'> {
  /** The sequence behind which to begin, where one is named. */
  readonly after: number | undefined;
}

export const CHANGES_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('fields', 'after@changes', 'format@changes'),
];

/** Throws a 400 HttpError with all that is wrong. */
export function parseChangesQuery(pairs: readonly Pair[], zone: TimeZone): ChangesQuery {
  return readParameters(pairs, CHANGES_PARAMETERS, (reader) => ({
    filters: parseFilters(reader, zone),
    keys: readKeys(reader),
    after: readAfter(reader),
  }));
}

/** The sequence that `after` names. Throws a 400 HttpError where it is none. */
export function parseAfter(pairs: readonly Pair[]): number | undefined {
  return readParameters(pairs, CHANGES_PARAMETERS, readAfter);
}

/** The sequence that a header names, if any. Throws a 400 HttpError for what is none. */
export function sequenceIn(
  header: string | string[] | undefined,
  name: string,
  expected: string,
): number | undefined {
  if (header === undefined) return undefined;
  const sequence = sequenceOf(String(header));
  if (sequence !== undefined) return sequence;
  const detail = `Got ${name} ${quote(String(header))}. Expected ${expected}, such as 17.`;
  throw new HttpError(400, { detail });
}

function readAfter(reader: ParameterReader): number | undefined {
  return reader.read('after', (text) => sequenceOf(text.trim()) ?? 'not a sequence');
}

function sequenceOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export interface ItemsQuery extends Pick<ExportQuery, 'filters' | 'keys'> {
  readonly after: number;
  readonly limit: number;
}

/** Unknown parameters that an answer names: an address has room for thousands. */
const MOST_TOLD = 10;
export const AFTER = 'after';

export const OGC_PARAMETERS: readonly Parameter[] = parameters('f@ogc', 'format@ogc');

/** Filters that links to the items keep; not the box, since clients add one of their own. */
const KEPT_PARAMETERS = FILTER_PARAMETERS.filter(({ name }) => name !== 'bbox');

export const LEADING_PARAMETERS: readonly Parameter[] = [...KEPT_PARAMETERS, ...OGC_PARAMETERS];

export const ITEM_PARAMETERS: readonly Parameter[] = parameters(
  'fields',
  'f@items',
  'format@items',
);

/** The `bbox` of the standard may have heights. */
export const ITEMS_PARAMETERS: readonly Parameter[] = [
  ...KEPT_PARAMETERS,
  ...parameters('bbox@items', 'datetime', 'limit@items', 'after@items'),
  ...ITEM_PARAMETERS,
];

const readLimit = countOf('limit@items');

/** Throws a 400 HttpError with all that is wrong, unknown parameters included. */
export function parseItemsQuery(pairs: readonly Pair[], zone: TimeZone): ItemsQuery {
  return readKnown(pairs.map(withoutHeights), ITEMS_PARAMETERS, (reader) => {
    const filters = parseFilters(reader, zone);
    const times = reader.read('datetime', (text) => parseTimes(text, zone));
    return {
      filters: { ...filters, createdAt: both(filters.createdAt, times) },
      after: reader.read(AFTER, wholeFrom(0)) ?? 0,
      limit: readLimit(reader),
      keys: readKeys(reader),
    };
  });
}

/** The keys that an item shall have. Throws as {@link parseItemsQuery} does. */
export function parseItemQuery(pairs: readonly Pair[]): readonly RecordKey[] | undefined {
  return readKnown(pairs, ITEM_PARAMETERS, readKeys);
}

/** The filters that a document keeps in its links. Throws as {@link parseItemsQuery} does. */
export function parseKept(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  zone: TimeZone,
): readonly Pair[] {
  readKnown(pairs, parameters, (reader) => parseFilters(reader, zone));
  return pairs.filter(({ name }) => KEPT_PARAMETERS.some((one) => one.name === name));
}

/** Reads parameters where no others are allowed. */
function readKnown<Wanted>(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  read: (reader: ParameterReader) => Wanted,
): Wanted {
  const byName = new Map(parameters.map((one) => [one.name, one]));
  const known = pairs.filter(({ name }) => byName.has(name));
  return readParameters(known, parameters, (reader) => {
    const unknown = pairs.filter(({ name }) => !byName.has(name));
    for (const { name } of unknown.slice(0, MOST_TOLD)) {
      const names = [...byName.keys()].join(', ');
      const text = `There is no parameter ${quote(name)} here; the parameters are ${names}.`;
      reader.problems.push([cut(name), [text]]);
    }
    // the pipeline reads `format` itself
    const formats = byName.get('f')!.schema['enum'] as readonly string[];
    reader.read('f', (text) => formats.includes(text) || 'no format that there is');
    return read(reader);
  });
}

/** Drops the heights of a box of six numbers; where these are no numbers the box stays. */
function withoutHeights(pair: Pair): Pair {
  if (pair.name !== 'bbox') return pair;
  const parts = pair.value.split(',', 7);
  if (parts.length !== 6) return pair;
  const [west, south, lowest, east, north, highest] = parts;
  if (typeof parseDecimals(`${lowest},${highest}`, ['lowest', 'highest']) === 'string') return pair;
  return { name: 'bbox', value: [west, south, east, north].join() };
}

/** Reads an instant, a day or a span; or returns the reason as text. */
function parseTimes(text: string, zone: TimeZone): TimeWindow | string {
  const ends = text.split('/', 3);
  if (ends.length > 2) return 'has more than two ends';
  // GDAL writes a T behind a date alone
  const [from, to = from] = ends.map((end) => end.trim().replace(/^(\d{4}-\d\d-\d\d)T$/, '$1'));
  const isOpen = (end: string): boolean => ends.length === 2 && (end === '' || end === '..');
  const read = (end: string, open: number, moment: 'first' | 'last'): Microseconds | string => {
    if (isOpen(end)) return open;
    if (/[Tt ]/.test(end)) return parseQueryTime(end, zone);
    if (!DATE.test(end)) return 'is no date';
    const day = parseDay(end, zone);
    return typeof day === 'string' ? day : day[moment];
  };
  const after = read(from!, Number.NEGATIVE_INFINITY, 'first');
  if (typeof after === 'string') return after;
  const before = read(to!, Number.POSITIVE_INFINITY, 'last');
  if (typeof before === 'string') return before;
  return after > before ? 'ends before it begins' : { after, before };
}

/** The intersection of two windows. */
function both(one: TimeWindow | undefined, other: TimeWindow | undefined): TimeWindow | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    after: Math.max(one.after, other.after),
    before: Math.min(one.before, other.before),
  };
}
