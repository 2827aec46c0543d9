import { createPageCopier, type PageCopier } from '../../index/record-page.js';
import { formatUtc } from '../../model/timestamp.js';
import type { Degrees } from '../../model/units.js';
import { takeKeyset } from '../../query/keyset.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type Served, type View } from '../answer/question.js';
import { GEOJSON, ITEMS_FORMATS } from '../formats/features.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import { PointRecords } from '../formats/page-records.js';
import { type Link, type Page, selfLink } from '../formats/representation.js';
import {
  ALLOW_READ,
  COLLECTION_PATH,
  COLLECTIONS_PATH,
  CONFORMANCE_PATH,
  ITEM_PATH,
  ITEMS_PATH,
  OGC_API_PATH,
  OGC_PATH,
  VIEWER_PATH,
} from '../request/addresses.js';
import {
  AFTER,
  ITEM_PARAMETERS,
  ITEMS_PARAMETERS,
  type ItemsQuery,
  LEADING_PARAMETERS,
  OGC_PARAMETERS,
  parseItemQuery,
  parseItemsQuery,
  parseKept,
  refuseOthers,
} from '../request/item-parameters.js';
import type { Parameter } from '../request/parameter.js';
import type { Pair } from '../request/query-string.js';
import { type Description, described, POINT_ID } from './describe.js';
import { pointView, type WantedPoint } from './rest-views.js';

const JSON_TYPE = JSON_FORMAT.mediaType;
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian';
const STANDARD = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf';

/** `GET /ogc/`: where everything is. */
export function landingView(context: ViewContext): View<readonly Pair[]> {
  return leadingView(context, {
    name: 'ogc',
    make: ({ origin, kept }) => ({
      title: 'Waypost',
      description: 'Geolocated notes, by OGC API - Features.',
      links: [
        { rel: 'self', type: JSON_TYPE, href: selfLink(origin + OGC_PATH, kept) },
        ...[OPENAPI, OPENAPI_30, JSON_FORMAT].map(({ parameter, contentType }) => ({
          rel: 'service-desc',
          type: contentType,
          href: `${origin}${OGC_API_PATH}?format=${parameter}`,
        })),
        { rel: 'service-doc', type: 'text/html', href: origin + VIEWER_PATH },
        { rel: 'conformance', type: JSON_TYPE, href: origin + CONFORMANCE_PATH },
        { rel: 'data', type: JSON_TYPE, href: selfLink(origin + COLLECTIONS_PATH, kept) },
      ],
    }),
  });
}

/** `GET /ogc/conformance`: the parts of the standard that are kept to. */
export function conformanceView(): View<readonly Pair[]> {
  return documentView({
    name: 'ogcConformance',
    make: () => ({
      conformsTo: ['core', 'geojson', 'oas30'].map((one) => `${STANDARD}/${one}`),
    }),
  });
}

/** `GET /ogc/collections`: the one collection there is. */
export function collectionsView(context: ViewContext): View<readonly Pair[]> {
  return leadingView(context, {
    name: 'ogcCollections',
    make: (place) => ({
      links: [
        {
          rel: 'self',
          type: JSON_TYPE,
          href: selfLink(place.origin + COLLECTIONS_PATH, place.kept),
        },
      ],
      collections: [collectionOf(place)],
    }),
  });
}

/** `GET /ogc/collections/points`: what the collection holds. */
export function collectionView(context: ViewContext): View<readonly Pair[]> {
  return leadingView(context, {
    name: 'ogcCollection',
    make: collectionOf,
  });
}

interface Place {
  readonly origin: string;
  readonly served: Served;
  readonly kept: readonly Pair[];
}

interface Document {
  readonly name: string;
  readonly make: (place: Place) => object;
}

function documentView(document: Document): View<readonly Pair[]> {
  return viewOf(document, ({ pairs }) => {
    refuseOthers(pairs);
    return [];
  });
}

/** A view of a document whose links to the items keep the filters that it is asked with. */
function leadingView({ zone }: ViewContext, document: Document): View<readonly Pair[]> {
  return viewOf(document, ({ pairs }) => parseKept(pairs, zone));
}

function viewOf(
  { name, make }: Document,
  read: View<readonly Pair[]>['read'],
): View<readonly Pair[]> {
  return {
    name,
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT],
    read,
    find(kept, { origin }, served) {
      return Buffer.from(JSON.stringify(make({ origin, served, kept })));
    },
  };
}

function collectionOf({ origin, served, kept }: Place): object {
  const href = selfLink(origin + COLLECTION_PATH, kept);
  const { bbox, interval } = extentOf(served);
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
      { rel: 'items', type: GEOJSON.mediaType, href: selfLink(origin + ITEMS_PATH, kept) },
    ],
  };
}

interface Extent {
  readonly bbox: readonly Degrees[];
  readonly interval: readonly (string | null)[];
}

/** Where all points lie, and when they were created; the whole world and any time where none is. */
function extentOf({ generation: { engine, delta }, state: { length } }: Served): Extent {
  const { boxIndex, byCreatedAt, count } = engine.dataset;
  const { minX, minY, maxX, maxY } = boxIndex.root;
  let [west, south, east, north] = [minX, minY, maxX, maxY];
  let [first, last] = [byCreatedAt.keys[0] ?? Infinity, byCreatedAt.keys.at(-1) ?? -Infinity];
  for (let row = 0; row < length; row++) {
    const { coords, createdAt } = delta!;
    west = Math.min(west, coords[2 * row]!);
    south = Math.min(south, coords[2 * row + 1]!);
    east = Math.max(east, coords[2 * row]!);
    north = Math.max(north, coords[2 * row + 1]!);
    first = Math.min(first, createdAt[row]!);
    last = Math.max(last, createdAt[row]!);
  }
  if (count === 0 && length === 0) {
    return { bbox: [-180, -90, 180, 90], interval: [null, null] };
  }
  return { bbox: [west, south, east, north], interval: [formatUtc(first), formatUtc(last)] };
}

/** Makes a resource of an address, its view and its description. */
type Make<Resource> = <Wanted>(
  path: string,
  view: View<Wanted>,
  description: Description,
) => Resource;

export function ogcResources<Resource>(context: ViewContext, make: Make<Resource>): Resource[] {
  return [
    make(OGC_PATH, landingView(context), leading('OGC API - Features', 'Where everything is.')),
    make(
      CONFORMANCE_PATH,
      conformanceView(),
      ogcDocument('Conformance', 'The parts of the standard kept to.'),
    ),
    make(
      COLLECTIONS_PATH,
      collectionsView(context),
      leading('Collections', 'The one collection there is.'),
    ),
    make(
      COLLECTION_PATH,
      collectionView(context),
      leading('Collection', 'What the collection holds, where and when.'),
    ),
    make(
      ITEMS_PATH,
      itemsView(context, createPageCopier()),
      ogcDocument(
        'Items',
        'Points by ascending ids; the link to the next page begins behind the last one.',
        ITEMS_PARAMETERS,
      ),
    ),
    make(ITEM_PATH, itemView(), ogcDocument('Item', 'One point.', ITEM_PARAMETERS, [POINT_ID])),
  ];
}

function ogcDocument(
  name: string,
  description: string,
  parameters: readonly Parameter[] = OGC_PARAMETERS,
  pathParameters: readonly Parameter[] = [],
): Description {
  return described(name, description, parameters, pathParameters, []);
}

function leading(name: string, description: string): Description {
  const text = `${description} Links to the items keep the filters.`;
  return ogcDocument(name, text, LEADING_PARAMETERS);
}

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
