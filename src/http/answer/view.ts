import type { DeltaMatches } from '../../index/delta.js';
import type { Budget } from '../../model/budget.js';
import type { Filters } from '../../model/query.js';
import { matchDelta } from '../../query/delta-match.js';
import type { Generation, State } from '../../reload/generation.js';
import type { Format, Page } from '../formats/representation.js';
import type { Pair } from '../request/query-string.js';
import type { Facts } from './head.js';

/** A request as handlers see it. */
export interface Asked {
  /** What links in the answer begin with. */
  readonly origin: string;
  readonly pairs: readonly Pair[];
  /** What stands in the variable parts of the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Whom the token names, at an address whose answers are personal. */
  readonly user: number | undefined;
}

/** What an address answers to GET, step by step. */
export interface View<Wanted> extends Facts {
  readonly formats: readonly Format[];
  /** Reads what is wanted. Throws an HttpError for what cannot be used. */
  read(asked: Asked): Wanted;
  /**
   * Whether the address names this state of the data, so that it will never have another answer;
   * absent where no address does.
   */
  lasts?(wanted: Wanted, name: string): boolean;
  /** Loads what the view needs; undefined once it is there. Absent where nothing is to be loaded. */
  prepare?(): Promise<void> | undefined;
  /**
   * Looks it up: a page, or the bytes of a document, which no format encodes. Throws NotFound where
   * there is nothing, and what the budget throws.
   */
  find(
    wanted: Wanted,
    asked: Asked,
    served: Served,
    budget: Budget,
    format: Format,
  ): Page | Uint8Array;
}

/** What a request is answered from, to its end. */
export interface Served {
  readonly generation: Generation;
  readonly state: State;
}

/** The accepted points beside the generation that satisfy the filters; undefined where none do. */
export function matchBeside(
  { generation: { delta }, state: { length } }: Served,
  filters: Filters,
  budget: Budget,
): DeltaMatches | undefined {
  if (length === 0) return undefined;
  const rows = matchDelta(delta!, filters, 0, length, budget);
  return rows.length === 0 ? undefined : { delta: delta!, rows };
}
