import { MAX_TAG_LENGTH } from '../../model/point.js';

/** What OPTIONS tells of a resource, besides the formats that it has. */
export interface Description {
  readonly name: string;
  readonly description: string;
  readonly parses: readonly string[];
  readonly actions?: { readonly POST: Readonly<Record<string, Field>> };
}

interface Field {
  readonly type: string;
  readonly required: boolean;
  readonly read_only: boolean;
  readonly label: string;
  readonly max_length?: number;
  readonly child?: Field;
}

const PARSES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

export const ROOT_DESCRIPTION: Description = {
  name: 'Waypost',
  description: 'The resources of this service.',
  parses: PARSES,
};

export const POINT_DESCRIPTION: Description = {
  name: 'Map Data Point Instance',
  description: 'One geolocated note.',
  parses: PARSES,
};

export const NOTIFICATIONS_DESCRIPTION: Description = {
  name: 'Map Data Point Comment Notifications List',
  description: 'Comments that the user of the token has not seen yet.',
  parses: PARSES,
};

/** Of an instance that takes no posts. */
export const READ_POINTS_DESCRIPTION: Description = {
  name: 'Map Data Points List',
  description: 'Geolocated notes, filtered by time, box and radius.',
  parses: PARSES,
};

export const POINTS_DESCRIPTION: Description = {
  ...READ_POINTS_DESCRIPTION,
  actions: {
    POST: {
      id: set('integer', 'ID'),
      status: set('string', 'Status'),
      comment: given('string', 'Comment'),
      image: { ...given('image upload', 'Image'), max_length: 100 },
      lat: { ...given('decimal', 'Lat'), required: true },
      lon: { ...given('decimal', 'Lon'), required: true },
      is_processed: set('boolean', 'Is processed'),
      created_by: set('integer', 'Created by'),
      tags: {
        ...given('list', 'Tags'),
        child: { ...given('string', 'Tags'), required: true, max_length: MAX_TAG_LENGTH },
      },
      created_at: set('datetime', 'Created at'),
      modified_at: set('datetime', 'Modified at'),
    },
  },
};

/** A field that the client may send. */
function given(type: string, label: string): Field {
  return { type, required: false, read_only: false, label };
}

/** A field that the service sets. */
function set(type: string, label: string): Field {
  return { type, required: false, read_only: true, label };
}
