import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { pageTooLarge } from '../../src/http/answer/question.js';
import type { PageRecords } from '../../src/http/formats/representation.js';
import { POINT_COLUMNS } from '../../src/http/pages/columns.js';
import { throttled } from '../../src/http/request/client.js';
import {
  credentialsMissing,
  type HttpError,
  internalError,
  keyReused,
  NotFound,
  otherState,
  overloaded,
  tooManyQueries,
  unavailable,
} from '../../src/http/request/http-error.js';
import { POINTS_PARAMETERS } from '../../src/http/request/list-parameters.js';
import { RECORD_KEYS } from '../../src/model/point.js';
import { createDocumentCheck, exampleOf, type Piece, type Response } from '../support/openapi.js';
import { startOwnService } from '../support/own-service.js';
import { printedBy, ROOT } from '../support/service.js';
import { assert, makeFolder, pluck, test } from '../support/uvu.js';

const service = await startOwnService(['--media', makeFolder(), '--admin-token', 'secret']);

interface OpenApi extends Piece {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Piece>>>>;
}

interface Operation extends Piece {
  readonly operationId: string;
  readonly parameters?: readonly Piece[];
  readonly responses: Readonly<Record<string, Piece>>;
}

const document = (await service.get('/openapi.json')).json<OpenApi>();
const check = createDocumentCheck(document);
const METHODS = ['get', 'head', 'options', 'post'];
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method] !== undefined).map((method) => ({
    path,
    method,
    operation: item[method]!,
    shared: (item['parameters'] ?? []) as unknown as readonly Piece[],
  })),
);

test('every field of a record is described, in tiles too, and has a column in pages', async () => {
  const keys = RECORD_KEYS.toSorted();
  const { properties } = document.components['schemas']!['MapDataPoint']!;
  assert.equal(Object.keys(properties as Piece).sort(), keys);
  const { description, schema } = document.components['parameters']!['fields']!;
  assert.match(String(description), ` ${RECORD_KEYS.join(', ')}.`);
  assert.equal((schema as { items: unknown }).items, { enum: RECORD_KEYS });
  const tileSet = await service.get(`/tiles/points.json?fields=${RECORD_KEYS}`);
  type Layers = { vector_layers: { id: string; fields: object }[] };
  const points = tileSet.json<Layers>().vector_layers.find(({ id }) => id === 'points')!;
  assert.equal(Object.keys(points.fields).sort(), keys);
  assert.equal(POINT_COLUMNS.flatMap((column) => column.keys).sort(), keys);
});

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors));
  assert.is(validator.version, '3.1');
  const ids = new Set(operations.map(({ operation }) => operation.operationId)).size;
  assert.is(ids, operations.length);
});

test('OpenAPI 3.0 can be negotiated', async () => {
  const accept = 'application/vnd.oai.openapi+json;version=3.0';
  const named = await service.get('/ogc/api?format=openapi30');
  const accepted = await service.get('/openapi.json', { headers: { Accept: accept } });
  for (const { headers } of [named, accepted]) assert.is(headers['content-type'], accept);
  const older = accepted.json<OpenApi>();
  assert.equal(named.json(), older);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(older));
  assert.ok(valid, JSON.stringify(errors));
  assert.is(validator.version, '3.0');
  const shapeOf = ({ paths, components }: OpenApi): string[] =>
    [paths, ...Object.values(components)].flatMap(Object.keys);
  assert.equal(shapeOf(older), shapeOf(document));
  assert.not.match(accepted.text, /"(?:const|prefixItems)":|"type":\[/);
});

test('the script prints both versions', async () => {
  for (const version of ['3.0', '3.1']) {
    const stdout = await printedBy('data/make-openapi.js', version);
    const file = readFileSync(join(ROOT, `assets/openapi-${version}.json`), 'utf8');
    assert.ok(stdout === file, 'run `make data` and commit it');
  }
});

test('links of the document begin with the address where it was requested', async () => {
  const asked = { headers: { Host: 'points.example:81' } };
  const { servers } = (await service.get('/openapi.json', asked)).json<OpenApi>();
  assert.equal(servers, [{ url: 'http://points.example:81' }]);
});

test('the document has the parameters of the table, with their descriptions', () => {
  const { operation } = operations.find(({ path }) => path === '/rest/map_data_points/')!;
  const described = operation.parameters!.map((one) => check.resolve(one));
  const inQuery = described.filter((one) => one['in'] === 'query');
  assert.equal(pluck(inQuery, 'name'), pluck(POINTS_PARAMETERS, 'name'));
  for (const [i, { name, means, accepts }] of POINTS_PARAMETERS.entries()) {
    assert.ok(means?.endsWith('.'), name);
    // the description of `format` differs by address
    if (name !== 'format') assert.is(inQuery[i]!['description'], `${means} Expects ${accepts}.`);
  }
});

test('every parameter, header, body and error has an example that fits its schema', () => {
  const examples: [what: string, schema: unknown, value: unknown][] = [];
  for (const { path, method, operation, shared } of operations) {
    const what = `${method} ${path}`;
    for (const one of [...(operation.parameters ?? []), ...shared].map(check.resolve)) {
      examples.push([`${what} ${one['name']}`, one['schema'], exampleOf(one)]);
      // a viewer would send it, such as a post's key, or the acceptance of a doubtful snapshot
      if (one['required'] !== true) assert.is(one['example'], undefined, `${what} ${one['name']}`);
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      const { headers = {}, content = {} } = check.resolve(response) as Response;
      for (const [name, header] of Object.entries(headers).map(
        ([name, one]) => [name, check.resolve(one)] as const,
      )) {
        examples.push([`${what} ${status} ${name}`, header['schema'], header['example']]);
      }
      for (const [type, { schema, example, examples: several }] of Object.entries(content)) {
        // raw bytes have no example
        if (Object.keys(schema).length === 0) continue;
        const values = several === undefined ? [example] : Object.values(several).map(exampleValue);
        assert.ok(values.length > 0, `${what} ${status} ${type}`);
        for (const value of values) examples.push([`${what} ${status} ${type}`, schema, value]);
      }
    }
  }
  assert.ok(examples.length > 100);
  for (const [what, schema, value] of examples) {
    assert.ok(value !== undefined, `${what} has an example`);
    assert.equal(check.schemaProblems(schema, value), [], what);
  }
});

test('viewers send each value of a list as a form field of its own', () => {
  const { requestBody } = document.paths['/rest/map_data_points/']!['post'] as unknown as {
    requestBody: { content: Record<string, { encoding?: unknown }> };
  };
  const { 'application/json': _, ...forms } = requestBody.content;
  const encodings = Object.values(forms).map(({ encoding }) => encoding);
  assert.equal(encodings, Array(2).fill({ tags: { style: 'form', explode: true } }));
});

/** Headers that an operation needs. */
function keysOf({ security, responses }: Operation): Record<string, string> {
  const types = Object.keys((check.resolve(responses['200']) as Response).content ?? {});
  if (types.includes('text/event-stream')) {
    // viewers ask for the first type, and show nothing before the end of the answer
    assert.is(types[0], 'application/x-ndjson');
    return { Accept: types[0]! };
  }
  return JSON.stringify(security) === '[{"admin":[]}]' ? { Authorization: 'Bearer secret' } : {};
}

/** The value of an example or of its reference. */
function exampleValue(example: Piece): unknown {
  return check.resolve(example)['value'];
}

test('the example of every parameter is accepted, and answered as the document says', async () => {
  for (const { path, method, operation, shared } of operations) {
    // other tests cover what needs a token
    if (method !== 'get' || /^\/(?:media|admin)\//.test(path)) continue;
    const known = [...(operation.parameters ?? []), ...shared].map(check.resolve);
    const filled = known
      .filter((one) => one['in'] === 'path')
      .reduce((at, one) => at.replace(`{${one['name']}}`, String(exampleOf(one))), path);
    for (const one of known.filter((other) => other['in'] === 'query')) {
      const target = `${filled}?${one['name']}=${encodeURIComponent(String(exampleOf(one)))}`;
      const reply = await service.get(target, { headers: keysOf(operation) });
      // no notifications, so no second page
      const isEmpty = path === '/rest/notifications/' && one['name'] === 'page';
      assert.ok(reply.status < 300 || isEmpty, `${target}: ${reply.text.slice(0, 200)}`);
      assert.equal(check.problems('GET', target, reply), [], target);
    }
  }
});

test('errors are answered as the document shows', async () => {
  const { operation } = operations.find(({ path }) => path === '/rest/map_data_points/')!;
  const post = operations.find(({ method }) => method === 'post')!.operation;
  const json = { 'Content-Type': 'application/json' };
  const asked: Readonly<Record<string, [target: string, options: object, of: Operation]>> = {
    host: ['', { headers: { Host: 'a b' } }, operation],
    token: ['', { headers: { Authorization: 'Token x' } }, operation],
    format: ['?format=xml', {}, operation],
    accept: ['', { headers: { Accept: 'image/png' } }, operation],
    page: ['?page=999', {}, operation],
    sequence: ['', { headers: { 'Waypost-At-Least': '~' } }, operation],
    behind: ['', { headers: { 'Waypost-At-Least': '17' } }, operation],
    method: ['', { method: 'PUT' }, operation],
    fields: ['', { method: 'POST', headers: json, body: '{"lat":"far","tags":[""]}' }, post],
    json: ['', { method: 'POST', headers: json, body: '{bad' }, post],
    type: ['', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' }, post],
  };
  for (const [name, [target, options, of]] of Object.entries(asked)) {
    const reply = await service.get(`/rest/map_data_points/${target}`, options);
    const statuses = Object.keys(of.responses);
    const status = statuses.includes(String(reply.status)) ? String(reply.status) : 'default';
    const example = errorExamples(of, status).find(([key]) => key === name);
    assert.ok(example, `${name}: ${reply.status}`);
    assert.equal(reply.json(), example[1], name);
  }
});

test('the other documented errors are those of the service', () => {
  const errors: Readonly<Record<string, HttpError>> = {
    bytes: pageTooLarge(
      { count: 1000, size: 9_000_000, longest: () => 64_000 } as PageRecords,
      8 * 1024 * 1024,
    ),
    snapshot: otherState('"72f5812cdf281718"', '"0c.9f8c2b7e01d4a653.2"'),
    queries: tooManyQueries(),
    credentials: credentialsMissing(),
    key: keyReused(),
    throttle: throttled(12),
    storage: unavailable('the disk is full'),
    overload: overloaded(),
    internal: internalError(),
    address: new NotFound(),
    admins: new NotFound(),
  };
  for (const [name, { status, body }] of Object.entries(errors)) {
    const { summary, value } = document.components['examples']![name]!;
    assert.equal([Number.parseInt(String(summary), 10), value], [status, body], name);
  }
});

function errorExamples({ responses }: Operation, status: string): [string, unknown][] {
  const { content } = check.resolve(responses[status]) as Response;
  const examples = Object.entries(content!['application/json']!.examples!);
  return examples.map(([name, example]) => [name, exampleValue(example)]);
}

test('HTML pages are answered as the document says', async () => {
  const headers = { Accept: 'text/html', 'Waypost-Timing': '1', 'X-Request-Id': 'page' };
  for (const path of ['', '?page_size=1', '?page_size=~', '?page=999', '1/']) {
    const target = `/rest/map_data_points/${path}`;
    const reply = await service.get(target, { headers });
    assert.match(reply.headers['content-type']!, /^text\/html/, target);
    assert.equal(check.problems('GET', target, reply), [], target);
  }
});

test('OPTIONS is answered as the document says', async () => {
  for (const { path, method, operation } of operations) {
    if (method !== 'options' || path.includes('{')) continue;
    const { content } = check.resolve(operation.responses['200']) as Response;
    const reply = await service.get(path, { method: 'OPTIONS' });
    assert.equal(reply.json(), content!['application/json']!.example, path);
    assert.equal(check.problems('OPTIONS', path, reply), [], path);
  }
});

test("operators' routes are answered as the document says", async () => {
  const admin = { Authorization: 'Bearer secret' };
  const wrong = { Authorization: 'Bearer wrong' };
  for (const path of ['/health/live', '/health/ready', '/metrics']) {
    for (const [headers, status] of [
      [{}, 200],
      [admin, 200],
      [wrong, 401],
    ] as const) {
      const reply = await service.get(path, { headers });
      assert.is(reply.status, status, path);
      assert.equal(check.problems('GET', path, reply), [], `${path} ${status}`);
    }
  }
  const names = ['accept', 'wait'].map((name) => `${name}=true`);
  const path = `/admin/reload?${names.join('&')}`;
  for (const headers of [admin, wrong, {}]) {
    const reply = await service.get(path, { method: 'POST', headers });
    assert.is(reply.status, headers === admin ? 200 : 401);
    assert.equal(check.problems('POST', path, reply), [], String(reply.status));
  }
});

test.run();
