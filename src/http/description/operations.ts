import { LIVE_PATH, METRICS_PATH, READY_PATH, RELOAD_PATH } from '../request/addresses.js';
import { NotFound } from '../request/errors.js';
import type { Schema } from '../request/parameter.js';
import { invalidToken } from '../request/token.js';
import { reference } from './description.js';
import { type ErrorCase, errorAnswer, errorAnswers, otherErrors } from './errors.js';
import { headerReferences, SENT } from './headers.js';

const TAGS = ['operations'];
/** Whoever has no token is answered, too, without the names of files. */
const OPEN: readonly Schema[] = [{}, { admin: [] }];

/** The token of operators, as the document knows it. */
export const ADMIN_SCHEME: Schema = {
  type: 'http',
  scheme: 'bearer',
  description: 'The token of `--admin-token`, or that of an admin in `--tokens`.',
};

/** What operators ask for, address by address. */
export function operationPaths(): Readonly<Record<string, Schema>> {
  return {
    [LIVE_PATH]: readOf('Live', 'Whether the process answers', 'The process answers.', {
      'application/json': { schema: LIVE, example: { status: 'live' } },
    }),
    [READY_PATH]: readOf('Ready', 'State of the data', 'Data is served; the body says which.', {
      'application/json': { schema: reference('Readiness'), example: EXAMPLE },
    }),
    [METRICS_PATH]: readOf('Metrics', 'Metrics', 'All metrics, in the text format of Prometheus.', {
      'text/plain': { schema: { type: 'string' }, example: 'waypost_points 5000\n' },
    }),
    [RELOAD_PATH]: { post: reload() },
  };
}

/** Reading an address of operators, with a body and without. */
function readOf(name: string, summary: string, description: string, content: Schema): Schema {
  const read = (operationId: string, body: object): Schema => ({
    tags: TAGS,
    summary,
    operationId,
    security: OPEN,
    responses: {
      200: { description, headers: headerReferences(SENT.operated), ...body },
      ...errorAnswers([STRANGER]),
      default: errorAnswer(otherErrors()),
    },
  });
  return { get: read(`get${name}`, { content }), head: read(`head${name}`, {}) };
}

function reload(): Schema {
  const schema = reference('Readiness');
  const found = (description: string, headers: readonly string[], example: object): Schema => ({
    description,
    headers: headerReferences([...SENT.operated, ...headers]),
    content: { 'application/json': { schema, example } },
  });
  return {
    tags: TAGS,
    summary: 'Reload',
    description: 'Looks for a new snapshot now.',
    operationId: 'postReload',
    security: [{ admin: [] }],
    parameters: [
      flag('accept', 'Also takes a snapshot that was held back, or failed before.'),
      flag('wait', 'Answers when the newest snapshot is served, or will not be.'),
    ],
    responses: {
      200: found('There is nothing to wait for; `stale` says whether it failed.', [], EXAMPLE),
      202: found('There is something to wait for.', ['Location'], {
        waiting_for: { state: 'building', path: '/data/points.waypost' },
        ...EXAMPLE,
      }),
      ...errorAnswers([STRANGER, NO_ADMINS]),
      default: errorAnswer(otherErrors()),
    },
  };
}

/** A parameter that counts as said unless its value is `false`. */
function flag(name: string, description: string): Schema {
  const schema = { type: 'boolean', default: false };
  return { name, in: 'query', description, allowEmptyValue: true, schema, example: true };
}

const STRANGER: ErrorCase = {
  name: 'token',
  when: 'the token is not known',
  error: invalidToken('Bearer'),
};
const NO_ADMINS: ErrorCase = {
  name: 'admins',
  when: 'the instance has no admins',
  error: new NotFound(),
};

const LIVE: Schema = {
  type: 'object',
  required: ['status'],
  properties: { status: { const: 'live' } },
};

const EXAMPLE = {
  status: 'ready',
  version: '0.1.0',
  points: 5000,
  snapshot: '72f5812cdf281718',
  exported_at: '2024-01-01T00:00:00.000Z',
  loaded_at: '2024-01-01T00:05:00.000Z',
  stale: false,
};

const TEXT: Schema = { type: 'string' };
const MOMENT: Schema = { type: 'string', format: 'date-time' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

/** The state of the data; names and reasons of files are for admins. */
export const READINESS: Schema = {
  type: 'object',
  required: Object.keys(EXAMPLE),
  properties: {
    status: { const: 'ready' },
    version: TEXT,
    points: COUNT,
    snapshot: TEXT,
    exported_at: MOMENT,
    loaded_at: MOMENT,
    stale: { type: 'boolean', description: 'Whether a newer snapshot could not be served.' },
    reason: { type: 'string', description: 'Why, for admins.' },
    since: MOMENT,
    unwritable: {
      type: 'object',
      description: 'Since when posts cannot be stored.',
      required: ['since'],
      properties: { reason: TEXT, since: MOMENT },
    },
    building: {
      type: 'object',
      description: 'The snapshot that is being read.',
      required: ['since', 'bytes_read', 'bytes_total'],
      properties: { path: TEXT, since: MOMENT, bytes_read: COUNT, bytes_total: COUNT },
    },
    waiting_for: {
      type: 'object',
      description: 'What a reload waits for.',
      required: ['state', 'path'],
      properties: { state: { enum: ['settling', 'building'] }, path: TEXT },
    },
  },
};
