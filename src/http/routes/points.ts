import { frequentTexts } from '../../dataset/frequent.js';
import { createPageCopier } from '../../dataset/record-page.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type View } from '../answer/view.js';
import type { Format } from '../formats/format.js';
import { pageLinks } from '../formats/links.js';
import { PointRecords } from '../formats/records.js';
import { ALLOW_POINTS, ALLOW_READ, POINTS_PATH } from '../request/addresses.js';
import { invalidPage } from '../request/errors.js';
import { type PointsQuery, parsePointsQuery } from '../request/params.js';

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function pointsView(
  { zone, posting }: ViewContext,
  formats: readonly Format[],
): View<PointsQuery> {
  const copier = createPageCopier();
  return {
    name: 'points',
    allow: posting === undefined ? ALLOW_READ : ALLOW_POINTS,
    isPersonal: false,
    formats,
    read: ({ pairs }) => parsePointsQuery(pairs, zone),
    find(query, { origin, pairs }, served, budget) {
      const { engine, tail: posted } = served.generation;
      const accepted = matchBeside(served, query.filters, budget);
      const answer = engine.run(query, undefined, accepted, budget);
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
    },
  };
}
