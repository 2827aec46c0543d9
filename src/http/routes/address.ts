import type { View } from '../answer/question.js';
import type { Subject } from '../pages/site.js';
import type { Offer } from '../request/negotiation.js';
import type { Parameter } from '../request/parameter.js';

/** An address of the interface, as OPTIONS and the OpenAPI document tell of it. */
export interface Address {
  readonly name: string;
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** The variable parts of the path, by the names that its route gives them. */
  readonly pathParameters?: readonly Parameter[];
  /** What posts to the interface may be written in; all forms where absent. */
  readonly parses?: readonly string[];
  /** The fields of a post, where it takes some. */
  readonly actions?: object | undefined;
  /** What its pages are about. */
  readonly subject?: Subject;
}

/** An address whose GET the pipeline answers. */
export type ReadAddress<Wanted> = View<Wanted> & Address;

const PARSES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** What OPTIONS is answered with. */
export function optionsOf(address: Address): object {
  const { title: name, description, formats, parses = PARSES, actions } = address;
  const renders = formats.map(({ mediaType }) => mediaType);
  return { name, description, renders, parses, ...(actions !== undefined && { actions }) };
}
