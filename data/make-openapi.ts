import { readFileSync } from 'node:fs';
import { type Address, optionsOf } from '../src/http/answer/question.js';
import { createSite } from '../src/http/pages/site.js';
import { templateOf } from '../src/http/request/addresses.js';
import type { Parameter } from '../src/http/request/parameter.js';
import { CHANGES_ADDRESS } from '../src/http/routes/changes.js';
import { EXPORT_ADDRESS } from '../src/http/routes/exports.js';
import { openapiAddresses, readAddresses } from '../src/http/routes/resources.js';
import { version } from '../src/model/quote.js';
import { openTimeZone } from '../src/model/time-zone.js';
import { isObject } from '../src/model/units.js';

/*
 * Prints assets/openapi-3.1.json, or with the argument `3.0` assets/openapi-3.0.json: it adds to
 * data/openapi.json what addresses and parameters say of themselves. `make data` writes both.
 */

type Piece = Readonly<Record<string, unknown>>;

interface PathItem extends Piece {
  readonly get?: Operation;
  readonly post?: Operation;
}

interface Operation extends Piece {
  readonly operationId?: string;
  /** In place of the headers that other addresses take. */
  readonly parameters?: readonly Piece[];
  readonly responses: Readonly<Record<string, Piece>>;
}

interface DocumentSource extends Piece {
  readonly info: Piece;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Piece>>>>;
}

const source: Piece = JSON.parse(
  readFileSync(new URL('../../data/openapi.json', import.meta.url), 'utf8'),
);

/** Responses that every GET may have. */
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

/** The document with all that an instance may answer. */
function documentOf(addresses: readonly Address[]): Piece {
  const { info, paths, components, ...more } = laidOver(source) as DocumentSource;
  const byPath = new Map(addresses.map((one) => [templateOf(one.path), one]));
  const { parameters: known = {} } = components;
  const shared = Object.keys(known).map((name) => referenceTo('parameters', name));
  const items = Object.entries(paths).map(([path, item]) => {
    const address = byPath.get(path);
    return [path, address === undefined ? withHead(item) : spliced(item, address, shared)];
  });
  return {
    ...more,
    info: { ...info, version: version() },
    paths: Object.fromEntries(items),
    components: { ...components, parameters: { ...known, ...describeAll(addresses) } },
  };
}

/** A path with what its address says: its parameters, beside the `shared` ones, and OPTIONS. */
function spliced({ get, post }: PathItem, address: Address, shared: readonly Piece[]): Piece {
  const { name, path, allow, title, description, parameters, pathParameters = [] } = address;
  const ending = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  const common = { tags: [path.split('/')[1]], summary: title };
  const refer = ({ key }: Parameter): Piece => referenceTo('parameters', key);
  const described = { 'application/json': { example: optionsOf(address) } };
  return {
    // written out, since the viewer shows no names of referenced ones
    ...(pathParameters.length > 0 && { parameters: pathParameters.map(inPath) }),
    ...withHead({
      get: {
        ...common,
        operationId: `get${ending}`,
        description,
        parameters: [...parameters.map(refer), ...(get!.parameters ?? shared)],
        responses: laid(READ_RESPONSES, get!.responses) as Operation['responses'],
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

/** The parameters of all addresses, by their keys. */
function describeAll(addresses: readonly Address[]): Readonly<Record<string, Piece>> {
  const all = addresses.flatMap(({ parameters }) => parameters);
  return Object.fromEntries(all.map((one) => [one.key, describeParameter('query', one)]));
}

function describeParameter(
  place: 'query' | 'path',
  { name, means, accepts, value, schema }: Parameter,
): Piece {
  return {
    name,
    in: place,
    // names and values keep their own letters: no client may send `Created_at`
    description: `${means === undefined ? '' : `${means} `}Expects ${accepts}.`,
    required: place === 'path',
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
    // a viewer fills in the example of a parameter, and all filters together would find nothing
    ...(place === 'path'
      ? { schema, example: value }
      : { schema: { ...schema, examples: [value] } }),
  };
}

function inPath(one: Parameter): Piece {
  return describeParameter('path', one);
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

/** A deep merge, in which keys of `over` replace those of `under`; an empty list removes one. */
function laid(under: unknown, over: unknown): unknown {
  if (!isObject(under) || !isObject(over)) return over;
  const own = Object.entries(over).map(([key, one]) => [key, laid(under[key], one)]);
  const all = Object.entries({ ...under, ...Object.fromEntries(own) });
  return Object.fromEntries(all.filter(([, one]) => !(Array.isArray(one) && one.length === 0)));
}

/** A copy for OpenAPI 3.0: what only 3.1 has is translated or left out. */
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

/** JSON with a line for each member down to a depth. */
function inLines(value: unknown, depth: number): string {
  if (depth === 0 || !isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => {
    return `${JSON.stringify(key)}:${inLines(one, depth - 1)}`;
  });
  return `{\n${members.join(',\n')}}`;
}

const site = createSite({ media: 'media' }, true);
const context = { zone: await openTimeZone('UTC'), site, maxPageBytes: 2 ** 23 };
const document = documentOf([
  ...[EXPORT_ADDRESS, CHANGES_ADDRESS, ...readAddresses(context)],
  ...openapiAddresses(),
]);
const older = { ...(inVersion30(document) as Piece), openapi: '3.0.3' };
process.stdout.write(`${inLines(process.argv[2] === '3.0' ? older : document, 3)}\n`);
