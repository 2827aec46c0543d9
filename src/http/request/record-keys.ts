import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import type { ParameterProblem } from './errors.js';
import { type Parameter, readParameter } from './parameter.js';
import type { Pair } from './query-string.js';

/** The parameter that says which keys records have, wherever records are asked for. */
export const FIELDS_PARAMETER: Parameter = {
  name: 'fields',
  means: 'Keys that records shall have; all where it is absent.',
  accepts: `one or several keys of a record with commas between: ${RECORD_KEYS.join(', ')}`,
  example: 'id,lat,lon',
  schema: { type: 'array', items: { enum: RECORD_KEYS } },
};

const OWN: readonly Parameter[] = [FIELDS_PARAMETER];

/**
 * Reads which keys records shall have, in the order in which records have them; undefined for all.
 * Adds what is wrong to `problems`.
 */
export function parseRecordKeys(
  pairs: readonly Pair[],
  problems: ParameterProblem[],
): readonly RecordKey[] | undefined {
  return readParameter(pairs, OWN, FIELDS_PARAMETER.name, parseKeys, problems);
}

function parseKeys(text: string): readonly RecordKey[] | string {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(RECORD_KEYS as readonly string[]).includes(name));
  if (unknown === undefined) return RECORD_KEYS.filter((key) => names.includes(key));
  return unknown === '' ? 'a key is missing' : `records have no ${quote(unknown)}`;
}
