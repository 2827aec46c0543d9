import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { quote, readAsset } from '../../model/quote.js';
import type { JsonObject } from '../../model/units.js';
import { HttpError } from './http-error.js';
import { last, type Pair } from './query-string.js';

/** A parameter as the documentation, the browsable page and the error texts name it. */
export interface Parameter {
  readonly name: string;
  /** Tells it from others of the same name, in the OpenAPI document. */
  readonly key: string;
  /** What the form calls it; its name where absent. */
  readonly label?: string;
  /** What it asks for, as a sentence; absent where that is plain from `accepts`. */
  readonly means?: string;
  /** Completes "expected …". */
  readonly accepts: string;
  readonly example: string;
  /** The example as the schema has it: a number, a list, or its text. */
  readonly value: unknown;
  /** JSON Schema of its value; the items of an array have commas between. */
  readonly schema: JsonObject;
}

type Row = Pick<Parameter, 'label' | 'means' | 'accepts' | 'schema'> & {
  readonly example: unknown;
};

/** All parameters by key: a name, or `name@place` where one differs at a place. */
export const PARAMETERS: ReadonlyMap<string, Parameter> = new Map(
  Object.entries(JSON.parse(readAsset('parameters.json')) as Record<string, Row>).map(
    ([key, { example: value, ...row }]) => {
      const [name = ''] = key.split('@', 1);
      return [key, { ...row, name, key: key.replace('@', '-'), value, example: String(value) }];
    },
  ),
);

export function parameters(...keys: readonly string[]): readonly Parameter[] {
  return keys.map((key) => PARAMETERS.get(key)!);
}

/** Makes the reader of a count; above the parameter's `maximum` it counts as that. */
export function countOf(key: string): (reader: ParameterReader) => number {
  const { name, schema } = PARAMETERS.get(key)!;
  const { default: usual, maximum } = schema as { readonly default: number; maximum: number };
  const parse = wholeFrom(1);
  return (reader) => Math.min(reader.read(name, parse) ?? usual, maximum);
}

/** Returns the reason as text for what cannot be used. */
type Parse<Value> = (text: string) => Value | string;

/** Reads the parameters of a request one by one, and gathers what is wrong with them. */
export class ParameterReader {
  readonly pairs: readonly Pair[];
  readonly problems: [name: string, texts: string[]][] = [];
  readonly #parameters: readonly Parameter[];

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
    this.problems.push([name, [text]]);
  }
}

/** Throws a 400 HttpError with all that is wrong. */
export function readParameters<Wanted>(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  read: (reader: ParameterReader) => Wanted,
): Wanted {
  const reader = new ParameterReader(pairs, parameters);
  const wanted = read(reader);
  if (reader.problems.length > 0) throw new HttpError(400, Object.fromEntries(reader.problems));
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

const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const WHOLE = /^\+?\d+$/;

/** Of these characters `Number` takes what {@link DECIMAL} does, and faster; empty parts apart. */
const PLAIN = /^[\d.,-]+$/;

const COUNTS = ['no', 'one', 'two', 'three', 'four'];

/**
 * Reads a finite decimal number for each of `names`, four at most, with commas between them; white
 * space around them is allowed. Returns the reason as text. Hexadecimal numbers and infinities,
 * which `Number` takes, are refused.
 */
export function parseDecimals(text: string, names: readonly string[]): number[] | string {
  const { length } = names;
  const parts = text.split(',', length + 1);
  if (parts.length !== length) {
    return `needs ${COUNTS[length]} numbers, has ${parts.length > length ? 'more' : parts.length}`;
  }
  const isPlain = PLAIN.test(text);
  // adding zero turns -0 into 0
  const numbers = parts.map((part) =>
    part !== '' && (isPlain || DECIMAL.test(part)) ? Number(part) + 0 : Number.NaN,
  );
  const wrong = numbers.findIndex((number) => !Number.isFinite(number));
  return wrong < 0 ? numbers : `${names[wrong]} is no finite decimal number`;
}

/** A whole number, white space around it allowed; infinite where it is too long. */
export function parseWhole(text: string): number | undefined {
  const trimmed = text.trim();
  return WHOLE.test(trimmed) ? Number(trimmed) : undefined;
}

/** The keys that records shall have, in the order of records; undefined for all. */
export function readKeys(reader: ParameterReader): readonly RecordKey[] | undefined {
  return reader.read('fields', parseKeys);
}

function parseKeys(text: string): readonly RecordKey[] | string {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(RECORD_KEYS as readonly string[]).includes(name));
  if (unknown === undefined) return RECORD_KEYS.filter((key) => names.includes(key));
  return unknown === '' ? 'a key is missing' : `records have no ${quote(unknown)}`;
}
