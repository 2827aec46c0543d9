import type { Filters } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import { isWhole } from '../../model/units.js';
import type { ParameterProblem } from './http-error.js';
import { type Parameter, parseWhole, refusal, type Schema } from './parameter.js';
import { type Pair, splitList } from './query-string.js';

/** Values that one parameter may name: each is looked up, which takes some 1 µs. */
const MAX_VALUES = 1_000;

const EXACTLY =
  'each exactly as records have it, but with \\, for a comma that belongs to it and \\\\ for a backslash';
const TEXTS: Schema = { type: 'array', items: { type: 'string', minLength: 1 } };
const FLAG: Schema = { type: 'boolean' };
const USERS: Schema = {
  type: 'array',
  items: {
    anyOf: [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, { const: 'none' }],
  },
};

/** The parameters that filter by what a record says besides its place and its times. */
export const ATTRIBUTE_PARAMETERS: readonly Parameter[] = [
  {
    name: 'status',
    means: 'Points that have any of these statuses.',
    accepts: `one status or several with commas between them, ${EXACTLY}`,
    example: 'NEW,OPEN',
    schema: TEXTS,
  },
  {
    name: 'is_processed',
    means: 'Points that somebody has dealt with, or those that nobody has.',
    accepts: 'true or false',
    example: 'false',
    schema: FLAG,
  },
  {
    name: 'tags',
    means: 'Points that have any of these tags.',
    accepts: `one tag or several with commas between them, ${EXACTLY}: points that have any of them`,
    example: 'Lighting,Muu 2',
    schema: TEXTS,
  },
  {
    name: 'tags_all',
    means: 'Points that have all of these tags.',
    accepts: `one tag or several with commas between them, ${EXACTLY}: points that have all of them`,
    example: 'Lighting,Muu 2',
    schema: TEXTS,
  },
  {
    name: 'created_by',
    means: 'Points of any of these users.',
    accepts:
      'ids of users, whole numbers from 0 to 2^53 - 1, with commas between them; none stands for points without a user',
    example: '148,none',
    schema: USERS,
  },
  {
    name: 'has_image',
    means: 'Points with an image, or those without.',
    accepts: 'true or false',
    example: 'true',
    schema: FLAG,
  },
];

/** The filters while they are read. */
export type Mutable = { -readonly [name in keyof Filters]: Filters[name] };

/**
 * Adds the filters that the parameters ask for, and what is wrong with them to `problems`. Each
 * pair is looked at once, since most requests have none of these parameters.
 */
export function readAttributes(
  pairs: readonly Pair[],
  filters: Mutable,
  problems: ParameterProblem[],
): void {
  let found: Map<string, string[]> | undefined;
  for (const { name, value } of pairs) {
    switch (name) {
      case 'status':
      case 'is_processed':
      case 'tags':
      case 'tags_all':
      case 'created_by':
      case 'has_image':
        found ??= new Map();
        if (!found.get(name)?.push(value)) found.set(name, [value]);
    }
  }
  if (found === undefined) return;
  const attributes: Mutable = {
    ...named('statuses', readTexts(found, 'status', problems)),
    ...named('isProcessed', readFlag(found, 'is_processed', problems)),
    ...named('tags', readTexts(found, 'tags', problems)),
    ...named('tagsAll', readTexts(found, 'tags_all', problems)),
    ...named('createdBy', readList(found, 'created_by', parseUser, problems)),
    ...named('hasImage', readFlag(found, 'has_image', problems)),
  };
  Object.assign(filters, attributes);
}

/** An object with one key, or with none where there is no value. */
function named<Key extends keyof Filters>(key: Key, value: Filters[Key]): Mutable {
  return value === undefined ? {} : { [key]: value };
}

type Found = ReadonlyMap<string, readonly string[]>;

/** Of a repeated flag the last counts. */
function readFlag(found: Found, name: string, problems: ParameterProblem[]): boolean | undefined {
  const text = found.get(name)?.at(-1);
  if (!text) return undefined;
  const flag = text.trim();
  if (flag === 'true') return true;
  if (flag === 'false') return false;
  problems.push(refusal(ATTRIBUTE_PARAMETERS, name, text, 'neither true nor false'));
  return undefined;
}

function readTexts(
  found: Found,
  name: string,
  problems: ParameterProblem[],
): readonly string[] | undefined {
  return readList(found, name, parseText, problems);
}

function parseText(text: string): [text: string] | string {
  return text.includes('\0') ? 'has a NUL character, which no record has' : [text];
}

/** A user as a filter names it, in a list of its own; or the reason why a text names none. */
function parseUser(text: string): [user: number | undefined] | string {
  if (text.trim() === 'none') return [undefined];
  const user = parseWhole(text);
  return isWhole(user, 0)
    ? [user]
    : `${quote(text)} is neither none nor a whole number up to 2^53 - 1`;
}

/**
 * Reads lists with commas; repeated ones add up, and each value counts once. `parse` returns the
 * value in a list of its own, or the reason why it is none.
 */
function readList<Value>(
  found: Found,
  name: string,
  parse: (text: string) => readonly [Value] | string,
  problems: ParameterProblem[],
): readonly Value[] | undefined {
  const values = new Set<Value>();
  for (const list of found.get(name) ?? []) {
    if (list === '') continue;
    for (const [index, text] of splitList(list).entries()) {
      const value = text === '' ? `value ${index + 1} is empty` : parse(text);
      if (typeof value !== 'string') values.add(value[0]);
      if (typeof value !== 'string' && values.size <= MAX_VALUES) continue;
      const reason = typeof value === 'string' ? value : `more than ${MAX_VALUES} values`;
      problems.push(refusal(ATTRIBUTE_PARAMETERS, name, list, reason));
      return undefined;
    }
  }
  return values.size === 0 ? undefined : [...values];
}
