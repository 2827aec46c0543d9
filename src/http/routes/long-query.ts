import type { Queue } from '../../query/queue.js';
import { Suspended } from '../../query/suspended.js';
import { Later } from '../answer/pieces.js';
import type { Page } from '../formats/format.js';
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
