import type { Answer, Description } from '../description/description.js';
import { optionFields } from '../description/fields.js';
import { FEATURE_ANSWER, FEATURES_ANSWER } from '../description/geojson.js';
import {
  NOTIFICATIONS_ANSWER,
  POINT_ANSWER,
  POINTS_ANSWER,
  ROOT_ANSWER,
  TILE_SET_ANSWER,
} from '../description/schemas.js';
import { GEOJSON } from '../formats/geojson.js';
import { MVT } from '../formats/mvt.js';
import { OPENAPI } from '../formats/openapi.js';
import type { Parameter } from '../request/parameter.js';
import { FORMAT, PAGE_PARAMETERS, POINT_PARAMETERS, POINTS_PARAMETERS } from '../request/params.js';
import { TILE_PARAMETERS, TILE_PATH_PARAMETERS } from '../request/tile.js';

const PARSES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** The variable part of the address of a point. */
export const POINT_ID: Parameter = {
  name: 'id',
  accepts: 'the id of a point',
  example: '1',
  schema: { type: 'integer', minimum: 1 },
};

export const ROOT_DESCRIPTION: Description = {
  name: 'Waypost',
  description: 'The resources of this service.',
  parses: PARSES,
  parameters: [FORMAT],
  pathParameters: [],
  answers: { 'application/json': ROOT_ANSWER },
};

export const POINT_DESCRIPTION: Description = {
  name: 'Map Data Point Instance',
  description: 'One geolocated note.',
  parses: PARSES,
  parameters: POINT_PARAMETERS,
  pathParameters: [POINT_ID],
  answers: { 'application/json': POINT_ANSWER, [GEOJSON.mediaType]: FEATURE_ANSWER },
};

export const NOTIFICATIONS_DESCRIPTION: Description = {
  name: 'Map Data Point Comment Notifications List',
  description: 'Comments that the user of the token has not seen yet.',
  parses: PARSES,
  parameters: PAGE_PARAMETERS,
  pathParameters: [],
  answers: { 'application/json': NOTIFICATIONS_ANSWER },
};

/** Of an instance that takes no posts. */
export const READ_POINTS_DESCRIPTION: Description = {
  name: 'Map Data Points List',
  description: 'Geolocated notes, filtered by place, time and what they say.',
  parses: PARSES,
  parameters: POINTS_PARAMETERS,
  pathParameters: [],
  answers: { 'application/json': POINTS_ANSWER, [GEOJSON.mediaType]: FEATURES_ANSWER },
};

export const POINTS_DESCRIPTION: Description = {
  ...READ_POINTS_DESCRIPTION,
  actions: { POST: optionFields() },
};

export const TILE_DESCRIPTION: Description = {
  name: 'Vector Tile',
  description: 'A Mapbox Vector Tile 2.1: clusters, and the points that are alone in their cell.',
  parses: PARSES,
  parameters: TILE_PARAMETERS,
  pathParameters: TILE_PATH_PARAMETERS,
  answers: { [MVT.mediaType]: { schema: {} } },
  empty: { 204: 'The tile is empty.' },
};

export const TILES_DESCRIPTION: Description = {
  name: 'Tile Set',
  description: 'TileJSON 3.0.0: where the tiles are, and what is in them.',
  parses: PARSES,
  parameters: TILE_PARAMETERS,
  pathParameters: [],
  answers: { 'application/json': TILE_SET_ANSWER },
};

const OPENAPI_ANSWER: Answer = { schema: { type: 'object' }, example: { openapi: '3.1.1' } };

export const OPENAPI_DESCRIPTION: Description = {
  name: 'OpenAPI document',
  description: 'This interface described for programs, as OpenAPI 3.1.',
  parses: PARSES,
  parameters: [],
  pathParameters: [],
  answers: { 'application/json': OPENAPI_ANSWER, [OPENAPI.mediaType]: OPENAPI_ANSWER },
};
