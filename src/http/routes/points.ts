import { frequentTexts } from '../../dataset/frequent.js';
import { createPageCopier } from '../../dataset/record-page.js';
import type { Answer } from '../../query/engine.js';
import type { Queue } from '../../query/queue.js';
import type { Context } from '../answer/context.js';
import type { View } from '../answer/pipeline.js';
import type { Format, Page } from '../formats/format.js';
import { pageLinks } from '../formats/links.js';
import { PointRecords } from '../formats/records.js';
import { ALLOW_POINTS, ALLOW_READ, POINTS_PATH } from '../request/addresses.js';
import { invalidPage } from '../request/errors.js';
import { type PointsQuery, parsePointsQuery } from '../request/params.js';
import { findBeside, soonOrLater } from './long-query.js';

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function pointsView(
  { zone, posting }: Context,
  formats: readonly Format[],
  queue: Queue,
): View<PointsQuery> {
  const copier = createPageCopier();
  return {
    name: 'points',
    allow: posting === undefined ? ALLOW_READ : ALLOW_POINTS,
    isPersonal: false,
    formats,
    read: ({ pairs }) => parsePointsQuery(pairs, zone),
    find(query, { origin, pairs }, served) {
      const { engine, tail: posted } = served.generation;
      return findBeside(served, query.filters, (accepted) =>
        soonOrLater(engine.begin(query, undefined, accepted), queue, pageOf),
      );

      function pageOf(answer: Answer): Page {
        if (answer === undefined) throw invalidPage();
        const { count, page, pageCount, effort } = answer;
        const base = origin + POINTS_PATH;
        const links = pageLinks(base, pairs, page, pageCount);
        return {
          title: 'Map data points',
          list: { count, links, page, pageCount, base, pairs },
          records: new PointRecords(engine.dataset, answer, copier),
          keys: query.keys,
          offered: () => ({ ...frequentTexts(engine.dataset.attributes, posted) }),
          work: effort,
        };
      }
    },
  };
}
