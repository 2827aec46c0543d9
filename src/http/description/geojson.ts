import { POINTS_PATH } from '../request/addresses.js';
import type { Schema } from '../request/parameter.js';
import { type Answer, EXAMPLE_ORIGIN, reference } from './description.js';
import { recordExample, recordSchema } from './fields.js';

/** What is the Feature's own, and so no property of it. */
const OWN = ['id', 'lat', 'lon'];

/** A point as GeoJSON has it. */
export function featureSchema(): Schema {
  const { required, properties } = recordSchema() as {
    required: readonly string[];
    properties: Readonly<Record<string, Schema>>;
  };
  return {
    type: 'object',
    required: ['type', 'id', 'geometry', 'properties'],
    properties: {
      type: { const: 'Feature' },
      id: properties['id'],
      geometry: {
        type: 'object',
        required: ['type', 'coordinates'],
        properties: {
          type: { const: 'Point' },
          coordinates: {
            type: 'array',
            description: 'Longitude and latitude in degrees.',
            items: { type: 'number' },
            minItems: 2,
            maxItems: 2,
          },
        },
      },
      properties: {
        type: 'object',
        required: required.filter((name) => !OWN.includes(name)),
        properties: withoutOwn(properties),
      },
    },
  };
}

/** A page of points as GeoJSON has it. */
export function featureCollectionSchema(): Schema {
  return {
    type: 'object',
    required: ['type', 'numberMatched', 'numberReturned', 'links', 'features'],
    properties: {
      type: { const: 'FeatureCollection' },
      numberMatched: { type: 'integer', minimum: 0, description: 'Matches on all pages.' },
      numberReturned: { type: 'integer', minimum: 0, description: 'Features of this page.' },
      links: {
        type: 'array',
        items: {
          type: 'object',
          required: ['rel', 'type', 'href'],
          properties: {
            rel: { enum: ['self', 'next', 'prev'] },
            type: { type: 'string' },
            href: { type: 'string', format: 'uri' },
          },
        },
      },
      features: { type: 'array', items: reference('MapDataPointFeature') },
    },
  };
}

/** What a point is answered with as GeoJSON, and a page of them. */
export const FEATURE_ANSWER: Answer = {
  schema: reference('MapDataPointFeature'),
  example: featureExample(),
};
export const FEATURES_ANSWER: Answer = {
  schema: reference('MapDataPointFeatureCollection'),
  example: {
    type: 'FeatureCollection',
    numberMatched: 1,
    numberReturned: 1,
    links: [
      {
        rel: 'self',
        type: 'application/geo+json',
        href: `${EXAMPLE_ORIGIN}${POINTS_PATH}?format=geojson`,
      },
    ],
    features: [featureExample()],
  },
};

function featureExample(): object {
  const record = recordExample();
  const coordinates = [Number(record['lon']), Number(record['lat'])];
  return {
    type: 'Feature',
    id: record['id'],
    geometry: { type: 'Point', coordinates },
    properties: withoutOwn(record),
  };
}

function withoutOwn<Value>(all: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !OWN.includes(name)));
}
