import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { greatCircle } from '../../bench/support/great-circle.js';
import type { Envelope, Reply } from '../support/client.js';
import { headings, read } from '../support/documents.js';
import { linesOf } from '../support/engine.js';
import { createDocumentCheck, type Piece } from '../support/openapi.js';
import { startOwnService } from '../support/own-service.js';
import { FIXTURE_POINTS, ROOT } from '../support/service.js';
import { ascending, assert, makeFolder, test } from '../support/uvu.js';

/** A request to the original service, and its answer. */
interface RecordedCase {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Null where the body was not JSON. */
    readonly body: unknown;
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Recorded cases that this service answers differently on purpose. */
interface Differences {
  /** The anchor of the reason in `docs/decisions.md`. */
  readonly decision: string;
  /** As `differencesOf` describes it. */
  readonly difference: string;
  /** As `keyOf` names the cases. */
  readonly keys: readonly string[];
}

/** The replay fails for a difference that is not listed here, and for a listed one that is gone. */
const DIFFERENCES = (JSON.parse(read('test/fixtures/differences.json')) as Differences[]).flatMap(
  ({ keys, ...others }) => keys.map((key) => ({ key, ...others })),
);

/** A unique name of a case; `name` alone may be shared. */
function keyOf(name: string, method: string, target: string): string {
  return `${name} | ${method} ${target.replace('/rest/map_data_points/', '')}`.trimEnd();
}

/**
 * How our answer differs from the recorded one, as `what was → is` joined by semicolons; empty
 * when it does not. Where the status differs, nothing else is compared.
 */
function differencesOf(
  { method, target, response: recorded }: RecordedCase,
  reply: Reply,
  points: ReadonlyMap<number, Fields>,
): string {
  const { status } = recorded;
  if (reply.status !== status) return `status ${status} → ${reply.status}`;
  if (status === 201) return acceptedDifferences(recorded.body as Fields, reply);
  const found: string[] = [];
  const note = (what: string, was: unknown, is: unknown): void => {
    if (!isDeepStrictEqual(was, is)) found.push(`${what} ${shown(was)} → ${shown(is)}`);
  };
  const type = mediaType(recorded.headers['content-type']);
  // the body of a redirect does not matter
  if (status !== 301) note('type', type, mediaType(reply.headers['content-type']));
  note('location', recorded.headers['location'], reply.headers.location);
  note('www-authenticate', recorded.headers['www-authenticate'], reply.headers['www-authenticate']);
  if (status === 200 || status === 405) {
    note('allow', recorded.headers['allow'], reply.headers.allow);
  }
  if (method === 'HEAD') {
    note('length', recorded.headers['content-length'], reply.headers['content-length']);
  }
  // pages in HTML are not compared
  if (recorded.body === null || reply.headers['content-type'] !== type) return found.join('; ');

  const body = reply.json();
  if (isList(recorded.body) && isList(body)) {
    note('count', recorded.body.count, body.count);
    note('next', recorded.body.next, body.next);
    note('previous', recorded.body.previous, body.previous);
    note('length', recorded.body.results.length, body.results.length);
    if (found.length === 0) found.push(...orderDifferences(target, recorded.body, body));
    found.push(...valueDifferences(body, points));
  } else if (!isDeepStrictEqual(body, recorded.body)) {
    found.push('body');
  }
  return found.join('; ');
}

/** Fields that depend only on the post and its user. */
const SAID = ['comment', 'lat', 'lon', 'is_processed', 'created_by', 'tags'];

function acceptedDifferences(recorded: Fields, reply: Reply): string {
  const body = reply.json<Fields>();
  const found = SAID.filter((field) => !isDeepStrictEqual(recorded[field], body[field]));
  const path = `/rest/map_data_points/${body['id']}/`;
  if (reply.headers.location?.endsWith(path)) found.push('location');
  return found.join('; ');
}

function orderDifferences(target: string, recorded: Envelope, ours: Envelope): string[] {
  const keyOf = sortKey(target);
  // without an ordering, any page of that length is right
  if (keyOf === undefined) return [];
  const was = recorded.results.map(keyOf);
  const is = ours.results.map(keyOf);
  if (!isDeepStrictEqual(was, is)) return ['order'];
  return isDeepStrictEqual(idsByKey(recorded, was), idsByKey(ours, is)) ? [] : ['ids'];
}

function valueDifferences({ results }: Envelope, points: ReadonlyMap<number, Fields>): string[] {
  const found = new Set<string>();
  for (const record of results) {
    const point = points.get(record['id'] as number);
    if (isDeepStrictEqual(record, point)) continue;
    const isWritten = point !== undefined && isDeepStrictEqual(record, withSixDigits(point));
    found.add(isWritten ? 'six digits' : `record ${record['id']}`);
  }
  return [...found];
}

/** The record with six digits of its seconds, which is the same instant. */
function withSixDigits(record: Fields): Fields {
  const changed: Record<string, unknown> = { ...record };
  for (const field of ['created_at', 'modified_at']) {
    changed[field] = (record[field] as string).replace(/(:\d\d)([+-]\d\d:\d\d)$/, '$1.000000$2');
  }
  return changed;
}

/** Ids of each run of equal keys, sorted within the run. */
function idsByKey({ results }: Envelope, keys: readonly (string | number)[]): number[][] {
  const runs: number[][] = [];
  results.forEach((record, i) => {
    if (i === 0 || keys[i] !== keys[i - 1]) runs.push([]);
    runs.at(-1)!.push(record['id'] as number);
  });
  return runs.map(ascending);
}

/** The sort key of a target's ordering; undefined where there is none. */
function sortKey(target: string): ((record: Fields) => string | number) | undefined {
  const query = new URL(target, 'http://x').searchParams;
  const ordering = query.get('ordering')?.trim();
  if (ordering && /^-?(?:created|modified)_at$/.test(ordering)) {
    const field = ordering.replace('-', '');
    return (record) => withSixDigits(record)[field] as string;
  }
  const coordinates = query.get('coordinates');
  if (!coordinates) return undefined;
  const [lat, lon] = coordinates.split(',').map(Number);
  return (record) =>
    Math.round(greatCircle(lon!, lat!, Number(record['lon']), Number(record['lat'])) * 1e4);
}

function isList(body: unknown): body is Envelope {
  return typeof body === 'object' && body !== null && 'results' in body;
}

function mediaType(header: string | undefined): string | undefined {
  return header?.split(';', 1)[0];
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : String(value);
}

function readLines<Line>(path: string): Line[] {
  return linesOf(readFileSync(path)).map((line) => JSON.parse(line) as Line);
}

const media = makeFolder();
const service = await startOwnService(['--time-zone', 'Europe/Helsinki', '--media', media]);
/** In recorded order: later cases saw what earlier ones had posted. */
const cases = readLines<RecordedCase>(join(ROOT, 'test/fixtures/cases.ndjson'));
/** The points of the original service, by id. */
const points = new Map(readLines<Fields>(FIXTURE_POINTS).map((one) => [Number(one['id']), one]));
const replies = new Map<string, Reply>();
/** `key: difference` of each case that differs. */
const found: string[] = [];

test.before(async () => {
  for (const recorded of cases) {
    const { name, method, target, headers, body } = recorded;
    const reply = await service.get(target, {
      method,
      headers: { Host: 'testserver.example', ...headers },
      ...(body === null ? {} : { body }),
    });
    const key = keyOf(name, method, target);
    assert.not.ok(replies.has(key), `two cases are called ${key}`);
    replies.set(key, reply);
    const difference = differencesOf(recorded, reply, points);
    if (difference !== '') found.push(`${key}: ${difference}`);
  }
});

const listed = DIFFERENCES.map(({ key, difference }) => `${key}: ${difference}`);

test('all cases are answered as recorded, except those listed, which differ as listed', () => {
  assert.ok(replies.size > 350);
  // a listed case that does not differ, or not as listed, is found as well
  assert.equal(found.toSorted(), listed.toSorted());
});

test('every difference has its decision in docs/decisions.md', () => {
  const anchors = headings(read('docs/decisions.md'));
  assert.is(new Set(anchors).size, anchors.length, 'headings differ');
  for (const { decision } of DIFFERENCES) assert.ok(anchors.includes(decision), decision);
});

test('our refusals name the parameter at fault', () => {
  for (const { key } of DIFFERENCES) {
    const reply = replies.get(key)!;
    // errors of a body name its fields
    if (reply.status !== 400 || key.endsWith('| POST')) continue;
    const at = /\?(created_at_\w+|modified_at_\w+|bbox|coordinates|ordering)=/.exec(key)![1]!;
    const parameter = key.startsWith('page_size') ? 'page_size' : at;
    assert.equal(Object.keys(reply.json<object>()), [parameter], key);
  }
});

test('our answers are as the OpenAPI document says', async () => {
  const check = createDocumentCheck((await service.get('/openapi.json')).json<Piece>());
  const checked = new Map<string, number>();
  for (const { name, method, target } of cases) {
    if (check.operation(method, target) === undefined) continue;
    const reply = replies.get(keyOf(name, method, target))!;
    assert.equal(check.problems(method, target, reply), [], `${name}: ${method} ${target}`);
    const kind = `${method} ${reply.status}`;
    checked.set(kind, (checked.get(kind) ?? 0) + 1);
  }
  assert.ok(checked.get('GET 200')! > 200);
  for (const kind of ['GET 400', 'GET 404', 'GET 406', 'HEAD 200', 'OPTIONS 200', 'POST 201']) {
    assert.ok(checked.has(kind), kind);
  }
});

test.run();
