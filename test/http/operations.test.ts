import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { LATENCY_BOUNDS, RequestStats } from '../../src/http/answer/context.js';
import { createServiceMetrics } from '../../src/http/metrics.js';
import { PostStats } from '../../src/posts/posts.js';
import { Cell } from '../../src/reload/current.js';
import { ReloadStats } from '../../src/reload/stats.js';
import { startNotes } from '../support/app.js';
import type { Reply } from '../support/client.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { metricsOf, type Ready, readyOf } from '../support/operating.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { logged, ROOT } from '../support/service.js';
import { assert, makeFile, test, until } from '../support/uvu.js';

const LIST = '/rest/map_data_points/?page_size=1';
const VERSION = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
const MANUAL = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const ADMIN = { Authorization: 'Bearer secret' };
/** Longer than the second after which a process reports its delay. */
const STOP_MS = 1_100;

const snapshot = makeFile(markedLines(1, 400));
const plain = await startOwnService();
const open = await startOwnService([
  ...['--access-log', '100', '--trust-proxy', '--admin-token', 'secret'],
  ...['--snapshot', snapshot, '--settle', '0'],
]);

test('/health/live says that the service lives, /health/ready what it serves', async () => {
  const live = await plain.get('/health/live');
  assert.equal([live.status, live.json()], [200, { status: 'live' }]);
  const ready = await readyOf(plain);
  const { status, version, points, stale, reason } = ready;
  assert.equal([status, points, stale, reason], ['ready', 3_000, false, undefined]);
  assert.is(version, VERSION);
  assert.is((await metricsOf(plain)).value('waypost_build_info', { version }), 1);
  const { etag } = (await plain.get(LIST)).headers;
  assert.ok(etag?.includes(ready.snapshot), 'the name of the snapshot is that of the validators');
});

test('no cache keeps what operators look at, nor a redirect or the viewer unseen', async () => {
  const expected = { '/health/live': 'no-store', '/metrics': 'no-store', '/': 'no-cache' };
  for (const [path, caching] of Object.entries({ ...expected, '/docs/': 'no-cache' })) {
    assert.is((await plain.get(path)).headers['cache-control'], caching, path);
  }
});

test('/metrics counts requests by route, status and representation', async () => {
  const before = await metricsOf(plain);
  const name = 'waypost_http_requests_total';
  const json = { route: 'points', status: '200', representation: 'json' };
  const html = { ...json, representation: 'html' };
  const latency = 'waypost_http_request_duration_seconds';
  const count = before.value(`${latency}_count`, { route: 'points' });
  for (let i = 0; i < 3; i++) await plain.get(`${LIST}&format=json`);
  await plain.get(`${LIST}&format=api`);
  await plain.get('/rest/map_data_points/999999999/');
  const after = await metricsOf(plain);
  const known = before.samples.some(({ labels }) => labels['representation'] === 'json');
  assert.is(after.value(name, json), (known ? before.value(name, json) : 0) + 3);
  assert.is(after.value(name, html), 1);
  assert.is(after.value(`${latency}_count`, { route: 'points' }), count + 4);
  const buckets = after.samples.filter(
    (one) => one.name === `${latency}_bucket` && one.labels['route'] === 'points',
  );
  assert.is(buckets.at(-1)!.labels['le'], '+Inf');
  assert.is(buckets.at(-1)!.value, count + 4);
  assert.ok(buckets.every(({ value }, i) => i === 0 || value >= buckets[i - 1]!.value));
  assert.is(after.value('waypost_points'), 3_000);
  assert.ok(after.value('waypost_answer_cache_hits_total') >= 1);
  const age = after.value('waypost_snapshot_age_seconds');
  const made = after.value('waypost_snapshot_timestamp_seconds');
  assert.ok(Math.abs(Date.now() / 1000 - made - age) < 60);
});

test('names of metrics keep to the rules of Prometheus', async () => {
  const { types, samples, text } = await metricsOf(plain);
  assert.ok(types.has('process_resident_memory_bytes') && types.has('nodejs_version_info'));
  const helped = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name));
  for (const [name, type] of types) {
    assert.ok(helped.has(name), `${name} is explained`);
    assert.is(name.endsWith('_total'), type === 'counter', `only counters end in _total: ${name}`);
    if (type !== 'histogram') assert.not.match(name, /_(?:bucket|count|sum)$/);
    assert.not.match(name, /_(?:counter|gauge|histogram|summary)(?:_|$)/, 'no type in the name');
    assert.match(name, /^[a-z][a-z0-9_]*$/);
    assert.not.match(
      name,
      /_(?:(?:milli|micro|nano)seconds?|ms|minutes?|hours?|days?|(?:kilo|mega|kibi|mebi)?bytes?_?[kmg]b|kb|mb|kilobytes|megabytes|bits|percent)(?:_|$)/,
      'base units only',
    );
  }
  for (const { name, labels } of samples) {
    const isBucket = types.get(name.replace(/_bucket$/, '')) === 'histogram';
    assert.is('le' in labels, isBucket && name.endsWith('_bucket'), name);
  }
});

test('a valid request id is kept, any other is replaced', async () => {
  const idFor = async (given: string, path = '/health/live'): Promise<unknown> =>
    (await plain.get(path, { headers: { 'X-Request-Id': given } })).headers['x-request-id'];
  for (const path of ['/health/live', LIST, '/nowhere']) {
    assert.is(await idFor('load-balancer:7/a', path), 'load-balancer:7/a');
    const bad = ['no "good" id', 'x'.repeat(129), '<b>"'];
    const made = await Promise.all(bad.map((given) => idFor(given, path)));
    for (const id of made) {
      assert.match(String(id), /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
      const isTold = String(id).includes(String(process.pid));
      assert.not(isTold, 'nothing about the process that made it');
    }
    assert.is.not(made[0], made[1]);
  }
});

test('--access-log logs every request at 100, none at 0, and a share between', async () => {
  const requests = (service: Pick<OwnService, 'logs'>) => logged(service, 'request');
  const all = open;
  const some: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => some.push(JSON.parse(line)) });
  const { parse } = SERVE_SETTINGS.find(({ flag }) => flag.startsWith('--access-log '))!;
  const half = await startNotes([], { accessLog: Number(parse!('50')), logger });
  for (let i = 0; i < 100; i++) await half.get(LIST);
  for (let i = 0; i < 10; i++) {
    await plain.get(LIST);
    await all.get(LIST, { headers: { 'X-Request-Id': `id-${i}` } });
  }
  await until('all are logged', () => requests(all).length === 10);
  const { reqId, method, url, status, seconds } = requests(all)[7]!;
  assert.equal([reqId, method, url, status, typeof seconds], ['id-7', 'GET', LIST, 200, 'number']);
  assert.is(requests(plain).length, 0);
  const share = requests({ logs: some }).length;
  assert.ok(share > 15 && share < 85, `${share} of 100`);
});

test('/admin/reload reloads for clients with the admin token', async () => {
  const post = (service: OwnService, authorization = '', query = ''): Promise<Reply> => {
    const headers = authorization === '' ? {} : { authorization };
    return service.get(`/admin/reload${query}`, { method: 'POST', headers });
  };
  assert.is((await post(plain, 'Bearer ')).status, 404, 'none without a token');
  const wrong = ['', 'Bearer wrong', 'Bearer', 'secret', 'Basic secret', 'Bearer secre'];
  for (const header of wrong) {
    const refused = await post(open, header);
    const reason = header === 'Bearer' ? ' header. No credentials provided.' : '.';
    const detail = `Invalid token${reason}`;
    assert.equal([refused.status, refused.json()], [401, { detail }], header);
    assert.is(refused.headers['www-authenticate'], 'Bearer');
  }
  for (const header of ['Bearer secret', 'token secret']) {
    const done = await post(open, header, '?accept&wait');
    assert.equal([done.status, done.json<{ points: number }>().points], [200, 400]);
    assert.is(done.headers['cache-control'], 'no-store');
    assert.is((await post(open, header)).status, 202, 'under way');
  }
  assert.is((await open.get('/admin/reload')).status, 404);
  const odd = await post(open, 'Bearer secret', '?accept=no&wait');
  assert.equal([odd.status, odd.json()], [400, { accept: ['Got "no". Expected true or false.'] }]);
  assert.is((await post(open, 'Bearer secret', '?accept=false&wait=true')).status, 200);
});

test('a latency counts in the first bucket whose bound it does not exceed', () => {
  for (const [index, bound] of LATENCY_BOUNDS.entries()) {
    const stats = new RequestStats();
    const observe = stats.route('points');
    observe(200, 'json', bound);
    observe(200, 'json', bound * 1.001);
    const buckets = Array.from(stats.latencies.get('points')!.buckets);
    assert.is(buckets.length, LATENCY_BOUNDS.length + 1, 'one above the last bound');
    assert.is(buckets[index], 1, `exactly ${bound} s`);
    assert.is(buckets[index + 1], 1, `more than ${bound} s`);
  }
  const stats = new RequestStats();
  stats.route('points')(200, 'json', 3_600);
  const { buckets, seconds } = stats.latencies.get('points')!;
  assert.equal([buckets.at(-1), seconds], [1, 3_600]);
});

test('names of files are told only with the admin token', async () => {
  const service = open;
  replaceFile(snapshot, markedLines(2, 30_000));
  let building: Ready['building'];
  await until('it is being built', async () => {
    building = (await readyOf(service)).building;
    return building !== undefined;
  });
  assert.equal([building!.path, Object.keys(building!).length], [undefined, 3]);
  assert.ok(Math.abs(Date.now() - Date.parse(building!.since)) < 60_000);
  const asked = await service.get('/admin/reload', { method: 'POST', headers: ADMIN });
  const told = asked.json<Ready>();
  assert.equal([asked.status, asked.headers.location], [202, '/health/ready']);
  assert.equal([told.building!.path, told.building!.since], [snapshot, building!.since]);
  assert.ok((await metricsOf(service)).value('waypost_building_seconds') >= 0);
  replaceFile(snapshot, 'garbage\n');
  await until('it is refused', async () => (await readyOf(service)).stale);
  const stranger = await readyOf(service);
  assert.equal([stranger.reason, typeof stranger.since], [undefined, 'string']);
  assert.not.match(JSON.stringify(stranger), snapshot);
  const refused = await readyOf(service, ADMIN);
  assert.match(refused.reason!, snapshot);
  // docs/operations.md shows an answer with every field
  const shown = JSON.parse(/^\{"status":"ready".*?\}\}$/ms.exec(MANUAL)![0]) as Ready;
  assert.equal(Object.keys(shown), [...Object.keys(refused), 'building']);
  assert.equal(Object.keys(shown.building!), Object.keys(told.building!));
});

test('frequent requests for metrics share a collection', async () => {
  let collected = 0;
  const metrics = createServiceMetrics(
    new Cell(),
    new ReloadStats(),
    { behind: 0 },
    new PostStats(),
    { open: 0, oldGenerations: 0, outcomes: {} },
  );
  metrics.add(async () => {
    collected++;
    return [];
  });
  metrics.registry.clear();
  const began = performance.now();
  await Promise.all(Array.from({ length: 50 }, metrics.text));
  await metrics.text();
  assert.is(collected, 2);
  assert.ok(performance.now() - began >= 99);
});

test('an overloaded process turns requests away, but not those for its health', async () => {
  const service = await startOwnService(['--max-loop-delay', '100ms']);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  let turned = await service.get(LIST);
  await until('requests are turned away', async () => {
    // the delay is measured over a second: the first stop ends one measurement, and the second stop
    // is all of the next
    Atomics.wait(nothing, 0, 0, STOP_MS);
    turned = await service.get(LIST);
    return turned.status === 503;
  });
  assert.is(turned.headers['retry-after'], '1');
  assert.match(turned.json<{ detail: string }>().detail, /overloaded/);
  for (const path of ['/health/live', '/health/ready', '/metrics']) {
    assert.is((await service.get(path)).status, 200, path);
  }
  await until('it serves again', async () => (await service.get(LIST)).status === 200);
});

test.run();
