import { deltaRowOf } from '../../index/delta.js';
import { type Row, rankOf } from '../../index/order.js';
import { frequentTexts } from '../../index/postings.js';
import { PageRoom } from '../../index/record-page.js';
import type { RecordKey } from '../../model/point.js';
import { readAsset } from '../../model/quote.js';
import { locate } from '../../query/engine.js';
import { unseenOf } from '../../reload/current.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, optionsOf, type ReadAddress, type Served } from '../answer/question.js';
import { GEOJSON } from '../formats/features.js';
import { JSON_FORMAT } from '../formats/json-format.js';
import {
  exportLink,
  type Format,
  jsonRecords,
  pagedList,
  pointRecords,
} from '../formats/representation.js';
import {
  NOTIFICATION_COLUMNS,
  notificationLinks,
  POINT_COLUMNS,
  pointLinks,
} from '../pages/columns.js';
import { PAGE_OFFER, pageFormat } from '../pages/page-format.js';
import { type Crumb, HOME, PLAIN_SUBJECT, type Subject } from '../pages/site.js';
import {
  ALLOW_POINTS,
  ALLOW_READ,
  NOTIFICATIONS_PATH,
  POINT_PATH,
  POINTS_PATH,
  ROOT_PATH,
} from '../request/addresses.js';
import { invalidPage, NotFound } from '../request/http-error.js';
import {
  PAGE_PARAMETERS,
  type PageRequest,
  POINT_PARAMETERS,
  POINTS_PARAMETERS,
  type PointsQuery,
  parsePageQuery,
  parsePointsQuery,
} from '../request/list-parameters.js';
import { parameters, readKeys, readParameters } from '../request/parameter.js';

/** For programs, in the service's own order of preference. */
const POINT_FORMATS: readonly Format[] = [JSON_FORMAT, GEOJSON];

/** Adds the page for people behind the first format of an address. */
function withPage<Wanted>(
  { site }: ViewContext,
  page: Partial<Subject>,
  address: ReadAddress<Wanted>,
): ReadAddress<Wanted> {
  const { description, formats } = address;
  const options = optionsOf({
    ...address,
    formats: [formats[0]!, PAGE_OFFER, ...formats.slice(1)],
  });
  const subject = { ...PLAIN_SUBJECT, description, options, ...page };
  const all = formats.toSpliced(1, 0, pageFormat(site, subject, formats));
  return { ...address, subject, formats: all };
}

function pointSubject({ site }: ViewContext): Partial<Subject> {
  // names of images that are not served lead nowhere
  const columns = POINT_COLUMNS.filter(({ keys }) => site.hasImages || keys[0] !== 'image');
  return { columns, links: pointLinks(site) };
}

const LIST: Crumb = { label: 'Map data points', path: POINTS_PATH };

/** Fields for OPTIONS, in the order of records; the service sets those that are `read_only`. */
const FIELDS: object = JSON.parse(readAsset('post-fields.json'));

/** `GET /rest/map_data_points/`: the points that satisfy the parameters, page by page. */
export function pointsView(context: ViewContext): ReadAddress<PointsQuery> {
  const { zone, site } = context;
  const isPosting = site.posting !== 'nobody';
  const room = new PageRoom();
  const parameters = POINTS_PARAMETERS;
  const own = { name: LIST.label, crumbs: [HOME], parameters, isPoints: true };
  const page = { ...pointSubject(context), ...own };
  return withPage(context, page, {
    ...{ name: 'points', path: POINTS_PATH },
    ...{ parameters, formats: POINT_FORMATS },
    allow: isPosting ? ALLOW_POINTS : ALLOW_READ,
    title: 'Map Data Points List',
    description: 'Geolocated notes, filtered by place, time and what they say.',
    actions: isPosting ? { POST: FIELDS } : undefined,
    read: ({ pairs }) => parsePointsQuery(pairs, zone),
    stream: ({ page }, { origin, pairs }) =>
      page === 1 ? undefined : exportLink(origin, 'ndjson', pairs),
    find(query, { origin, pairs }, served, budget) {
      const { engine } = served.generation;
      const accepted = matchBeside(served, query.filters, budget);
      const answer = engine.run(query, undefined, accepted, budget);
      if (answer === undefined) throw invalidPage();
      const { count, page, pageCount, work } = answer;
      return {
        list: pagedList(origin + POINTS_PATH, pairs, count, page, pageCount),
        records: pointRecords(engine.dataset, answer, room),
        keys: query.keys,
        offered: () => frequentTexts(engine.dataset.attributes),
        work,
      };
    },
  });
}

export interface WantedPoint {
  readonly id: number;
  readonly keys: readonly RecordKey[] | undefined;
}

/** `GET /rest/map_data_points/<id>/`: one point. */
export function pointView(context: ViewContext): ReadAddress<WantedPoint> {
  const room = new PageRoom();
  const page = { ...pointSubject(context), name: 'Map data point', crumbs: [HOME, LIST] };
  return withPage(context, page, {
    ...{ name: 'point', path: POINT_PATH, allow: ALLOW_READ },
    ...{ title: 'Map Data Point Instance', description: 'One geolocated note.' },
    ...{ parameters: POINT_PARAMETERS, pathParameters: parameters('id'), formats: POINT_FORMATS },
    read({ path: { id }, pairs }) {
      if (!/^\d{1,16}$/.test(id!)) throw new NotFound();
      return { id: Number(id), keys: readParameters(pairs, POINT_PARAMETERS, readKeys) };
    },
    find({ id, keys }, _asked, served) {
      const { engine, delta } = served.generation;
      const found = { rows: [rowOf(id, served)], length: 1, delta };
      const records = pointRecords(engine.dataset, found, room);
      return { title: `Map data point ${id}`, list: undefined, records, keys };
    },
  });
}

/** The row that has an id; those from the dataset's count on are rows of the delta. */
function rowOf(id: number, { generation, state }: Served): Row {
  const { delta } = generation;
  const { byId, count } = generation.engine.dataset;
  const rank = rankOf(byId, id);
  if (rank >= 0) return byId.rows[rank]!;
  const row = delta === undefined ? -1 : deltaRowOf(delta, id, state.length);
  if (row < 0) throw new NotFound();
  return count + row;
}

/** `GET /rest/notifications/`: what the user of the token has not seen yet. */
export function notificationsView(context: ViewContext): ReadAddress<PageRequest> {
  const parameters = PAGE_PARAMETERS;
  const shown = { columns: NOTIFICATION_COLUMNS, links: notificationLinks(context.site) };
  const page = { name: 'Notifications', crumbs: [HOME], parameters, ...shown };
  return withPage(context, page, {
    ...{ name: 'notifications', path: NOTIFICATIONS_PATH, allow: ALLOW_READ, isPersonal: true },
    title: 'Map Data Point Comment Notifications List',
    description: 'Comments that the user of the token has not seen yet.',
    ...{ parameters, formats: [JSON_FORMAT] },
    read: ({ pairs }) => parsePageQuery(pairs),
    find(wanted, { origin, pairs, user }, { generation: { parts } }) {
      // no user has a negative number
      const { count, slice } = unseenOf(parts.unseen, user ?? -1);
      const place = locate(wanted, count);
      if (place === undefined) throw invalidPage();
      const { page, pageCount, from, to } = place;
      return {
        list: pagedList(origin + NOTIFICATIONS_PATH, pairs, count, page, pageCount),
        records: jsonRecords(slice(from, to)),
        needsToken: user === undefined,
      };
    },
  });
}

/** `GET /rest/`: the resources by name and URL. */
export function rootView(context: ViewContext): ReadAddress<undefined> {
  // all values are addresses of this service
  const links = ['map_data_points', 'notifications'].map((key) => ({ key, href: String }));
  const page = { links };
  return withPage(context, page, {
    ...{ name: 'root', path: ROOT_PATH, allow: ALLOW_READ },
    ...{ title: 'Waypost', description: 'The resources of this service.' },
    ...{ parameters: parameters('format'), formats: [JSON_FORMAT] },
    read: () => undefined,
    find(_wanted, { origin }) {
      const resources = {
        map_data_points: origin + POINTS_PATH,
        notifications: origin + NOTIFICATIONS_PATH,
      };
      const records = jsonRecords([JSON.stringify(resources)]);
      return { list: undefined, records };
    },
  });
}
