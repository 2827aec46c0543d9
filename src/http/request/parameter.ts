import { quote } from '../../model/quote.js';
import type { ParameterProblem } from './errors.js';

/** A JSON Schema, as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>;

/** A parameter as the documentation, the browsable page and the error texts name it. */
export interface Parameter {
  readonly name: string;
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
