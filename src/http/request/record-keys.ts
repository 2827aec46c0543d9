import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import type { ParameterProblem } from './errors.js';
import { type Parameter, refusal } from './parameter.js';
import { last, type Pair } from './query-string.js';

/** The parameter that says which keys records have, wherever records are asked for. */
export const FIELDS_PARAMETER: Parameter = {
  name: 'fields',
  accepts: `one or several keys of a record with commas between: ${RECORD_KEYS.join(', ')}`,
  example: 'id,lat,lon',
  schema: { type: 'array', items: { enum: RECORD_KEYS } },
};

/**
 * Reads which keys records shall have, in the order in which records have them; undefined for all.
 * Adds what is wrong to `problems`.
 */
export function parseRecordKeys(
  pairs: readonly Pair[],
  problems: ParameterProblem[],
): readonly RecordKey[] | undefined {
  const text = last(pairs, FIELDS_PARAMETER.name);
  if (!text) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(RECORD_KEYS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const reason = unknown === '' ? 'a key is missing' : `records have no ${quote(unknown)}`;
    problems.push(refusal([FIELDS_PARAMETER], FIELDS_PARAMETER.name, text, reason));
    return undefined;
  }
  return RECORD_KEYS.filter((key) => names.includes(key));
}
