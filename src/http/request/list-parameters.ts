import type { RecordKey } from '../../model/point.js';
import type { Filters, Ordering, Query, TimeOrdering } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import type { JournalState } from '../../posts/journal.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { HttpError, invalidPage } from './http-error.js';
import {
  countOf,
  type Parameter,
  type ParameterReader,
  parameters,
  parseWhole,
  readKeys,
  readParameters,
} from './parameter.js';
import { last, type Pair } from './query-string.js';

export interface PageRequest {
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to 1,000. */
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

const ORDERINGS: readonly TimeOrdering[] = [
  'created_at',
  '-created_at',
  'modified_at',
  '-modified_at',
];

/** The parameters of an export; all are optional, and an empty one counts as absent. */
export const EXPORT_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('ordering', 'fields'),
];
/** Their names. */
export const EXPORTED: ReadonlySet<string> = new Set(EXPORT_PARAMETERS.map(({ name }) => name));

/** Those of the list of points, likewise. */
export const POINTS_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('ordering', 'page', 'page_size', 'fields', 'format@points'),
];

export const POINT_PARAMETERS: readonly Parameter[] = parameters('fields', 'format@points');
export const PAGE_PARAMETERS: readonly Parameter[] = parameters('page', 'page_size', 'format');

const readPageSize = countOf('page_size');

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
  ...parameters('fields', 'after@changes', 'format@changes'),
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
