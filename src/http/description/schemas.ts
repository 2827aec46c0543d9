import { POINTS_PATH, TILE_PATH, templateOf } from '../request/addresses.js';
import type { Schema } from '../request/parameter.js';
import { type Answer, EXAMPLE_ORIGIN, reference } from './description.js';
import { postSchema, recordExample, recordSchema } from './fields.js';
import { featureCollectionSchema, featureSchema } from './geojson.js';
import { READINESS } from './operations.js';

const LINK: Schema = { type: ['string', 'null'], format: 'uri' };

/** The schemas that answers and bodies refer to by name. */
export function createSchemas(): Readonly<Record<string, Schema>> {
  return {
    MapDataPoint: recordSchema(),
    NewMapDataPoint: postSchema(),
    MapDataPointList: listOf('MapDataPoint'),
    MapDataPointFeature: featureSchema(),
    MapDataPointFeatureCollection: featureCollectionSchema(),
    Notification: notificationSchema(),
    NotificationList: listOf('Notification'),
    Resources: {
      type: 'object',
      description: 'The resources by name, each with its address.',
      additionalProperties: { type: 'string', format: 'uri' },
    },
    Options: {
      type: 'object',
      description: 'An address as OPTIONS describes it.',
      required: ['name', 'description', 'renders', 'parses'],
      properties: {
        name: { type: 'string' },
        description: { type: 'string' },
        renders: { type: 'array', items: { type: 'string' } },
        parses: { type: 'array', items: { type: 'string' } },
        actions: {
          type: 'object',
          description: 'The fields of a body, by method.',
          additionalProperties: { type: 'object', additionalProperties: reference('Field') },
        },
      },
    },
    Field: {
      type: 'object',
      description: 'A field of a body.',
      required: ['type', 'required', 'read_only', 'label'],
      properties: {
        type: { type: 'string' },
        required: { type: 'boolean' },
        read_only: { type: 'boolean' },
        label: { type: 'string' },
        max_length: { type: 'integer' },
        child: reference('Field'),
      },
    },
    Readiness: READINESS,
    Detail: {
      type: 'object',
      description: 'An error of the request as a whole.',
      required: ['detail'],
      properties: { detail: { type: 'string', examples: ['Not found.'] } },
    },
    FieldErrors: {
      type: 'object',
      description: 'What is wrong, by the name of the parameter or field.',
      additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
    },
  };
}

/** What the list of points is answered with, and one point. */
export const POINTS_ANSWER: Answer = {
  schema: reference('MapDataPointList'),
  example: {
    count: 231,
    next: `${EXAMPLE_ORIGIN}${POINTS_PATH}?page=2`,
    previous: null,
    results: [recordExample()],
  },
};
export const POINT_ANSWER: Answer = {
  schema: reference('MapDataPoint'),
  example: recordExample(),
};
export const NOTIFICATIONS_ANSWER: Answer = {
  schema: reference('NotificationList'),
  example: { count: 0, next: null, previous: null, results: [] },
};
export const ROOT_ANSWER: Answer = {
  schema: reference('Resources'),
  example: { map_data_points: EXAMPLE_ORIGIN + POINTS_PATH },
};

/** What `/tiles/points.json` is answered with. */
const TILE_LAYER: Schema = {
  type: 'object',
  required: ['id', 'fields'],
  properties: {
    id: { type: 'string' },
    description: { type: 'string' },
    minzoom: { type: 'integer' },
    maxzoom: { type: 'integer' },
    fields: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

export const TILE_SET_ANSWER: Answer = {
  schema: {
    type: 'object',
    required: ['tilejson', 'tiles', 'vector_layers'],
    properties: {
      tilejson: { const: '3.0.0' },
      name: { type: 'string' },
      description: { type: 'string' },
      version: { type: 'string' },
      scheme: { const: 'xyz' },
      tiles: { type: 'array', items: { type: 'string' }, minItems: 1 },
      minzoom: { type: 'integer' },
      maxzoom: { type: 'integer' },
      bounds: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
      vector_layers: { type: 'array', items: TILE_LAYER },
    },
  },
  example: {
    tilejson: '3.0.0',
    tiles: [`${EXAMPLE_ORIGIN}${templateOf(TILE_PATH)}?v=72f5812cdf281718`],
    vector_layers: [{ id: 'clusters', fields: { point_count: 'Number' } }],
  },
};

function listOf(name: string): Schema {
  return {
    type: 'object',
    required: ['count', 'next', 'previous', 'results'],
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Matches on all pages.' },
      next: { ...LINK, description: 'The next page; null on the last one.' },
      previous: { ...LINK, description: 'The page before; null on the first one.' },
      results: { type: 'array', items: reference(name) },
    },
  };
}

function notificationSchema(): Schema {
  return {
    type: 'object',
    required: ['id', 'comment'],
    properties: {
      id: { type: 'integer', minimum: 1 },
      comment: {
        type: 'object',
        required: ['id', 'user', 'created_at', 'comment', 'map_data_point'],
        properties: {
          id: { type: 'integer', minimum: 1 },
          user: { type: 'integer', minimum: 1 },
          created_at: { type: 'string', format: 'date-time' },
          comment: { type: 'string' },
          map_data_point: { type: 'integer', minimum: 1 },
        },
      },
    },
  };
}
