import { COLLECTIONS_PATH, ITEMS_PATH } from '../request/addresses.js';
import type { Schema } from '../request/parameter.js';
import { type Answer, EXAMPLE_ORIGIN, reference } from './description.js';
import { FEATURE_ANSWER, featureSchema } from './geojson.js';

const LINKS: Schema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['rel', 'href'],
    properties: {
      rel: { type: 'string' },
      type: { type: 'string' },
      href: { type: 'string', format: 'uri' },
    },
  },
};

const COLLECTION: Schema = object({
  id: { const: 'points' },
  title: { type: 'string' },
  description: { type: 'string' },
  itemType: { const: 'feature' },
  extent: object({
    spatial: object({
      bbox: {
        type: 'array',
        items: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
      },
      crs: { type: 'string', format: 'uri' },
    }),
    temporal: object({
      interval: {
        type: 'array',
        items: { type: 'array', items: { type: ['string', 'null'] }, minItems: 2, maxItems: 2 },
      },
      trs: { type: 'string', format: 'uri' },
    }),
  }),
  crs: { type: 'array', items: { type: 'string', format: 'uri' } },
  links: LINKS,
});

const COLLECTION_EXAMPLE = {
  id: 'points',
  title: 'Map data points',
  description: 'Geolocated notes.',
  itemType: 'feature',
  extent: {
    spatial: {
      bbox: [[24.6, 60.1, 25.3, 60.4]],
      crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    },
    temporal: {
      interval: [['2020-01-01T05:13:00.000000+00:00', '2023-12-31T21:40:00.000000+00:00']],
      trs: 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian',
    },
  },
  crs: ['http://www.opengis.net/def/crs/OGC/1.3/CRS84'],
  links: [link('items', 'application/geo+json', ITEMS_PATH)],
};

const FEATURE_EXAMPLE = FEATURE_ANSWER.example as { readonly id: number };
const ITEM_LINK = link('self', 'application/geo+json', `${ITEMS_PATH}/${FEATURE_EXAMPLE.id}`);

/** What the addresses of OGC API - Features are answered with. */
export const OGC_ANSWERS: Readonly<
  Record<'landing' | 'conformance' | 'collections' | 'collection' | 'items' | 'item', Answer>
> = {
  landing: {
    schema: object({ title: { type: 'string' }, description: { type: 'string' }, links: LINKS }),
    example: {
      title: 'Waypost',
      description: 'Geolocated notes, by OGC API - Features.',
      links: [link('data', 'application/json', COLLECTIONS_PATH)],
    },
  },
  conformance: {
    schema: object({ conformsTo: { type: 'array', items: { type: 'string', format: 'uri' } } }),
    example: { conformsTo: ['http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'] },
  },
  collections: {
    schema: object({ links: LINKS, collections: { type: 'array', items: COLLECTION } }),
    example: {
      links: [link('self', 'application/json', COLLECTIONS_PATH)],
      collections: [COLLECTION_EXAMPLE],
    },
  },
  collection: { schema: COLLECTION, example: COLLECTION_EXAMPLE },
  items: {
    schema: object({
      type: { const: 'FeatureCollection' },
      timeStamp: { type: 'string', format: 'date-time' },
      numberMatched: { type: 'integer', minimum: 0, description: 'Matches on all pages.' },
      numberReturned: { type: 'integer', minimum: 0, description: 'Features of this page.' },
      links: LINKS,
      features: { type: 'array', items: reference('MapDataPointFeature') },
    }),
    example: {
      type: 'FeatureCollection',
      timeStamp: '2024-01-01T00:00:00.000Z',
      numberMatched: 1,
      numberReturned: 1,
      links: [link('self', 'application/geo+json', ITEMS_PATH)],
      features: [FEATURE_ANSWER.example],
    },
  },
  item: { schema: withLinks(featureSchema()), example: { ...FEATURE_EXAMPLE, links: [ITEM_LINK] } },
};

function withLinks({ required, properties, ...others }: Schema): Schema {
  return {
    ...others,
    required: [...(required as string[]), 'links'],
    properties: { ...(properties as object), links: LINKS },
  };
}

/** An object that has all of these. */
function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function link(rel: string, type: string, path: string): object {
  return { rel, type, href: EXAMPLE_ORIGIN + path };
}
