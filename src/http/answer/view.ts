import type { Budget } from '../../budget.js';
import type { TailMatches } from '../../dataset/tail.js';
import type { Generation, State } from '../../live/generation.js';
import type { Filters } from '../../model/query.js';
import { matchTail } from '../../query/tail.js';
import type { Format, Page } from '../formats/format.js';
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
  /** Looks it up. Throws NotFound where there is nothing, and what the budget throws. */
  find(wanted: Wanted, asked: Asked, served: Served, budget: Budget): Page;
}

/** What a request is answered from, to its end. */
export interface Served {
  readonly generation: Generation;
  readonly state: State;
}

/** The accepted points beside the generation that satisfy the filters; undefined where none do. */
export function matchBeside(
  { generation: { tail }, state: { length } }: Served,
  filters: Filters,
  budget: Budget,
): TailMatches | undefined {
  if (length === 0) return undefined;
  const rows = matchTail(tail!, filters, 0, length, budget);
  return rows.length === 0 ? undefined : { tail: tail!, rows };
}
