import { createPageCopier, fetchMixedPage, fetchPage } from '../../dataset/record-page.js';
import type { Query } from '../../model/query.js';
import type { Answer } from '../../query/engine.js';
import { createQueue } from '../../query/queue.js';
import { Suspended } from '../../query/suspended.js';
import { matchTail } from '../../query/tail.js';
import type { Context } from '../answer/context.js';
import { Later } from '../answer/pieces.js';
import type { View } from '../answer/pipeline.js';
import type { Page } from '../formats/format.js';
import { pageLinks } from '../formats/links.js';
import { PointRecords } from '../formats/records.js';
import { FORMATS } from '../formats/table.js';
import { invalidPage, tooManyQueries } from '../request/errors.js';
import { parsePointsQuery } from '../request/params.js';
import { ALLOW_POINTS, ALLOW_READ, POINTS_PATH } from './addresses.js';

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function pointsView({ zone, posting }: Context): View<Query> {
  const copier = createPageCopier();
  const queue = createQueue();
  return {
    name: 'points',
    allow: posting === undefined ? ALLOW_READ : ALLOW_POINTS,
    isPersonal: false,
    formats: FORMATS,
    read: ({ pairs }) => parsePointsQuery(pairs, zone),
    accepted: ({ filters }, tail, from, to) => matchTail(tail, filters, from, to),
    find(query, { origin, pairs }, { engine }, accepted) {
      const { records, count: total } = engine.dataset;
      const begun = engine.begin(query, undefined, accepted);
      return begun instanceof Suspended ? later(begun) : pageOf(begun);

      function pageOf(answer: Answer): Page {
        if (answer === undefined) throw invalidPage();
        const { count, page, pageCount, rows, length, tail } = answer;
        const links = pageLinks(origin + POINTS_PATH, pairs, page, pageCount);
        const fetched =
          tail === undefined
            ? fetchPage(records, rows, length)
            : fetchMixedPage(records, total, tail, rows, length);
        return {
          title: 'Map data points',
          list: { count, links },
          records: new PointRecords(fetched, copier),
        };
      }

      function later(suspended: Suspended<Answer>): Later<Page> {
        return new Later((waiter) => {
          const done = (answer: Answer): void => waiter.done(pageOf(answer));
          if (queue.add({ ...waiter, query: suspended, done })) return;
          suspended.drop();
          throw tooManyQueries();
        });
      }
    },
  };
}
