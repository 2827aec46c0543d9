import { version } from '../../model/quote.js';
import { isObject } from '../../model/units.js';
import type { Asked } from '../answer/question.js';
import source from '../openapi.json' with { type: 'json' };
import { BATCH_PATH, templateOf } from '../request/addresses.js';
import { type ErrorBody, HttpError } from '../request/http-error.js';
import type { Offer } from '../request/negotiation.js';
import type { Parameter, Schema } from '../request/parameter.js';
import { type Description, optionsOf } from './describe.js';

/** An address that describes itself, and reads what is asked of it. */
export interface Readable {
  readonly name: string;
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly description: Description;
  read(asked: Asked): unknown;
}

export interface Others {
  readonly hasImages: boolean;
  readonly hasOperations: boolean;
}

type Piece = Readonly<Record<string, unknown>>;

interface PathItem extends Piece {
  readonly get?: Operation;
  readonly post?: Operation;
}

interface Operation extends Piece {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, Piece>>;
}

interface Source extends Piece {
  readonly info: Piece;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Piece>>>>;
}

/** A text that no parameter with rules can be. */
const UNUSABLE = '~';

/** What every reading may be answered with. */
const READ_RESPONSES: Readonly<Record<string, Piece>> = {
  304: referenceTo('responses', 'Unchanged'),
  ...Object.fromEntries(
    [400, 401, 404, 406, 412, 503].map((status) => [
      status,
      referenceTo('responses', `Error${status}`),
    ]),
  ),
  default: referenceTo('responses', 'Other'),
};

/** The document as JSON, without the brace that it begins with. */
export interface DocumentTexts {
  readonly newer: string;
  readonly older: string;
}

/** The OpenAPI document of the interface; its servers are known with the request. */
export function documentTexts(addresses: readonly Readable[], others: Others): DocumentTexts {
  const document = documentOf(addresses, others);
  const older = { ...(inVersion30(document) as Piece), openapi: '3.0.3' };
  return { newer: JSON.stringify(document).slice(1), older: JSON.stringify(older).slice(1) };
}

function documentOf(addresses: readonly Readable[], others: Others): Piece {
  const { info, paths, components, ...more } = laidOver(source) as Source;
  const byPath = new Map(addresses.map((one) => [templateOf(one.path), one]));
  const parameters = createParameters(components['parameters']!);
  const items = Object.entries(paths).flatMap(([path, item]): [string, Piece][] => {
    const address = byPath.get(path);
    if (address !== undefined) return [[path, spliced(item, address, parameters)]];
    return isThere(path, others) ? [[path, withHead(item)]] : [];
  });
  return {
    ...more,
    info: { ...info, version: version() },
    paths: Object.fromEntries(items),
    components: { ...components, parameters: parameters.all },
  };
}

/** Whether an address is there that does not describe itself. */
function isThere(path: string, { hasImages, hasOperations }: Others): boolean {
  if (path.startsWith('/media/')) return hasImages;
  return path === BATCH_PATH || (hasOperations && !path.startsWith('/changes/'));
}

/** A path with what its address says: parameters, what they are refused with, OPTIONS. */
function spliced({ get, post }: PathItem, address: Readable, parameters: Parameters): Piece {
  const { name, path, allow, formats, description } = address;
  const ending = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  const common = { tags: [path.split('/')[1]], summary: description.name };
  const refer = (place: 'query' | 'path') => (one: Parameter) =>
    parameters.add(one.name, name, describeParameter(place, one, formats));
  const inPath = description.pathParameters.map(refer('path'));
  const responses = { ...READ_RESPONSES, ...get!.responses };
  const refusals = { 'application/json': { examples: refusalsOf(address) } };
  const described = { 'application/json': { example: optionsOf(description, formats) } };
  return {
    ...(inPath.length > 0 && { parameters: inPath }),
    ...withHead({
      get: {
        ...common,
        operationId: `get${ending}`,
        description: description.description,
        parameters: [...description.parameters.map(refer('query')), ...parameters.ofEveryRead],
        responses: {
          ...responses,
          400: laidOver({ ...responses[400], content: refusals }) as Piece,
        },
      },
    }),
    options: {
      ...common,
      operationId: `options${ending}`,
      description: 'What the address is, renders and takes.',
      responses: {
        200: laidOver({ ...referenceTo('responses', 'Described'), content: described }),
      },
    },
    ...(allow.includes('POST') && {
      post: { ...common, operationId: `post${ending}`, ...post },
    }),
  };
}

/** A path whose GET is answered to HEAD as well, without the bodies. */
function withHead(item: PathItem): PathItem {
  const { get } = item;
  if (get === undefined) return item;
  const heads = Object.entries(get.responses).map(([status, { content: _, ...response }]) => [
    status,
    response,
  ]);
  const operationId = get.operationId!.replace('get', 'head');
  return { ...item, head: { ...get, operationId, responses: Object.fromEntries(heads) } };
}

interface Parameters {
  readonly all: Readonly<Record<string, Piece>>;
  /** References to those that every reading takes. */
  readonly ofEveryRead: readonly Piece[];
  /** Adds one, with `owner` in its name where the name is taken by another; refers to it. */
  add(name: string, owner: string, parameter: Piece): Piece;
}

function createParameters(known: Readonly<Record<string, Piece>>): Parameters {
  const all: Record<string, Piece> = { ...known };
  return {
    all,
    ofEveryRead: Object.keys(known).map((name) => referenceTo('parameters', name)),
    add(name, owner, parameter) {
      const isFree = JSON.stringify(all[name] ?? parameter) === JSON.stringify(parameter);
      const key = isFree ? name : `${owner}-${name}`;
      all[key] = parameter;
      return referenceTo('parameters', key);
    },
  };
}

function describeParameter(
  place: 'query' | 'path',
  { name, means, accepts, example, schema = { type: 'string' } }: Parameter,
  formats: readonly Offer[],
): Piece {
  const choices = formats.map(({ parameter }) => parameter);
  const described = name === 'format' ? { enum: choices } : schema;
  const value = exampleOf(example, described);
  return {
    name,
    in: place,
    // names and values keep their own letters: no client may send `Created_at`
    description: `${means === undefined ? '' : `${means} `}Expects ${accepts}.`,
    required: place === 'path',
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
    // a viewer fills in the example of a parameter, and all filters together would find nothing
    ...(place === 'path'
      ? { schema: described, example: value }
      : { schema: { ...described, examples: [value] } }),
  };
}

/** The example of a parameter as its schema has it: a number, a list, a choice, or its text. */
function exampleOf(example: string, schema: Schema): unknown {
  const {
    enum: choices,
    type,
    items,
    anyOf,
  } = schema as {
    readonly enum?: readonly unknown[];
    readonly type?: string;
    readonly items?: Schema;
    readonly anyOf?: readonly Schema[];
  };
  if (choices !== undefined) return choices.find((choice) => String(choice) === example);
  if (type === 'array') return example.split(',').map((item) => exampleOf(item, items!));
  if (type === 'integer' || type === 'number') return Number(example);
  if (type === 'boolean') return example === 'true';
  if (anyOf === undefined || anyOf.some((one) => one['const'] === example)) return example;
  return exampleOf(example, anyOf[0]!);
}

/** What the address says to each parameter that it cannot use, as examples. */
function refusalsOf({ description, read }: Readable): Readonly<Record<string, Piece>> {
  const { parameters, pathParameters } = description;
  const path = Object.fromEntries(pathParameters.map(({ name, example }) => [name, example]));
  const bodyOf = (name: string): ErrorBody | undefined => {
    try {
      read({ origin: '', pairs: [{ name, value: UNUSABLE }], path, user: undefined });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error.status === 400) return error.body;
    }
    return undefined;
  };
  const refusals = parameters
    .map(({ name }) => [name, bodyOf(name)] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, { summary: '400: a parameter cannot be used', value }]);
  return Object.fromEntries(refusals);
}

function referenceTo(kind: 'parameters' | 'responses', name: string): Piece {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A copy in which keys beside a `$ref` are laid over what it refers to. */
function laidOver(piece: unknown): unknown {
  if (Array.isArray(piece)) return piece.map(laidOver);
  if (!isObject(piece)) return piece;
  const { $ref, ...own } = Object.fromEntries(
    Object.entries(piece).map(([key, one]) => [key, laidOver(one)]),
  );
  if ($ref === undefined) return own;
  if (Object.keys(own).length === 0) return piece;
  const [, ...steps] = String($ref).split('/');
  const found = steps.reduce((at, step) => (at as Piece)[step], source as unknown);
  return laid(laidOver(found), own);
}

/** One piece with the keys of another laid over its own, and so all the way down. */
function laid(under: unknown, over: unknown): unknown {
  if (!isObject(under) || !isObject(over)) return over;
  const own = Object.entries(over).map(([key, one]) => [key, laid(under[key], one)]);
  return { ...under, ...Object.fromEntries(own) };
}

/** A copy of a piece of a document in which what only 3.1 has is said otherwise, or not at all. */
function inVersion30(piece: unknown): unknown {
  if (Array.isArray(piece)) return piece.map(inVersion30);
  if (!isObject(piece)) return piece;
  const entries = Object.entries(piece).flatMap(([key, one]) => {
    const isList = Array.isArray(one);
    // examples in a list are those of a schema
    if (key === 'prefixItems' || (key === 'examples' && isList)) return [];
    if (key === 'const') return [['enum', [one]]];
    // `null` comes second
    if (key === 'type' && isList)
      return [
        ['type', one[0]],
        ['nullable', true],
      ];
    return [[key, inVersion30(one)]];
  });
  return Object.fromEntries(entries);
}
