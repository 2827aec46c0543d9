import type { Dataset } from '../../dataset/dataset.js';
import { fetchMixedPage, fetchPage, type PageCopier } from '../../dataset/record-page.js';
import type { TailMatches } from '../../dataset/tail.js';
import { formatUtc } from '../../model/timestamp.js';
import type { Degrees } from '../../model/units.js';
import { beginKeyset, type KeysetPage } from '../../query/keyset.js';
import type { Queue } from '../../query/queue.js';
import { matchTail } from '../../query/tail.js';
import { everyRow } from '../answer/additions.js';
import type { Context } from '../answer/context.js';
import type { View } from '../answer/pipeline.js';
import type { Link, Page } from '../formats/format.js';
import { GEOJSON } from '../formats/geojson.js';
import { ITEMS_FORMATS } from '../formats/items.js';
import { JSON_FORMAT } from '../formats/json.js';
import { selfLink } from '../formats/links.js';
import { PointRecords, SingleRecords } from '../formats/records.js';
import {
  ALLOW_READ,
  COLLECTION_PATH,
  COLLECTIONS_PATH,
  CONFORMANCE_PATH,
  ITEMS_PATH,
  OGC_PATH,
  OPENAPI_PATH,
  VIEWER_PATH,
} from '../request/addresses.js';
import {
  AFTER,
  type ItemsQuery,
  OGC_PARAMETERS,
  parseItemQuery,
  parseItemsQuery,
  refuseOthers,
} from '../request/items.js';
import type { Pair } from '../request/query-string.js';
import { soonOrLater } from './long-query.js';
import { pointView, type WantedPoint } from './point.js';

const point: View<WantedPoint> = pointView(ITEMS_FORMATS);

const JSON_TYPE = JSON_FORMAT.mediaType;
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian';
const STANDARD = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf';

/** `GET /ogc/`: where everything is. */
export function landingView(): View<undefined> {
  return documentView({
    name: 'ogc',
    make: ({ origin }) => ({
      title: 'Waypost',
      description: 'Geolocated notes, by OGC API - Features.',
      links: [
        { rel: 'self', type: JSON_TYPE, href: origin + OGC_PATH },
        { rel: 'service-desc', type: OPENAPI_TYPE, href: origin + OPENAPI_PATH },
        { rel: 'service-doc', type: 'text/html', href: origin + VIEWER_PATH },
        { rel: 'conformance', type: JSON_TYPE, href: origin + CONFORMANCE_PATH },
        { rel: 'data', type: JSON_TYPE, href: origin + COLLECTIONS_PATH },
      ],
    }),
  });
}

const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1';

/** `GET /ogc/conformance`: the parts of the standard that are kept to. */
export function conformanceView(): View<undefined> {
  return documentView({
    name: 'ogcConformance',
    make: () => ({
      conformsTo: [`${STANDARD}/core`, `${STANDARD}/geojson`],
    }),
  });
}

/** `GET /ogc/collections`: the one collection there is. */
export function collectionsView(): View<undefined> {
  const view = documentView({
    name: 'ogcCollections',
    make: (place) => ({
      links: [{ rel: 'self', type: JSON_TYPE, href: place.origin + COLLECTIONS_PATH }],
      collections: [collectionOf(place)],
    }),
  });
  // every point may change the extent
  return { ...view, accepted: (_wanted, _tail, from, to) => everyRow(from, to) };
}

/** `GET /ogc/collections/points`: what the collection holds. */
export function collectionView(): View<undefined> {
  const view = documentView({
    name: 'ogcCollection',
    make: collectionOf,
  });
  // every point may change the extent
  return { ...view, accepted: (_wanted, _tail, from, to) => everyRow(from, to) };
}

/** What documents are made of. */
interface Place {
  readonly origin: string;
  readonly dataset: Dataset;
  readonly accepted: TailMatches | undefined;
}

/** A document at an address of its own. */
interface Document {
  readonly name: string;
  readonly make: (place: Place) => object;
}

/** A view of a document that knows no parameters. */
function documentView({ name, make }: Document): View<undefined> {
  return {
    name,
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT],
    read({ pairs }) {
      refuseOthers(pairs, OGC_PARAMETERS);
    },
    find(_wanted, { origin }, { engine: { dataset } }, accepted) {
      const text = JSON.stringify(make({ origin, dataset, accepted }));
      return { title: name, list: undefined, records: new SingleRecords([Buffer.from(text)]) };
    },
  };
}

function collectionOf({ origin, dataset, accepted }: Place): object {
  const href = origin + COLLECTION_PATH;
  const { bbox, interval } = extentOf(dataset, accepted);
  return {
    id: 'points',
    title: 'Map data points',
    description: 'Geolocated notes.',
    itemType: 'feature',
    extent: {
      spatial: { bbox: [bbox], crs: CRS84 },
      temporal: { interval: [interval], trs: GREGORIAN },
    },
    crs: [CRS84],
    links: [
      { rel: 'self', type: JSON_TYPE, href },
      { rel: 'items', type: GEOJSON.mediaType, href: origin + ITEMS_PATH },
    ],
  };
}

interface Extent {
  readonly bbox: readonly Degrees[];
  readonly interval: readonly (string | null)[];
}

/** Where all points lie, and when they were created; the whole world and any time where none is. */
function extentOf({ boxIndex, byCreatedAt, count }: Dataset, accepted?: TailMatches): Extent {
  const { minX, minY, maxX, maxY } = boxIndex.root;
  let [west, south, east, north] = [minX, minY, maxX, maxY];
  let [first, last] = [byCreatedAt.keys[0] ?? Infinity, byCreatedAt.keys.at(-1) ?? -Infinity];
  for (const row of accepted?.rows ?? []) {
    const { coords, createdAt } = accepted!.tail;
    west = Math.min(west, coords[2 * row]!);
    south = Math.min(south, coords[2 * row + 1]!);
    east = Math.max(east, coords[2 * row]!);
    north = Math.max(north, coords[2 * row + 1]!);
    first = Math.min(first, createdAt[row]!);
    last = Math.max(last, createdAt[row]!);
  }
  if (count === 0 && accepted === undefined) {
    return { bbox: [-180, -90, 180, 90], interval: [null, null] };
  }
  return { bbox: [west, south, east, north], interval: [formatUtc(first), formatUtc(last)] };
}

/** `GET /ogc/collections/points/items`: the points by ascending ids, page behind page. */
export function itemsView({ zone }: Context, queue: Queue, copier: PageCopier): View<ItemsQuery> {
  return {
    name: 'ogcItems',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: ITEMS_FORMATS,
    read: ({ pairs }) => parseItemsQuery(pairs, zone),
    accepted: ({ filters }, tail, from, to) => matchTail(tail, filters, from, to),
    find(query, { origin, pairs }, { engine }, accepted) {
      const { records, count: total } = engine.dataset;
      const base = origin + ITEMS_PATH;
      return soonOrLater(beginKeyset(engine, query, accepted), queue, pageOf);

      function pageOf({ count, rows, tail, next }: KeysetPage): Page {
        const fetched =
          tail === undefined
            ? fetchPage(records, rows, rows.length)
            : fetchMixedPage(records, total, tail, rows, rows.length);
        const links = {
          next: next === undefined ? null : selfLink(base, behind(pairs, next)),
          previous: null,
        };
        return {
          title: 'Items',
          // pages have no numbers here
          list: { count, links, base, pairs, page: 1, pageCount: 1 },
          records: new PointRecords(fetched, copier),
          keys: query.keys,
          related: [collectionLink(origin)],
        };
      }
    },
  };
}

/** The parameters of the page behind an id. */
function behind(pairs: readonly Pair[], id: number): Pair[] {
  return [...pairs.filter(({ name }) => name !== AFTER), { name: AFTER, value: String(id) }];
}

function collectionLink(origin: string): Link {
  return { rel: 'collection', type: JSON_TYPE, href: origin + COLLECTION_PATH };
}

/** `GET /ogc/collections/points/items/<id>`: one point. */
export function itemView(): View<WantedPoint> {
  return {
    ...point,
    name: 'ogcItem',
    read(asked) {
      return { ...point.read({ ...asked, pairs: [] }), keys: parseItemQuery(asked.pairs) };
    },
    find(wanted, asked, generation, accepted) {
      const { origin, path } = asked;
      const page = point.find(wanted, asked, generation, accepted) as Page;
      const type = GEOJSON.mediaType;
      const self = { rel: 'self', type, href: `${origin}${ITEMS_PATH}/${path['id']}` };
      return { ...page, related: [self, collectionLink(origin)] };
    },
  };
}
