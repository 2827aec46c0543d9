import { EXPORT_FORMATS } from '../../exports/encoder.js';
import { MAX_TAG_LENGTH } from '../../model/point.js';
import type { ViewContext } from '../answer/context.js';
import { GEOJSON } from '../formats/features.js';
import { JSON_FORMAT } from '../formats/json-format.js';
import type { Format } from '../formats/representation.js';
import {
  NOTIFICATION_COLUMNS,
  notificationLinks,
  POINT_COLUMNS,
  pointLinks,
} from '../pages/columns.js';
import { PAGE_OFFER, pageFormat } from '../pages/page-format.js';
import {
  type Crumb,
  type Example,
  HOME,
  plainSubject,
  type Site,
  type Subject,
} from '../pages/site.js';
import { POINTS_PATH, TILE_PATH, templateOf } from '../request/addresses.js';
import {
  CHANGES_PARAMETERS,
  EXPORT_PARAMETERS,
  FORMAT,
  PAGE_PARAMETERS,
  POINT_PARAMETERS,
  POINTS_PARAMETERS,
} from '../request/list-parameters.js';
import type { Parameter } from '../request/parameter.js';
import { TILE_PARAMETERS, TILE_PATH_PARAMETERS } from '../request/tile-parameters.js';

/** What an address is: OPTIONS, the OpenAPI document and the viewer are made from it. */
export interface Description {
  readonly name: string;
  readonly description: string;
  readonly parses: readonly string[];
  readonly actions?: { readonly POST: Readonly<Record<string, Field>> };
  readonly parameters: readonly Parameter[];
  /** The variable parts of the path, by the names that its route gives them. */
  readonly pathParameters: readonly Parameter[];
}

interface Field {
  readonly type: string;
  readonly required: boolean;
  readonly read_only: boolean;
  readonly label: string;
  readonly max_length?: number;
  readonly child?: Field;
}

export function optionsOf(
  { name, description, parses, actions }: Description,
  formats: readonly { readonly mediaType: string }[],
): object {
  const renders = formats.map(({ mediaType }) => mediaType);
  return { name, description, renders, parses, ...(actions !== undefined && { actions }) };
}

const PARSES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

export const POINT_ID: Parameter = {
  name: 'id',
  accepts: 'the id of a point',
  example: '1',
  schema: { type: 'integer', minimum: 1 },
};

/** Describes an address; `parses` is what posts to the interface may be written in. */
export function described(
  name: string,
  description: string,
  parameters: readonly Parameter[],
  pathParameters: readonly Parameter[] = [],
  parses: readonly string[] = PARSES,
): Description {
  return { name, description, parses, parameters, pathParameters };
}

export const ROOT_DESCRIPTION: Description = described(
  'Waypost',
  'The resources of this service.',
  [FORMAT],
);

export const POINT_DESCRIPTION: Description = described(
  'Map Data Point Instance',
  'One geolocated note.',
  POINT_PARAMETERS,
  [POINT_ID],
);

export const NOTIFICATIONS_DESCRIPTION: Description = described(
  'Map Data Point Comment Notifications List',
  'Comments that the user of the token has not seen yet.',
  PAGE_PARAMETERS,
);

export const READ_POINTS_DESCRIPTION: Description = described(
  'Map Data Points List',
  'Geolocated notes, filtered by place, time and what they say.',
  POINTS_PARAMETERS,
);

const given = (type: string, label: string, isRequired = false): Field => ({
  type,
  required: isRequired,
  read_only: false,
  label,
});
const set = (type: string, label: string): Field => ({ ...given(type, label), read_only: true });

/** The fields of a post, in the order that records have; the service sets those that are read. */
const FIELDS: Readonly<Record<string, Field>> = {
  id: set('integer', 'ID'),
  status: set('string', 'Status'),
  comment: given('string', 'Comment'),
  image: { ...given('image upload', 'Image'), max_length: 100 },
  lat: given('decimal', 'Lat', true),
  lon: given('decimal', 'Lon', true),
  is_processed: set('boolean', 'Is processed'),
  created_by: set('integer', 'Created by'),
  tags: {
    ...given('list', 'Tags'),
    child: { ...given('string', 'Tags', true), max_length: MAX_TAG_LENGTH },
  },
  created_at: set('datetime', 'Created at'),
  modified_at: set('datetime', 'Modified at'),
};

export const POINTS_DESCRIPTION: Description = {
  ...READ_POINTS_DESCRIPTION,
  actions: { POST: FIELDS },
};

export const TILE_DESCRIPTION: Description = described(
  'Vector Tile',
  'A Mapbox Vector Tile 2.1: clusters, and the points that are alone in their cell.',
  TILE_PARAMETERS,
  TILE_PATH_PARAMETERS,
);

export const TILES_DESCRIPTION: Description = described(
  'Tile Set',
  'TileJSON 3.0.0: where the tiles are, and what is in them.',
  TILE_PARAMETERS,
);

const EXPORT_FORMAT: Parameter = {
  name: 'format',
  accepts: `one of ${EXPORT_FORMATS.map(({ name }) => name).join(', ')}`,
  example: 'ndjson',
};

export const EXPORT_DESCRIPTION: Description = described(
  'Export',
  'All matches as one file, of one state from the first record to the last.',
  EXPORT_PARAMETERS,
  [EXPORT_FORMAT],
);

export const CHANGES_DESCRIPTION: Description = described(
  'Accepted Points',
  'Points as they are accepted, as a stream of events; or, as NDJSON, those that there are.',
  CHANGES_PARAMETERS,
);

const OPENAPI_FORMAT: Parameter = {
  name: 'format',
  means: 'The version; else what the Accept header prefers.',
  accepts: 'json or openapi for OpenAPI 3.1, openapi30 for 3.0',
  example: 'openapi30',
};

export const OPENAPI_DESCRIPTION: Description = described(
  'OpenAPI document',
  'This interface described for programs, as OpenAPI 3.1, or 3.0 for who asks for it.',
  [OPENAPI_FORMAT],
);

export interface Subjects {
  readonly points: Subject;
  readonly point: Subject;
  readonly notifications: Subject;
  readonly root: Subject;
}

const POINTS: Crumb = { label: 'Map data points', path: POINTS_PATH };

const EXAMPLES: readonly Example[] = [
  { label: 'newest first', query: 'ordering=-created_at' },
  { label: 'within 1 km of a place, nearest first', query: 'coordinates=60.166,24.951,1000' },
  { label: 'in a box', query: 'bbox=24.94,60.16,24.96,60.18' },
  { label: 'with an image', query: 'has_image=true' },
  {
    label: 'of one month',
    query: 'created_at_after=2023-05-01T00%3A00%3A00Z&created_at_before=2023-06-01T00%3A00%3A00Z',
  },
];

/** The formats of an address with its page, in the order of preference. */
export function withPage(
  site: Site,
  subject: Subject,
  [first, ...others]: readonly [Format, ...Format[]],
): readonly Format[] {
  return [first, pageFormat(site, subject, [first, ...others]), ...others];
}

export function createSubjects({ site, posting }: Pick<ViewContext, 'site' | 'posting'>): Subjects {
  // names of images that are not served lead nowhere
  const columns = POINT_COLUMNS.filter(({ keys }) => site.hasImages || keys[0] !== 'image');
  const listed = posting === undefined ? READ_POINTS_DESCRIPTION : POINTS_DESCRIPTION;
  return {
    points: {
      ...subjectOf(POINTS.label, listed, POINT_FORMATS),
      crumbs: [HOME],
      parameters: listed.parameters,
      examples: EXAMPLES,
      columns,
      links: pointLinks(site),
      tiles: templateOf(TILE_PATH),
      exports: EXPORT_FORMATS.map(({ name }) => name),
      posts: POINTS_PATH,
    },
    point: {
      ...subjectOf('Map data point', POINT_DESCRIPTION, POINT_FORMATS),
      crumbs: [HOME, POINTS],
      columns,
      links: pointLinks(site),
    },
    notifications: {
      ...subjectOf('Notifications', NOTIFICATIONS_DESCRIPTION, FORMATS),
      crumbs: [HOME],
      parameters: NOTIFICATIONS_DESCRIPTION.parameters,
      columns: NOTIFICATION_COLUMNS,
      links: notificationLinks(site),
    },
    root: {
      ...subjectOf(HOME.label, ROOT_DESCRIPTION, FORMATS),
      // all values are addresses of this service
      links: ['map_data_points', 'notifications'].map((key) => ({ key, href: String })),
    },
  };
}

function subjectOf(
  name: string,
  description: Description,
  [first, ...others]: readonly [Format, ...Format[]],
): Subject {
  const options = optionsOf(description, [first, PAGE_OFFER, ...others]);
  return { ...plainSubject(name, description.description), options };
}

/**
 * The representations of every address for programs, in the service's own order of preference.
 * Behind the first stands the page for people, which each address has its own of.
 */
export const FORMATS: readonly [Format, ...Format[]] = [JSON_FORMAT];

export const POINT_FORMATS: readonly [Format, ...Format[]] = [...FORMATS, GEOJSON];
