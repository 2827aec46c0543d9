import type { Arbitrary } from 'fast-check';
import fc from 'fast-check';
import { startApp } from '../support/app.js';
import { jsonPost } from '../support/client.js';
import { generationOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { createDocumentCheck, type Piece } from '../support/openapi.js';
import { startOwnService } from '../support/own-service.js';
import { assert, rounds, test } from '../support/uvu.js';

const RUNS = { seed: 1, numRuns: rounds(60), includeErrorInReport: true };
/** Not asked: operators' routes, images (this instance has none), and streams, which never end. */
const OTHERS = ['/changes/', '/media/', '/health/', '/metrics', '/admin/'];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Piece;
}

const service = await startOwnService();

const document = (await service.get('/openapi.json')).json<Piece>();
const check = createDocumentCheck(document);
const paths = Object.entries(document['paths'] as Readonly<Record<string, Piece>>).filter(
  ([path, { get }]) => get !== undefined && !OTHERS.some((other) => path.startsWith(other)),
);

function valuesOf(schema: Piece): Arbitrary<unknown> {
  const { enum: choices, anyOf, oneOf, type, pattern, format } = schema;
  const { minimum = -1e6, maximum = 1e6, examples = [] } = schema as Bounds;
  if (choices !== undefined) return fc.constantFrom(...(choices as unknown[]));
  if ('const' in schema) return fc.constant(schema['const']);
  if (anyOf !== undefined) return fc.oneof(...(anyOf as Piece[]).map(valuesOf));
  if (type === 'array' && oneOf !== undefined) {
    return fc.oneof(...(oneOf as Piece[]).map((one) => listsOf({ ...schema, ...one })));
  }
  switch (type) {
    case 'array':
      return fc.oneof(listsOf(schema), fc.constantFrom(...(examples as unknown[])));
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 3_000) });
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    default:
      if (format === 'date-time') return timesFrom('2019-01-01', '2025-01-01');
      if (pattern !== undefined) return fc.stringMatching(new RegExp(String(pattern)));
      return fc.oneof(fc.string({ unit: 'grapheme' }), ...examples.map((one) => fc.constant(one)));
  }
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

function listsOf({ items, prefixItems, minItems = 1, maxItems = 3 }: Piece): Arbitrary<unknown> {
  if (prefixItems !== undefined) return fc.tuple(...(prefixItems as Piece[]).map(valuesOf));
  const [minLength, maxLength] = [Number(minItems), Number(maxItems)];
  return fc.array(valuesOf(items as Piece), { minLength, maxLength });
}

function timesFrom(first: string, last: string): Arbitrary<string> {
  const dates = fc.date({ min: new Date(first), max: new Date(last), noInvalidDate: true });
  return dates.map((date) => date.toISOString());
}

/** Query strings of up to three of the parameters. */
function queriesOf(parameters: readonly Parameter[]): Arbitrary<string> {
  const pairs = parameters.map(({ name, schema }) =>
    valuesOf(schema).map((value) => [name, String(value)]),
  );
  return fc
    .subarray(pairs, { maxLength: Math.min(3, pairs.length) })
    .chain((some) => fc.tuple(...some))
    .map((query) => new URLSearchParams(query).toString());
}

for (const [path, item] of paths) {
  test(`requests to ${path} are answered as the document says`, async () => {
    const { parameters } = item['get'] as { readonly parameters: readonly Piece[] };
    const shared = (item['parameters'] ?? []) as readonly Piece[];
    const known = [...shared, ...parameters].map(check.resolve) as unknown as Parameter[];
    const queries = queriesOf(known.filter((one) => one.in === 'query'));
    const inPath = known.filter((one) => one.in === 'path');
    const places = fc.record(
      Object.fromEntries(
        inPath.map(({ name, schema }) => [name, schema['enum'] ? valuesOf(schema) : fc.nat(3)]),
      ),
    );
    const statuses = new Map<number, number>();
    const ask = async (place: Readonly<Record<string, unknown>>, query: string): Promise<void> => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(place[name]));
      const reply = await service.get(`${filled}?${query}`);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      const { responses } = item['get'] as { readonly responses: Piece };
      assert.ok(reply.status in responses, `${reply.status}: ${reply.text.slice(0, 200)}`);
      assert.is(check.problems('GET', filled, reply).join(), '');
    };
    await fc.assert(fc.asyncProperty(places, queries, ask), RUNS);
    const found = (statuses.get(200) ?? 0) + (statuses.get(204) ?? 0);
    assert.ok(found >= RUNS.numRuns / 4, JSON.stringify([...statuses]));
  });
}

test('posts are answered as the document says, as JSON and as a page', async () => {
  const { NewMapDataPoint } = (document['components'] as { schemas: Record<string, Piece> })
    .schemas;
  const { properties, required } = NewMapDataPoint as {
    readonly properties: Readonly<Record<string, Piece>>;
    readonly required: string[];
  };
  const fields = Object.entries(properties).map(([name, one]) => [name, valuesOf(one)] as const);
  const values: Record<string, Arbitrary<unknown>> = Object.fromEntries(fields);
  const bodies = fc.record(values, { requiredKeys: required });
  const path = '/rest/map_data_points/';
  let accepted = 0;
  const post = async (body: object, accept: string): Promise<void> => {
    const reply = await service.get(path, jsonPost(body, { Accept: accept }));
    if (reply.status === 201) accepted += 1;
    else assert.is(reply.status, 400);
    assert.is(check.problems('POST', path, reply).join(), '');
  };
  const types = fc.constantFrom('application/json', 'text/html');
  await fc.assert(fc.asyncProperty(bodies, types, post), RUNS);
  assert.ok(accepted >= RUNS.numRuns / 4, String(accepted));
});

const METHODS = ['get', 'head', 'options', 'post'];
const generation = await generationOf(scatterNotes(15, 10));

/** Routes that are not part of the interface, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '/': 'leads to /rest/',
  '/docs': 'leads to /docs/',
  '/docs/': 'shows the document to people',
  '/static/:version/:file': 'styles and scripts of the pages',
};

test('the document describes every route that is not left out for a reason', async () => {
  // never used: nothing is posted
  const all = { audience: 'all', posting: {} as never } as const;
  const app = await startApp({ generation }, all);
  const { paths } = (await app.get('/openapi.json')).json<{ paths: Record<string, Piece> }>();
  const described = (path: string): string[] =>
    METHODS.filter((method) => paths[path]?.[method] !== undefined);
  const left = new Set(Object.keys(LEFT_OUT));
  for (const [path, methods] of app.routes) {
    // a path without its slash redirects to the one with it
    if (left.delete(path) || app.routes.has(`${path}/`)) continue;
    const known = described(path.replaceAll(/:(\w+)/g, '{$1}'));
    // a route of all methods refuses those that are not described
    const answered = METHODS.filter((method) => methods.has(method.toUpperCase()));
    const own = methods.size > METHODS.length ? known : answered;
    assert.ok(known.length > 0, path);
    assert.equal(known, own, path);
  }
  assert.equal([...left], [], 'what is left out is there');
  assert.ok(app.routes.size > Object.keys(LEFT_OUT).length + 10);
});

test.run();
