import type { PageCopier } from '../../index/record-page.js';
import { takeKeyset } from '../../query/keyset.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type View } from '../answer/question.js';
import { GEOJSON, ITEMS_FORMATS } from '../formats/features.js';
import { JSON_FORMAT } from '../formats/json-format.js';
import { PointRecords } from '../formats/page-records.js';
import { type Link, type Page, selfLink } from '../formats/representation.js';
import { ALLOW_READ, COLLECTION_PATH, ITEMS_PATH } from '../request/addresses.js';
import {
  AFTER,
  type ItemsQuery,
  parseItemQuery,
  parseItemsQuery,
} from '../request/item-parameters.js';
import type { Pair } from '../request/query-string.js';
import { pointView, type WantedPoint } from './rest-views.js';

const point: View<WantedPoint> = pointView(ITEMS_FORMATS);

/** `GET /ogc/collections/points/items`: the points by ascending ids, page behind page. */
export function itemsView({ zone }: ViewContext, copier: PageCopier): View<ItemsQuery> {
  return {
    name: 'ogcItems',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: ITEMS_FORMATS,
    read: ({ pairs }) => parseItemsQuery(pairs, zone),
    find(query, { origin, pairs }, served, budget) {
      const { engine } = served.generation;
      const base = origin + ITEMS_PATH;
      const accepted = matchBeside(served, query.filters, budget);
      const { count, rows, delta, next } = takeKeyset(engine, query, accepted, budget);
      const links = {
        next: next === undefined ? null : selfLink(base, behind(pairs, next)),
        previous: null,
      };
      return {
        title: 'Items',
        // pages have no numbers here
        list: { count, links, base, pairs, page: 1, pageCount: 1 },
        records: new PointRecords(engine.dataset, { rows, length: rows.length, delta }, copier),
        keys: query.keys,
        related: [collectionLink(origin)],
      };
    },
  };
}

/** Each stands once: some clients add their own to every link, which would grow. */
function behind(pairs: readonly Pair[], id: number): Pair[] {
  const others = new Map(
    pairs.filter(({ name }) => name !== AFTER).map((one) => [`${one.name}=${one.value}`, one]),
  );
  return [...others.values(), { name: AFTER, value: String(id) }];
}

function collectionLink(origin: string): Link {
  return { rel: 'collection', type: JSON_FORMAT.mediaType, href: origin + COLLECTION_PATH };
}

/** `GET /ogc/collections/points/items/<id>`: one point. */
export function itemView(): View<WantedPoint> {
  return {
    ...point,
    name: 'ogcItem',
    read(asked) {
      return { ...point.read({ ...asked, pairs: [] }), keys: parseItemQuery(asked.pairs) };
    },
    find(wanted, asked, ...means) {
      const { origin, path } = asked;
      const page = point.find(wanted, asked, ...means) as Page;
      const type = GEOJSON.mediaType;
      const self = { rel: 'self', type, href: `${origin}${ITEMS_PATH}/${path['id']}` };
      return { ...page, related: [self, collectionLink(origin)] };
    },
  };
}
