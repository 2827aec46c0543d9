import type { RecordKey } from '../../model/point.js';
import type { Filters } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import type { JournalState } from '../../posts/journal.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { HttpError } from './http-error.js';
import {
  FIELDS_PARAMETER,
  type Parameter,
  type ParameterReader,
  readKeys,
  readParameters,
} from './parameter.js';
import type { Pair } from './query-string.js';

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

function readAfter(reader: ParameterReader): number | undefined {
  return reader.read('after', (text) => sequenceOf(text.trim()) ?? 'not a sequence');
}

function sequenceOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
