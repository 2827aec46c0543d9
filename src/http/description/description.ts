import type { Parameter, Schema } from '../request/parameter.js';
import type { Field } from './fields.js';

/** What an address is: OPTIONS, the OpenAPI document and the viewer are made from it. */
export interface Description {
  readonly name: string;
  readonly description: string;
  readonly parses: readonly string[];
  readonly actions?: { readonly POST: Readonly<Record<string, Field>> };
  /** The query string, parameter by parameter. */
  readonly parameters: readonly Parameter[];
  /** The variable parts of the path, by the names that its route gives them. */
  readonly pathParameters: readonly Parameter[];
  /** What answers are, by media type. A page for people needs no entry. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** Successful answers without a body, such as 204, and what each means. */
  readonly empty?: Readonly<Record<number, string>>;
}

/** What an answer of one media type is. */
export interface Answer {
  /** An empty one stands for bytes. */
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A schema of {@link SCHEMAS} by its name. */
export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** What the addresses in examples begin with. */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:8080';

/** What a page for people is. */
export const PAGE: Answer = { schema: { type: 'string' }, example: '<!doctype html>…' };
