import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Reply } from './client.js';

export type Piece = Readonly<Record<string, unknown>>;

export interface Response {
  readonly headers?: Readonly<Record<string, Piece>>;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Content {
  readonly schema: Piece;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Piece>>;
}

/** Headers of the connection, and the media type, which OpenAPI states elsewhere. */
const OTHERS = new Set(['connection', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** Compares a service's answers with its OpenAPI document. */
interface DocumentCheck {
  /** The target of a reference; any other piece itself. */
  resolve(piece: unknown): Piece;
  operation(method: string, target: string): Piece | undefined;
  /** How an answer differs from the document; empty where it does not. */
  problems(method: string, target: string, reply: Reply): string[];
  /** How a value differs from a schema. */
  schemaProblems(schema: unknown, value: unknown): string[];
}

/** Makes the check of a document. Keys that a schema does not list are problems. */
export function createDocumentCheck(document: Piece): DocumentCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'document', components: closed(document['components']) });
  const validators = new Map<string, ValidateFunction>();
  const paths = Object.entries(document['paths'] as Readonly<Record<string, Piece>>).map(
    ([path, item]) => ({
      item,
      shape: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }),
  );

  function resolve(piece: unknown): Piece {
    const { $ref } = piece as Piece;
    if ($ref === undefined) return piece as Piece;
    const [, ...steps] = String($ref).split('/');
    return steps.reduce((at, step) => at[step] as Piece, document);
  }

  function operation(method: string, target: string): Piece | undefined {
    const path = target.split('?', 1)[0]!;
    const found = paths.find(({ shape }) => shape.test(path));
    return found?.item[method.toLowerCase()] as Piece | undefined;
  }

  function schemaProblems(schema: unknown, value: unknown): string[] {
    const text = JSON.stringify(closed(schema)).replaceAll('"#/', '"document#/');
    let validate = validators.get(text);
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(text) as object);
      validators.set(text, validate);
    }
    if (validate(value)) return [];
    return validate.errors!.map((one) => `${one.instancePath} ${one.message}`);
  }

  return {
    resolve,
    operation,
    schemaProblems,
    problems(method, target, reply) {
      const responses = operation(method, target)?.['responses'] as Piece | undefined;
      if (responses === undefined) return ['no operation'];
      const { status, headers, text } = reply;
      const { headers: known = {}, content = {} } = resolve(
        responses[status] ?? responses['default'],
      ) as { readonly headers?: Piece; readonly content?: Readonly<Record<string, Piece>> };
      const names = new Set(Object.keys(known).map((name) => name.toLowerCase()));
      const found = Object.keys(headers)
        .filter((name) => !OTHERS.has(name))
        .filter((name) => !names.has(name))
        .map((name) => `${status} header ${name}`);
      if (method === 'HEAD' || text === '') return found;
      const type = headers['content-type']!.split(';', 1)[0]!;
      if (content[type] === undefined) found.push(`${status} type ${type}`);
      else if (/[/+]json$/.test(type)) {
        found.push(...schemaProblems(content[type]['schema'], JSON.parse(text)));
      }
      return found;
    },
  };
}

/** A copy of schemas whose objects may have no other keys than those listed. */
function closed(piece: unknown): unknown {
  if (Array.isArray(piece)) return piece.map(closed);
  if (typeof piece !== 'object' || piece === null) return piece;
  const copy = Object.fromEntries(Object.entries(piece).map(([key, one]) => [key, closed(one)]));
  const isOpen = copy['type'] === 'object' && copy['properties'] !== undefined;
  return isOpen ? { additionalProperties: false, ...copy } : copy;
}

/** The example of a parameter or of its schema. */
export function exampleOf({ example, schema }: Piece): unknown {
  return example ?? (schema as { readonly examples: readonly unknown[] }).examples[0];
}
