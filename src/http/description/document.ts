import { templateOf } from '../request/addresses.js';
import type { Offer } from '../request/negotiation.js';
import type { Parameter, Schema } from '../request/parameter.js';
import { type Description, PAGE } from './description.js';
import {
  commonErrors,
  type ErrorCase,
  errorAnswer,
  errorAnswers,
  otherErrors,
  pageErrors,
} from './errors.js';
import { HEADERS, headerReferences, SENT } from './headers.js';
import { ADMIN_SCHEME, operationPaths } from './operations.js';
import { optionsOf } from './options.js';
import { mediaPath, postOperation } from './others.js';
import { createSchemas } from './schemas.js';

/** An address as the document needs it. */
export interface Described {
  /** Names the address in operations. */
  readonly name: string;
  /** As the router has it, `:name` for what is variable. */
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly description: Description;
  /** What parameters that cannot be used are refused with. */
  readonly refusals: readonly ErrorCase[];
}

/** What the document is made from. */
export interface Interface {
  readonly version: string;
  readonly addresses: readonly Described[];
  /** Whether images of points are served. */
  readonly hasImages: boolean;
  /** Whether operators are answered at the same port. */
  readonly hasOperations: boolean;
}

/** An OpenAPI document, but for its servers, which are known with the request. */
export type Document = Readonly<Record<string, unknown>>;

const ABOUT = `Geolocated notes from memory: by box, circle, time and more, in any order, page by page.

Parameters combine, and an empty one counts as absent. What an address does not know it ignores and
keeps in its links. Every error is JSON of one of two shapes: \`{"detail": text}\`, or texts by
parameter or field. Every answer is made from one snapshot of the data, which the header
\`Waypost-Snapshot\` names; with it as \`If-Match\`, all pages come from the same one, or the answer
is 412.`;

/** Makes the OpenAPI document of the interface. */
export function createDocument(parts: Interface): Document {
  const { version, addresses, hasImages, hasOperations } = parts;
  const parameters = createShared('parameters');
  const responses = createShared('responses');
  const paths: Record<string, Schema> = {};
  for (const address of addresses) {
    paths[templateOf(address.path)] = pathItem(address, {
      parameters,
      responses,
    });
  }
  if (hasImages) Object.assign(paths, mediaPath());
  if (hasOperations) Object.assign(paths, operationPaths());
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waypost',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    security: [{}, { token: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: createSchemas(),
      headers: HEADERS,
      parameters: parameters.all,
      responses: {
        ...responses.all,
        Unchanged: {
          description: 'The client has this answer already.',
          headers: headerReferences(SENT.unchanged),
        },
        Other: errorAnswer(otherErrors()),
      },
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The word `Token`, a blank and the token: `Token 9f2c…`.',
        },
        bearer: { type: 'http', scheme: 'bearer' },
        admin: ADMIN_SCHEME,
      },
    },
  };
}

/** Components that are described once and referred to. */
interface Shared {
  readonly all: Record<string, Schema>;
  /**
   * Adds a component where it is new, with `owner` in its name where the name is taken; refers to
   * it.
   */
  add(name: string, owner: string, component: Schema): Schema;
}

function createShared(kind: 'parameters' | 'responses'): Shared {
  const all: Record<string, Schema> = {};
  const texts = new Map<string, string>();
  return {
    all,
    add(name, owner, component) {
      const text = JSON.stringify(component);
      const key = (texts.get(name) ?? text) === text ? name : `${owner}-${name}`;
      texts.set(key, text);
      all[key] = component;
      return { $ref: `#/components/${kind}/${key}` };
    },
  };
}

/** What addresses share. */
interface Components {
  readonly parameters: Shared;
  readonly responses: Shared;
}

function describeParameter(
  place: string,
  { name, means, accepts, example, schema }: Parameter,
): Schema {
  const isList = schema?.['type'] === 'array';
  const value = exampleOf(example, schema);
  const described = schema ?? { type: 'string' };
  return {
    name,
    in: place,
    // names and values keep their own letters: no client may send `Created_at`
    description: `${means === undefined ? '' : `${means} `}Expects ${accepts}.`,
    required: place === 'path',
    ...(isList && { style: 'form', explode: false }),
    // a viewer fills in the example of a parameter, and all filters together would find nothing
    ...(place === 'path'
      ? { schema: described, example: value }
      : { schema: { ...described, examples: [value] } }),
  };
}

/** The example of a parameter as its schema has it: a number, a list, a choice, or its text. */
function exampleOf(example: string, schema: Schema | undefined): unknown {
  const choices = schema?.['enum'] as readonly unknown[] | undefined;
  if (choices !== undefined) return choices.find((choice) => String(choice) === example);
  switch (schema?.['type']) {
    case 'array': {
      const items = schema['items'] as Schema;
      return example.split(',').map((item) => exampleOf(item, items));
    }
    case 'integer':
    case 'number':
      return Number(example);
    case 'boolean':
      return example === 'true';
    default:
      break;
  }
  const schemas = schema?.['anyOf'] as readonly Schema[] | undefined;
  if (schemas === undefined || schemas.some((one) => one['const'] === example)) return example;
  return exampleOf(example, schemas[0]);
}

const REQUEST_HEADERS: readonly Parameter[] = [
  {
    name: 'If-None-Match',
    accepts: 'the ETag of an answer that the client has; 304 when it is still good',
    example: '"72f5812cdf281718-json-1x9"',
  },
  {
    name: 'If-Match',
    accepts: 'the Waypost-Snapshot of an earlier answer; 412 when the data has changed since',
    example: '"72f5812cdf281718"',
  },
  {
    name: 'Waypost-Timing',
    accepts: 'anything; the answer then says in Server-Timing how it was made',
    example: '1',
  },
  {
    name: 'X-Request-Id',
    accepts: 'a name for the request in the log of the service',
    example: 'map-17',
  },
];

function pathItem(address: Described, { parameters, responses }: Components): Schema {
  const { name, path, allow, formats, description, refusals } = address;
  const refer = (place: 'query' | 'path' | 'header') => (one: Parameter) =>
    parameters.add(one.name, name, describeParameter(place, one));
  const inPath = description.pathParameters.map(refer('path'));
  const asked = [
    ...description.parameters.map((one) => withFormats(one, formats)).map(refer('query')),
    ...REQUEST_HEADERS.map(refer('header')),
  ];
  const isList = description.parameters.some((one) => one.name === 'page');
  const cases = [...refusals, ...commonErrors(formats), ...(isList ? pageErrors() : [])];
  const errors = Object.entries(errorAnswers(cases)).map(([status, answer]) => [
    status,
    responses.add(`Error${status}`, name, answer),
  ]);
  const common = { tags: [groupOf(path)], summary: description.name };
  const ending = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  const read = (operationId: string, hasBody: boolean): Schema => ({
    ...common,
    operationId,
    description: description.description,
    parameters: asked,
    responses: {
      ...foundAnswers(address, hasBody),
      304: { $ref: '#/components/responses/Unchanged' },
      ...(hasBody && Object.fromEntries(errors)),
      default: { $ref: '#/components/responses/Other' },
    },
  });
  return {
    ...(inPath.length > 0 && { parameters: inPath }),
    get: read(`get${ending}`, true),
    head: read(`head${ending}`, false),
    options: {
      ...common,
      operationId: `options${ending}`,
      description: 'What the address is, renders and takes.',
      responses: { 200: optionsAnswer(address) },
    },
    ...(allow.includes('POST') && {
      post: { ...common, ...postOperation(`post${ending}`, formats) },
    }),
  };
}

/** The formats of an address are the choices that its parameter `format` has. */
function withFormats(parameter: Parameter, formats: readonly Offer[]): Parameter {
  if (parameter.name !== 'format') return parameter;
  return { ...parameter, schema: { enum: formats.map((format) => format.parameter) } };
}

/** Addresses are grouped by the first part of their path. */
function groupOf(path: string): string {
  return path.split('/')[1]!;
}

function foundAnswers({ formats, description }: Described, hasBody: boolean): Schema {
  const { answers, empty = {} } = description;
  const content = Object.fromEntries(
    formats.map(({ mediaType }) => [mediaType, answers[mediaType] ?? PAGE]),
  );
  const headers = headerReferences(SENT.found);
  const found = { description: 'Found.', headers, ...(hasBody && { content }) };
  const others = Object.entries(empty).map(([status, text]) => [
    status,
    { description: text, headers: headerReferences(SENT.unchanged) },
  ]);
  return { 200: found, ...Object.fromEntries(others) };
}

function optionsAnswer({ description, formats }: Described): Schema {
  return {
    description: 'The address described.',
    headers: headerReferences(SENT.described),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Options' },
        example: optionsOf(description, formats),
      },
    },
  };
}
