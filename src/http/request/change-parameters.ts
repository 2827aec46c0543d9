import type { RecordKey } from '../../model/point.js';
import type { Filters } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import type { JournalState } from '../../posts/journal.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { HttpError, ParameterErrors, type ParameterProblem } from './http-error.js';
import { FIELDS_PARAMETER, type Parameter, parseRecordKeys, readParameter } from './parameter.js';
import type { Pair } from './query-string.js';

/** What is asked of accepted points. */
export interface ChangesQuery {
  readonly filters: Filters;
  /** The keys that records shall have; undefined for all. */
  readonly keys: readonly RecordKey[] | undefined;
  /** The sequence behind which to begin, where one is named. */
  readonly after: number | undefined;
}

const AFTER: Parameter = {
  name: 'after',
  means: 'The sequence behind which to begin; else a stream begins now, and lines with the oldest.',
  accepts: 'a sequence, a whole number',
  example: '0',
  schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** The parameters of accepted points; all are optional. */
export const CHANGES_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  FIELDS_PARAMETER,
  AFTER,
  {
    name: 'format',
    means: 'The form of the answer; else what the Accept header prefers.',
    accepts: 'events or ndjson',
    example: 'ndjson',
    schema: { enum: ['events', 'ndjson'] },
  },
];

/** Reads the parameters of accepted points. Throws ParameterErrors with all that is wrong. */
export function parseChangesQuery(pairs: readonly Pair[], zone: TimeZone): ChangesQuery {
  const problems: ParameterProblem[] = [];
  const filters = parseFilters(pairs, zone, problems);
  const keys = parseRecordKeys(pairs, problems);
  const after = readAfter(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return { filters, keys, after };
}

/** The sequence that `after` names. Throws ParameterErrors where it is none. */
export function parseAfter(pairs: readonly Pair[]): number | undefined {
  const problems: ParameterProblem[] = [];
  const after = readAfter(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return after;
}

/** The sequence that a stream goes on behind, where a header names one. Throws a 400 HttpError. */
export function parseLastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  const sequence = sequenceOf(String(header));
  if (sequence !== undefined) return sequence;
  const detail = `Got Last-Event-ID ${quote(String(header))}. Expected the sequence that an event had as its id, such as 17.`;
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

function readAfter(pairs: readonly Pair[], problems: ParameterProblem[]): number | undefined {
  const parse = (text: string): number | string => sequenceOf(text.trim()) ?? 'not a sequence';
  return readParameter(pairs, CHANGES_PARAMETERS, 'after', parse, problems);
}

function sequenceOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
