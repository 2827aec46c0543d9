import { renderedLength } from '../../formats/record-layout.js';
import { boxAround } from '../../index/blocks.js';
import { PageRoom } from '../../index/record-page.js';
import { formatUtc } from '../../model/timestamp.js';
import type { Degrees } from '../../model/units.js';
import { takeKeyset } from '../../query/engine.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type ReadAddress, type Served } from '../answer/question.js';
import { GEOJSON, ITEMS_FORMATS } from '../formats/features.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import {
  type Link,
  type Page,
  type PageLinks,
  type PageRecords,
  pointRecords,
  selfLink,
} from '../formats/representation.js';
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
} from '../request/list-parameters.js';
import { type Parameter, parameters } from '../request/parameter.js';
import type { Pair } from '../request/query-string.js';
import { pointView, type WantedPoint } from './rest-views.js';

const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian';
const KEEPS = 'Links to the items keep the filters.';
const STANDARD = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf';

/** All addresses of OGC API - Features but {@link OGC_API_PATH}. */
export function ogcAddresses(context: ViewContext): readonly ReadAddress<unknown>[] {
  return [
    documentAddress(
      context,
      ['ogc', OGC_PATH, 'OGC API - Features', `Where everything is. ${KEEPS}`],
      ({ origin, kept }) => ({
        title: 'Waypost',
        description: 'Geolocated notes, by OGC API - Features.',
        links: [
          linkTo('self', selfLink(origin + OGC_PATH, kept)),
          ...[OPENAPI, OPENAPI_30, JSON_FORMAT].map(({ parameter, mediaType }) =>
            linkTo('service-desc', `${origin}${OGC_API_PATH}?format=${parameter}`, mediaType),
          ),
          linkTo('service-doc', origin + VIEWER_PATH, 'text/html'),
          linkTo('conformance', origin + CONFORMANCE_PATH),
          linkTo('data', selfLink(origin + COLLECTIONS_PATH, kept)),
        ],
      }),
    ),
    documentAddress(
      context,
      ['ogcConformance', CONFORMANCE_PATH, 'Conformance', 'The parts of the standard kept to.'],
      () => ({ conformsTo: ['core', 'geojson', 'oas30'].map((one) => `${STANDARD}/${one}`) }),
      OGC_PARAMETERS,
    ),
    documentAddress(
      context,
      ['ogcCollections', COLLECTIONS_PATH, 'Collections', `The one collection there is. ${KEEPS}`],
      (place) => ({
        links: [linkTo('self', selfLink(place.origin + COLLECTIONS_PATH, place.kept))],
        collections: [collectionOf(place)],
      }),
    ),
    documentAddress(
      context,
      [
        'ogcCollection',
        COLLECTION_PATH,
        'Collection',
        `What the collection holds, where and when. ${KEEPS}`,
      ],
      collectionOf,
    ),
    itemsAddress(context),
    itemAddress(context),
  ];
}

interface Place {
  readonly origin: string;
  readonly served: Served;
  /** The filters that the document was asked with, which its links to the items keep. */
  readonly kept: readonly Pair[];
}

const COMMON = { allow: ALLOW_READ, parses: [] };

function documentAddress(
  { zone }: ViewContext,
  [name, path, title, description]: readonly [string, string, string, string],
  make: (place: Place) => object,
  parameters: readonly Parameter[] = LEADING_PARAMETERS,
): ReadAddress<readonly Pair[]> {
  return {
    ...{ ...COMMON, name, path, title, description, formats: [JSON_FORMAT], parameters },
    read: ({ pairs }) => parseKept(pairs, parameters, zone),
    find: (kept, { origin }, served) => Buffer.from(JSON.stringify(make({ origin, served, kept }))),
  };
}

function linkTo(rel: string, href: string, type: string = JSON_FORMAT.mediaType): Link {
  return { rel, type, href };
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
      linkTo('self', href),
      linkTo('items', selfLink(origin + ITEMS_PATH, kept), GEOJSON.mediaType),
    ],
  };
}

/** Where all points lie, and when they were created; the whole world and any time where none is. */
function extentOf({ generation: { engine, delta }, state: { length } }: Served): {
  readonly bbox: readonly Degrees[];
  readonly interval: readonly (string | null)[];
} {
  const { boxIndex, byCreatedAt, count } = engine.dataset;
  if (count === 0 && length === 0) {
    return { bbox: [-180, -90, 180, 90], interval: [null, null] };
  }
  const { minX, minY, maxX, maxY } = boxIndex.root;
  const { keys } = byCreatedAt;
  const ends = count === 0 ? [] : [keys[0]!, keys.at(-1)!];
  const added = delta === undefined ? [] : boxAround(delta.coords, 2, 0, length);
  const boxes = Float64Array.of(minX, minY, maxX, maxY, ...added);
  const times = [...ends, ...(delta?.createdAt.subarray(0, length) ?? [])];
  const interval = [formatUtc(Math.min(...times)), formatUtc(Math.max(...times))];
  return { bbox: boxAround(boxes, 4, 0, boxes.length / 4), interval };
}

function itemsAddress({ zone, maxPageBytes }: ViewContext): ReadAddress<ItemsQuery> {
  const room = new PageRoom();
  return {
    ...{ ...COMMON, name: 'ogcItems', path: ITEMS_PATH, formats: ITEMS_FORMATS, title: 'Items' },
    description: 'Points by ascending ids; the link to the next page begins behind the last one.',
    parameters: ITEMS_PARAMETERS,
    read: ({ pairs }) => parseItemsQuery(pairs, zone),
    find(query, { origin, pairs }, served, budget) {
      const { engine } = served.generation;
      const base = origin + ITEMS_PATH;
      const accepted = matchBeside(served, query.filters, budget);
      const take = (limit: number) => {
        const page = takeKeyset(engine, { ...query, limit }, accepted, budget);
        const { rows, delta } = page;
        const records = pointRecords(engine.dataset, { rows, length: rows.length, delta }, room);
        return { ...page, records };
      };
      let page = take(query.limit);
      // a page begins behind an id: a shorter one neither skips nor repeats
      if (page.records.size > maxPageBytes) {
        page = take(Math.max(1, leading(maxPageBytes, page.records)));
      }
      const { count, records, next } = page;
      const links = (): PageLinks => ({
        next: next === undefined ? null : selfLink(base, behind(pairs, next)),
        previous: null,
      });
      return {
        list: { count, links, base, pairs, page: 1, pageCount: 1 },
        records,
        keys: query.keys,
        related: [linkTo('collection', origin + COLLECTION_PATH)],
      };
    },
  };
}

/** How many records, from the first on, have at most so many bytes as JSON with commas between. */
function leading(limit: number, records: PageRecords): number {
  let fitting = 0;
  for (let left = limit + 1; fitting < records.count; fitting++) {
    left -= renderedLength(records.stored(fitting)) + 1;
    if (left < 0) break;
  }
  return fitting;
}

/** Each parameter once, at its last place: some clients add their own to every link. */
function behind(pairs: readonly Pair[], id: number): Pair[] {
  const others = new Map<string, Pair>();
  for (const one of pairs) {
    const said = `${one.name}=${one.value}`;
    others.delete(said);
    if (one.name !== AFTER) others.set(said, one);
  }
  return [...others.values(), { name: AFTER, value: String(id) }];
}

function itemAddress(context: ViewContext): ReadAddress<WantedPoint> {
  const point = pointView(context);
  return {
    ...{ ...COMMON, name: 'ogcItem', path: ITEM_PATH, formats: ITEMS_FORMATS, title: 'Item' },
    ...{ description: 'One point.', parameters: ITEM_PARAMETERS, pathParameters: parameters('id') },
    read(asked) {
      return { ...point.read({ ...asked, pairs: [] }), keys: parseItemQuery(asked.pairs) };
    },
    find(wanted, asked, ...means) {
      const { origin, path } = asked;
      const page = point.find(wanted, asked, ...means) as Page;
      const self = linkTo('self', `${origin}${ITEMS_PATH}/${path['id']}`, GEOJSON.mediaType);
      return { ...page, related: [self, linkTo('collection', origin + COLLECTION_PATH)] };
    },
  };
}
