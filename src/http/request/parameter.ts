import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { quote } from '../../model/quote.js';
import { ParameterErrors, type ParameterProblem } from './http-error.js';
import { last, type Pair } from './query-string.js';

export type Schema = Readonly<Record<string, unknown>>;

/** A parameter as the documentation, the browsable page and the error texts name it. */
export interface Parameter {
  readonly name: string;
  /** What it asks for, as a sentence; absent where that is plain from `accepts`. */
  readonly means?: string;
  /** Completes "expected …". */
  readonly accepts: string;
  readonly example: string;
  /** What its text stands for; any text where absent. The items of an array have commas between. */
  readonly schema?: Schema;
}

/** A parser of a text; returns the reason as text for what cannot be used. */
type Parse<Value> = (text: string) => Value | string;

/** Reads the parameters of a request one by one, and gathers what is wrong with them. */
export class ParameterReader {
  readonly pairs: readonly Pair[];
  readonly problems: ParameterProblem[] = [];
  readonly #parameters: readonly Parameter[];

  /** `parameters` are those of the address. */
  constructor(pairs: readonly Pair[], parameters: readonly Parameter[]) {
    this.pairs = pairs;
    this.#parameters = parameters;
  }

  /** Reads a parameter, of which the last counts; undefined where absent, empty or refused. */
  read<Value extends number | boolean | object>(
    name: string,
    parse: Parse<Value>,
  ): Value | undefined {
    const text = last(this.pairs, name);
    if (!text) return undefined;
    const value = parse(text);
    return typeof value === 'string' ? this.refuse(name, text, value) : value;
  }

  /** Tells the client the value, the reason and the rule. */
  refuse(name: string, value: string, reason: string): undefined {
    const { accepts, example } = this.#parameters.find((one) => one.name === name)!;
    const text = `Got ${quote(value)}: ${reason}. Expected ${accepts}. Example: ${name}=${example}`;
    this.problems.push({ parameter: name, text });
  }
}

/** Reads parameters by `read`. Throws ParameterErrors with all that is wrong. */
export function readParameters<Wanted>(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  read: (reader: ParameterReader) => Wanted,
): Wanted {
  const reader = new ParameterReader(pairs, parameters);
  const wanted = read(reader);
  if (reader.problems.length > 0) throw new ParameterErrors(reader.problems);
  return wanted;
}

/** Makes the parser of a whole number from `least`, infinite where it is too long. */
export function wholeFrom(least: number): Parse<number> {
  return (text) => {
    const value = parseWhole(text);
    return value !== undefined && value >= least ? value : `not a whole number from ${least}`;
  };
}

export function parseFlag(text: string): boolean | string {
  const flag = text.trim();
  return flag === 'true' || (flag === 'false' ? false : 'neither true nor false');
}

/** A decimal number with white space around it, as a pattern of JSON Schema. */
export const DECIMAL_PATTERN: string = String.raw`\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*`;

const DECIMAL = new RegExp(`^${DECIMAL_PATTERN}$`);
const WHOLE = /^\+?\d+$/;

/** Hexadecimal and the names of infinities, which `Number` would take, are none. */
function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  // adding zero turns -0 into 0
  const value = Number(text) + 0;
  return Number.isFinite(value) ? value : undefined;
}

const COUNTS = ['no', 'one', 'two', 'three', 'four'];

/**
 * Reads `count` decimal numbers, up to four, with commas between them and white space around them
 * allowed. Each is undefined where it is no finite decimal number. Returns the reason as text when
 * there are more or fewer.
 */
export function parseDecimals(text: string, count: number): (number | undefined)[] | string {
  const plain = readPlainDecimals(text, count);
  if (plain !== undefined) return plain;
  const parts = text.split(',', count + 1);
  if (parts.length === count) return parts.map(parseDecimal);
  return `needs ${COUNTS[count]} numbers, has ${parts.length > count ? 'more' : parts.length}`;
}

/** Powers of ten that are exact. */
const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));
const MINUS = 0x2d;
const POINT = 0x2e;
const COMMA = 0x2c;
const ZERO = 0x30;

/**
 * Reads `count` decimal numbers with commas between them, in one pass over their digits, where they
 * are as plain as in `60.17,-24.94,1000`. Undefined for anything else, such as white space, an
 * exponent, more than 15 digits or another number of them, which {@link parseDecimal} has to judge.
 * The quotient of two integers that are exact is the double that is nearest to the decimal.
 */
function readPlainDecimals(text: string, count: number): number[] | undefined {
  const numbers: number[] = [];
  let at = 0;
  while (numbers.length < count) {
    const isNegative = text.charCodeAt(at) === MINUS;
    if (isNegative) at++;
    const first = at;
    let point = -1;
    let digits = 0;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= ZERO && code <= ZERO + 9) digits = digits * 10 + (code - ZERO);
      else if (code === POINT && point < 0) point = at;
      else break;
    }
    const length = at - first - (point < 0 ? 0 : 1);
    if (length < 1 || length > 15) return undefined;
    const value = point < 0 ? digits : digits / POWERS[at - point - 1]!;
    // adding zero turns -0 into 0
    numbers.push((isNegative ? -value : value) + 0);
    if (at < text.length && text.charCodeAt(at) !== COMMA) return undefined;
    at++;
  }
  return at > text.length ? numbers : undefined;
}

/** A whole number, white space around it allowed; infinite where it is too long. */
export function parseWhole(text: string): number | undefined {
  const trimmed = text.trim();
  return WHOLE.test(trimmed) ? Number(trimmed) : undefined;
}

/** A parameter for how many there shall be: from 1, and at most `max`, as which all above counts. */
export function countParameter(
  about: Pick<Parameter, 'name' | 'means' | 'example'>,
  max: number,
  ofDefault: number,
): Parameter {
  const beyond = `above ${max} it counts as ${max}, and ${ofDefault} is the default`;
  return {
    ...about,
    accepts: `a whole number from 1; ${beyond}`,
    schema: { type: 'integer', minimum: 1, maximum: max, default: ofDefault },
  };
}

/** Where a box may lie, behind how it is written. */
export const BOX_RULES = 'bottom not above top; left greater than right crosses the antimeridian';

/** The parameter that says which keys records have, wherever records are asked for. */
export const FIELDS_PARAMETER: Parameter = {
  name: 'fields',
  means: 'Keys that records shall have; all where it is absent.',
  accepts: `one or several keys of a record with commas between: ${RECORD_KEYS.join(', ')}`,
  example: 'id,lat,lon',
  schema: { type: 'array', items: { enum: RECORD_KEYS } },
};

/** Which keys records shall have, in the order in which records have them; undefined for all. */
export function readKeys(reader: ParameterReader): readonly RecordKey[] | undefined {
  return reader.read('fields', parseKeys);
}

function parseKeys(text: string): readonly RecordKey[] | string {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(RECORD_KEYS as readonly string[]).includes(name));
  if (unknown === undefined) return RECORD_KEYS.filter((key) => names.includes(key));
  return unknown === '' ? 'a key is missing' : `records have no ${quote(unknown)}`;
}
