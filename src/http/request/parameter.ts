import { quote } from '../../model/quote.js';
import type { ParameterProblem } from './errors.js';
import { parseWhole } from './numbers.js';
import { last, type Pair } from './query-string.js';

/** A JSON Schema, as OpenAPI 3.1 has it. */
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

/** What a client is told whose parameter cannot be used: the value, the reason, the rule. */
export function refusal(
  parameters: readonly Parameter[],
  name: string,
  value: string,
  reason: string,
): ParameterProblem {
  const { accepts, example } = parameters.find((parameter) => parameter.name === name)!;
  const text = `Got ${quote(value)}: ${reason}. Expected ${accepts}. Example: ${name}=${example}`;
  return { parameter: name, text };
}

/**
 * Reads a parameter, one of `parameters`, by a parser that returns the reason as text for what
 * cannot be used, which is added to `problems`. Undefined where it is absent, empty or refused.
 */
export function readParameter<Value extends number | object>(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  name: string,
  parse: (text: string) => Value | string,
  problems: ParameterProblem[],
): Value | undefined {
  const text = last(pairs, name);
  if (!text) return undefined;
  const value = parse(text);
  if (typeof value !== 'string') return value;
  problems.push(refusal(parameters, name, text, value));
  return undefined;
}

/** Makes the parser of a whole number from `least`, infinite where it is too long. */
export function wholeFrom(least: number): (text: string) => number | string {
  return (text) => {
    const value = parseWhole(text);
    return value !== undefined && value >= least ? value : `not a whole number from ${least}`;
  };
}
