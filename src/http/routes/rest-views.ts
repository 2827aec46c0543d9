import { deltaRecord, deltaRowOf } from '../../index/delta.js';
import { frequentTexts } from '../../index/frequent.js';
import { rankOf } from '../../index/order.js';
import { createPageCopier } from '../../index/record-page.js';
import { recordBytes } from '../../index/records.js';
import type { RecordKey } from '../../model/point.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type Served, type View } from '../answer/question.js';
import { PointRecords, SingleRecords } from '../formats/page-records.js';
import { type Format, pageLinks, selfLink } from '../formats/representation.js';
import {
  ALLOW_POINTS,
  ALLOW_READ,
  EXPORT_PATH,
  NOTIFICATIONS_PATH,
  POINTS_PATH,
} from '../request/addresses.js';
import { invalidPage, NotFound } from '../request/http-error.js';
import {
  EXPORTED,
  type PageRequest,
  type PointsQuery,
  parsePageQuery,
  parsePointQuery,
  parsePointsQuery,
} from '../request/list-parameters.js';

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
    stream({ page }, { origin, pairs }) {
      if (page === 1) return undefined;
      const path = EXPORT_PATH.replace(':format', 'ndjson');
      return selfLink(
        origin + path,
        pairs.filter(({ name }) => EXPORTED.has(name)),
      );
    },
    find(query, { origin, pairs }, served, budget) {
      const { engine } = served.generation;
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
        offered: () => ({ ...frequentTexts(engine.dataset.attributes) }),
        work: effort,
      };
    },
  };
}

export interface WantedPoint {
  readonly id: number;
  readonly keys: readonly RecordKey[] | undefined;
}

/** `GET /rest/map_data_points/<id>/`: one point. */
export function pointView(formats: readonly Format[]): View<WantedPoint> {
  return {
    name: 'point',
    allow: ALLOW_READ,
    isPersonal: false,
    formats,
    read({ path: { id }, pairs }) {
      if (!/^\d{1,16}$/.test(id!)) throw new NotFound();
      return { id: Number(id), keys: parsePointQuery(pairs) };
    },
    find({ id, keys }, _asked, served) {
      const records = new SingleRecords([recordOf(id, served)]);
      return { title: `Map data point ${id}`, list: undefined, records, keys };
    },
  };
}

function recordOf(id: number, { generation, state }: Served): Uint8Array {
  const { delta } = generation;
  const { byId, records } = generation.engine.dataset;
  const rank = rankOf(byId, id);
  if (rank >= 0) return recordBytes(records, byId.rows[rank]!);
  const row = delta === undefined ? -1 : deltaRowOf(delta, id, state.length);
  if (row < 0) throw new NotFound();
  return deltaRecord(delta!, row);
}

/** `GET /rest/notifications/`: what the user of the token has not seen yet. */
export function notificationsView(formats: readonly Format[]): View<PageRequest> {
  return {
    name: 'notifications',
    allow: ALLOW_READ,
    isPersonal: true,
    formats,
    read: ({ pairs }) => parsePageQuery(pairs),
    find({ page: wanted, pageSize }, { origin, pairs, user }, { generation: { unseen } }) {
      const all = (user === undefined ? undefined : unseen.get(user)) ?? [];
      const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
      const page = wanted === 'last' ? pageCount : wanted;
      if (page > pageCount) throw invalidPage();
      const from = (page - 1) * pageSize;
      const shown = all.slice(from, from + pageSize).map((json) => Buffer.from(json));
      const base = origin + NOTIFICATIONS_PATH;
      const links = pageLinks(base, pairs, page, pageCount);
      return {
        title: 'Notifications',
        list: { count: all.length, links, page, pageCount, base, pairs },
        records: new SingleRecords(shown),
        needsToken: user === undefined,
      };
    },
  };
}

/** `GET /rest/`: the resources by name and URL. */
export function rootView(formats: readonly Format[]): View<undefined> {
  return {
    name: 'root',
    allow: ALLOW_READ,
    isPersonal: false,
    formats,
    read: () => undefined,
    find(_wanted, { origin }) {
      const resources = {
        map_data_points: origin + POINTS_PATH,
        notifications: origin + NOTIFICATIONS_PATH,
      };
      const records = new SingleRecords([Buffer.from(JSON.stringify(resources))]);
      return { title: 'Waypost', list: undefined, records };
    },
  };
}
