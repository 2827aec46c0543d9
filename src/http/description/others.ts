import { IMAGES_PATH } from '../../media/folder.js';
import type { Offer } from '../request/negotiation.js';
import type { Schema } from '../request/parameter.js';
import { reference } from './description.js';
import {
  commonErrors,
  errorAnswer,
  errorAnswers,
  nothingThere,
  otherErrors,
  postErrors,
} from './errors.js';
import { postExample, recordExample } from './fields.js';
import { headerReferences, SENT } from './headers.js';

/** Accepting a point. */
export function postOperation(operationId: string, formats: readonly Offer[]): Schema {
  const schema = reference('NewMapDataPoint');
  const example = postExample();
  const accepted = recordExample();
  return {
    operationId,
    description:
      'Accepts a point: 201 once it is on stable storage and visible to everybody. Whatever else a body says is ignored.',
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema, example },
        'application/x-www-form-urlencoded': { schema, example },
        'multipart/form-data': { schema, example: { ...example, image: 'photo.jpg' } },
      },
    },
    responses: {
      201: {
        description: 'Accepted.',
        headers: headerReferences(SENT.accepted),
        content: { 'application/json': { schema: reference('MapDataPoint'), example: accepted } },
      },
      ...errorAnswers([...postErrors(), ...commonErrors(formats).filter(isOfPosts)]),
      default: { $ref: '#/components/responses/Other' },
    },
  };
}

const IDEMPOTENCY_KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    '1 to 255 visible ASCII characters: the same key and body again within 24 hours get the first answer.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: String.raw`^[\x21-\x7e]+$` },
  example: '0190f2c1-7a55-7cc0-8f6e-5c2f6d0a9b1e',
};

function isOfPosts({ name }: { readonly name: string }): boolean {
  return name === 'host' || name === 'token' || name === 'accept';
}

/** The images of points. */
export function mediaPath(): Readonly<Record<string, Schema>> {
  const text = { type: 'string' };
  const part = (name: string, example: string | number, schema: Schema): Schema => ({
    name,
    in: 'path',
    required: true,
    description: 'As the record of the point has it.',
    schema,
    example,
  });
  const answer = {
    description: 'The image.',
    headers: headerReferences(['ETag', 'Last-Modified', 'Cache-Control', 'Content-Length']),
    content: { 'image/jpeg': { schema: {} }, 'image/png': { schema: {} } },
  };
  return {
    [`${IMAGES_PATH}{id}/{name}`]: {
      parameters: [
        part('id', 4634, { type: 'integer', minimum: 1 }),
        part('name', 'photo_6912.jpg', text),
      ],
      get: {
        tags: ['media'],
        summary: 'Image',
        operationId: 'getImage',
        description: 'The image of a point, at the path that its record names.',
        responses: {
          200: answer,
          206: { ...answer, description: 'The part of the image that Range asks for.' },
          404: errorAnswer([nothingThere()]),
          default: errorAnswer(otherErrors()),
        },
      },
    },
  };
}
