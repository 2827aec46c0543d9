import type { TailMatches } from '../../dataset/tail.js';
import type { Filters } from '../../model/query.js';
import type { Queue } from '../../query/queue.js';
import { Suspended } from '../../query/suspended.js';
import { matchTail } from '../../query/tail.js';
import { Later } from '../answer/pieces.js';
import type { Found, Served } from '../answer/pipeline.js';
import type { Page, Pieces } from '../formats/format.js';
import { tooManyQueries } from '../request/errors.js';

/**
 * The page of a query's result: at once where there is one, else when its turn in the queue has
 * come. All views of a thread share a queue, since an engine works on one suspended query at a
 * time. Throws a 503 HttpError when too many wait already.
 */
export function soonOrLater<Result>(
  begun: Result | Suspended<Result>,
  queue: Queue,
  pageOf: (result: Result) => Page,
): Page | Later<Page> {
  if (!(begun instanceof Suspended)) return pageOf(begun);
  return new Later((waiter) => {
    const done = (result: Result): void => waiter.done(pageOf(result));
    if (queue.add({ ...waiter, query: begun, done })) return;
    begun.drop();
    throw tooManyQueries();
  });
}

/**
 * Hands the accepted points beside the generation that satisfy the filters to `find`, in pieces
 * where it takes long to look at them; undefined where none do.
 */
export function findBeside(
  { generation: { tail }, state: { length } }: Served,
  filters: Filters | undefined,
  find: (accepted: TailMatches | undefined) => Found,
): Found | Pieces<Found> {
  if (length === 0 || filters === undefined) return find(undefined);
  const rows = matchTail(tail!, filters, 0, length);
  return rows instanceof Int32Array ? found(rows) : goOn(rows);

  function found(all: Int32Array): Found {
    return find(all.length === 0 ? undefined : { tail: tail!, rows: all });
  }

  function* goOn(looking: Pieces<Int32Array>): Pieces<Found> {
    return found(yield* looking);
  }
}
