import { readFileSync } from 'node:fs';
import { version } from '../../model/quote.js';
import type { View } from '../answer/question.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import type { Subject } from '../pages/site.js';
import {
  ALLOW_READ,
  BATCH_PATH,
  OGC_API_PATH,
  OPENAPI_PATH,
  templateOf,
} from '../request/addresses.js';
import type { Offer } from '../request/negotiation.js';
import { type Parameter, parameters } from '../request/parameter.js';

/** What an instance may answer beside the addresses that describe themselves. */
interface Others {
  readonly hasImages: boolean;
  readonly hasOperations: boolean;
}

type Piece = Readonly<Record<string, unknown>>;

interface OpenApi extends Piece {
  readonly info: Piece;
  readonly paths: Readonly<Record<string, PathItem>>;
}

interface PathItem extends Piece {
  readonly options?: Described;
  readonly post?: Piece;
}

interface Described {
  readonly responses: { readonly 200: { readonly content: Record<string, { example: object }> } };
}

/**
 * `GET /openapi.json`, and the same at `/ogc/api`: the interface described, for programs, beside
 * these addresses.
 */
export function openapiAddresses(
  addresses: readonly Address[],
  others: Others,
): readonly ReadAddress<undefined>[] {
  const texts = new Map<string, string>();
  const openapi: ReadAddress<undefined> = {
    ...{ name: 'openapi', path: OPENAPI_PATH, allow: ALLOW_READ, isPersonal: false },
    title: 'OpenAPI document',
    description:
      'This interface described for programs, as OpenAPI 3.1, or 3.0 for who asks for it.',
    parameters: parameters('format@openapi'),
    formats: [JSON_FORMAT, OPENAPI, OPENAPI_30],
    read: () => undefined,
    find(_wanted, { origin }, _served, _budget, format) {
      const file = format === OPENAPI_30 ? 'openapi-3.0' : 'openapi-3.1';
      const rest = texts.get(file) ?? textOf(file, [...addresses, ...own], others);
      texts.set(file, rest);
      return Buffer.from(`{"servers":${JSON.stringify([{ url: origin }])},${rest}`);
    },
  };
  const own = [openapi, { ...openapi, name: 'ogcApi', path: OGC_API_PATH }];
  return own;
}

/** The document with what this instance answers as JSON, without the brace that it begins with. */
function textOf(file: string, addresses: readonly Address[], others: Others): string {
  const path = new URL(`../../../../assets/${file}.json`, import.meta.url);
  const document: OpenApi = JSON.parse(readFileSync(path, 'utf8'));
  const byPath = new Map(addresses.map((one) => [templateOf(one.path), one]));
  const paths: Record<string, PathItem> = {};
  for (const [path, { post, ...item }] of Object.entries(document.paths)) {
    const address = byPath.get(path);
    if (address === undefined && !isThere(path, others)) continue;
    const takesPosts = post !== undefined && address?.allow.includes('POST') !== false;
    paths[path] = takesPosts ? { ...item, post } : item;
    if (address === undefined) continue;
    for (const one of Object.values(item.options!.responses[200].content)) {
      one.example = optionsOf(address);
    }
  }
  const info = { ...document.info, version: version() };
  return JSON.stringify({ ...document, info, paths }).slice(1);
}

function isThere(path: string, { hasImages, hasOperations }: Others): boolean {
  if (path.startsWith('/media/')) return hasImages;
  return path === BATCH_PATH || (hasOperations && !path.startsWith('/changes/'));
}

/** An address of the interface, as OPTIONS and the OpenAPI document tell of it. */
export interface Address {
  readonly name: string;
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** The variable parts of the path, by the names that its route gives them. */
  readonly pathParameters?: readonly Parameter[];
  /** What posts to the interface may be written in; all forms where absent. */
  readonly parses?: readonly string[];
  /** The fields of a post, where it takes some. */
  readonly actions?: object | undefined;
  /** What its pages are about. */
  readonly subject?: Subject;
}

/** An address whose GET the pipeline answers. */
export type ReadAddress<Wanted> = View<Wanted> & Address;

const PARSES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** What OPTIONS is answered with. */
export function optionsOf(address: Address): object {
  const { title: name, description, formats, parses = PARSES, actions } = address;
  const renders = formats.map(({ mediaType }) => mediaType);
  return { name, description, renders, parses, ...(actions !== undefined && { actions }) };
}
