import { MAX_TAG_LENGTH } from '../../model/point.js';
import type { Schema } from '../request/parameter.js';

/** A field as OPTIONS describes it. */
export interface Field {
  readonly type: string;
  readonly required: boolean;
  readonly read_only: boolean;
  readonly label: string;
  readonly max_length?: number;
  readonly child?: Field;
}

/** A field of a point, in a record and in a post. */
interface PointField {
  readonly name: string;
  readonly label: string;
  readonly text: string;
  /** As OPTIONS names it. */
  readonly type: string;
  /** Whether a record may go without. */
  readonly isOptional?: boolean;
  /** In a record, with an example. */
  readonly record: Schema;
  /** In a post, with an example; absent where the service sets the field. */
  readonly post?: Schema;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  readonly child?: Field;
}

const DEGREES = String.raw`^-?\d{1,3}\.\d{8}$`;
const TIME: Schema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d$`,
};

/** The fields of a point, in the order that records have. */
const POINT_FIELDS: readonly PointField[] = [
  {
    name: 'id',
    label: 'ID',
    text: 'Names the point, and never another one.',
    type: 'integer',
    record: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [4634] },
  },
  {
    name: 'status',
    label: 'Status',
    text: 'How far the point has come; `NEW` when it is posted.',
    type: 'string',
    record: { type: 'string', examples: ['OPEN'] },
  },
  {
    name: 'comment',
    label: 'Comment',
    text: 'What the user wrote; may be empty.',
    type: 'string',
    record: { type: 'string', examples: ['The bench by the library is broken.'] },
    post: { type: 'string', default: '', examples: ['The bench by the library is broken.'] },
  },
  {
    name: 'image',
    label: 'Image',
    text: 'Path of the image on this service. In a post the file itself, JPEG or PNG, by multipart.',
    type: 'image upload',
    isOptional: true,
    record: { type: 'string', examples: ['/media/map_data_points/4634/photo_6912.jpg'] },
    post: { type: 'string', contentMediaType: 'image/jpeg', examples: ['photo.jpg'] },
    maxLength: 100,
  },
  {
    name: 'lat',
    label: 'Lat',
    text: 'Latitude in degrees, within ±90.',
    type: 'decimal',
    isRequired: true,
    record: { type: 'string', pattern: DEGREES, examples: ['60.17095573'] },
    post: { type: ['string', 'number'], examples: ['60.17095573', 60.17] },
  },
  {
    name: 'lon',
    label: 'Lon',
    text: 'Longitude in degrees, within ±180.',
    type: 'decimal',
    isRequired: true,
    record: { type: 'string', pattern: DEGREES, examples: ['24.95958601'] },
    post: { type: ['string', 'number'], examples: ['24.95958601', 24.96] },
  },
  {
    name: 'is_processed',
    label: 'Is processed',
    text: 'Whether somebody has dealt with the point.',
    type: 'boolean',
    record: { type: 'boolean', examples: [false] },
  },
  {
    name: 'created_by',
    label: 'Created by',
    text: 'Number of the user; absent where nobody is known.',
    type: 'integer',
    isOptional: true,
    record: { type: 'integer', examples: [148] },
  },
  {
    name: 'tags',
    label: 'Tags',
    text: 'What the point is about; absent where there are none.',
    type: 'list',
    isOptional: true,
    record: { type: 'array', items: { type: 'string' }, minItems: 1, examples: [['Lighting']] },
    post: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: MAX_TAG_LENGTH },
      examples: [['Lighting', 'Muu 2']],
    },
    child: {
      type: 'string',
      required: true,
      read_only: false,
      label: 'Tags',
      max_length: MAX_TAG_LENGTH,
    },
  },
  {
    name: 'created_at',
    label: 'Created at',
    text: 'When the point was created.',
    type: 'datetime',
    record: { ...TIME, examples: ['2023-12-31T08:44:36.407276+02:00'] },
  },
  {
    name: 'modified_at',
    label: 'Modified at',
    text: 'When the point was last changed.',
    type: 'datetime',
    record: { ...TIME, examples: ['2023-12-31T08:44:36.407276+02:00'] },
  },
];

/** The fields of a post as OPTIONS describes them. */
export function optionFields(): Readonly<Record<string, Field>> {
  return Object.fromEntries(
    POINT_FIELDS.map(({ name, type, isRequired = false, post, label, maxLength, child }) => {
      const field: Field = { type, required: isRequired, read_only: post === undefined, label };
      const more = {
        ...(maxLength !== undefined && { max_length: maxLength }),
        ...(child !== undefined && { child }),
      };
      return [name, { ...field, ...more }];
    }),
  );
}

/** A point as answers have it. */
export function recordSchema(): Schema {
  const required = POINT_FIELDS.filter(({ isOptional }) => isOptional !== true);
  return {
    type: 'object',
    required: required.map(({ name }) => name),
    properties: Object.fromEntries(
      POINT_FIELDS.map(({ name, text, record }) => [name, { description: text, ...record }]),
    ),
  };
}

/** A point as posts have it; whatever else a body says is ignored. */
export function postSchema(): Schema {
  const given = POINT_FIELDS.filter(({ post }) => post !== undefined);
  return {
    type: 'object',
    required: given.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(
      given.map(({ name, text, post }) => [name, { description: text, ...post }]),
    ),
  };
}

/** A record, out of the examples of its fields. */
export function recordExample(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    POINT_FIELDS.map(({ name, record }) => [name, (record['examples'] as unknown[])[0]]),
  );
}

/** A post, out of the examples of its fields; images go by multipart only. */
export function postExample(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    POINT_FIELDS.filter(({ name, post }) => post !== undefined && name !== 'image').map(
      ({ name, post }) => [name, (post!['examples'] as unknown[])[0]],
    ),
  );
}
