import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { closedLoop } from '../../bench/generators/closed.js';
import { openLoop } from '../../bench/generators/open.js';
import { surveyPlaces } from '../../bench/places.js';
import { makeCases } from '../../bench/query/cases.js';
import { checkCase } from '../../bench/query/check.js';
import { buildRivals, type Rival } from '../../bench/query/rivals.js';
import { loadEngine } from '../../bench/query.js';
import { requestPaths, SCENARIOS, scenarioOf, tileAt, tileBox } from '../../bench/scenarios.js';
import { nativeFile } from '../../bench/support/data.js';
import { ratiosOf, spreadOf } from '../../bench/support/stats.js';
import { generateSnapshot } from '../../src/cli/generate.js';
import type { Dataset } from '../../src/index/dataset.js';
import { AT_ONCE, Budget, EXCEEDED } from '../../src/model/budget.js';
import type { Circle, Query } from '../../src/model/query.js';
import { Engine, type PageRows } from '../../src/query/engine.js';
import { HOSTILE_DATA, hostileDataset } from '../support/hostile-data.js';
import type { Note } from '../support/notes.js';
import { randomQuestion } from '../support/queries.js';
import { startService } from '../support/service.js';
import { listen } from '../support/sockets.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const POINTS = 5_000;
const snapshot = join(makeFolder(), 'points.waypost');

await generateSnapshot({ points: POINTS, seed: 3, out: snapshot, print: () => {} });

test("every scenario's requests are answered with 200, and small boxes hold a page", async () => {
  const service = await startService(['--snapshot', snapshot]);
  const base = `http://127.0.0.1:${service.port}`;
  const places = await surveyPlaces(base, 60, 1);
  assert.is(places.count, POINTS);
  for (const scenario of SCENARIOS) {
    const paths = requestPaths(scenario, places, 25, 1);
    assert.is(new Set(paths).size > (scenario.isFixed ? 0 : 15), true, scenario.name);
    for (const path of paths) {
      const { status, body } = await service.get(path);
      assert.is(status, 200, `${path}: ${body}`);
      if (scenario.name !== 'small-box') continue;
      const { count } = JSON.parse(body.toString()) as { count: number };
      assert.ok(count > 50 && count < 500, `${path}: ${count}`);
    }
  }
  const [one, again] = [1, 1].map((seed) => requestPaths(SCENARIOS[0]!, places, 9, seed));
  assert.equal(one, again);
});

test('a scenario that does not exist is refused with the names of those that do', () => {
  assert.throws(() => scenarioOf('boxes'), /"boxes"; there are tiles, small-box/);
});

test('tiles are numbered as in web maps', () => {
  assert.equal(tileAt(0.001, 0.001, 0), [0, 0]);
  assert.equal(tileAt(60.17, 24.94, 10), [582, 296]);
  assert.is(tileBox(0, 0, 0), '-180.000000,-85.051129,180.000000,85.051129');
  assert.is(tileBox(1, 1, 0), '0.000000,0.000000,180.000000,85.051129');
});

test('spreads, and ratios of neighbouring rounds', () => {
  const spread = spreadOf([4, 2, 6, 8]);
  assert.equal([spread.min, spread.mean, spread.median, spread.max], [2, 5, 5, 8]);
  assert.ok(Math.abs(spread.deviation - 2.582) < 0.001);
  assert.is(spreadOf([3]).deviation, 0);
  assert.throws(() => spreadOf([]), /at least one round/);
  // the second round was twice as fast for both
  assert.is(ratiosOf([10, 20], [20, 40]).deviation, 0);
  assert.is(ratiosOf([10, 20], [20, 40, 99]).median, 0.5);
});

test('an open loop counts from when a request was due, a closed one from when it was sent', async () => {
  const base = await stalling(600);
  const load = { base, paths: ['/'], connections: 2, warmupSeconds: 0, seconds: 1.5 };
  const open = await openLoop({ ...load, rate: 100 });
  assert.is(open.requests, 150);
  assert.equal(open.errors, {});
  // the server paused for a third of the time
  assert.ok(open.latencies.percentiles['75']! > 50, JSON.stringify(open.latencies));
  assert.ok(open.latencies.max > 500);
});

test('a closed loop counts answers by kind', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/bad' ? 404 : 200;
    response.end('abc');
  });
  const base = `http://127.0.0.1:${await listen(server)}`;
  const load = { base, paths: ['/', '/bad'], connections: 2, warmupSeconds: 0, seconds: 0.3 };
  const round = await closedLoop(load);
  assert.ok(round.requests > 10);
  assert.ok(round.errors['status 404']! > 0);
  assert.equal(Object.keys(round.errors), ['status 404']);
  assert.ok(round.bytesPerRequest > 3);
});

test('all rivals of bench/query find what the engine finds, and a wrong one is caught', async () => {
  const engine = await loadEngine(snapshot);
  const rivals = buildRivals(engine.dataset, false);
  const cases = makeCases(engine, 1);
  assert.is(cases.length, 8);
  for (const one of cases) {
    const some = { ...one, filters: one.filters.slice(0, 30) };
    assert.equal(checkCase(engine, some, rivals), []);
  }
  const [scan] = rivals;
  const find: Rival['find'] = (filters) => Array.from(scan!.find(filters)).slice(1);
  const forgetful = { ...scan!, find };
  const [problem] = checkCase(engine, cases[0]!, [forgetful]);
  assert.match(problem!, /box: naive scan finds \d+ instead of \d+ to \d+/);
});

/** A server that answers at once, except in one long pause. */
async function stalling(milliseconds: number): Promise<string> {
  let until = 0;
  let requests = 0;
  const server = createServer(async (_request, response) => {
    if (++requests === 40) until = performance.now() + milliseconds;
    await delay(Math.max(0, until - performance.now()));
    response.end();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** The answer to a question; undefined where it costs more than its budget. */
function atOnce(engine: Engine, query: Query): PageRows | undefined {
  try {
    return engine.run(query, undefined, undefined, new Budget(AT_ONCE));
  } catch (error) {
    if (error === EXCEEDED) return undefined;
    throw error;
  }
}

/** Milliseconds for which a question holds a thread. */
function held(engine: Engine, query: Query): number {
  // other processes inflate wall time, this process's other threads CPU time: the lesser counts
  const began = performance.now();
  const before = process.cpuUsage();
  atOnce(engine, query);
  const { user, system } = process.cpuUsage(before);
  return Math.min(performance.now() - began, (user + system) / 1000);
}

const MANY_POINTS = 200_000;
const QUESTIONS = 500;
/** Milliseconds of CPU: the budget of one takes a slow core 6, reading all points 30. */
const MOST_HELD = 12;
/** Tries: a pause of the machine, or code that V8 has yet to compile, must not be a finding. */
const TIMES = 40;

test('no random question holds a thread for long, not even on hostile data', async () => {
  const generated = await loadEngine(await nativeFile(MANY_POINTS));
  assert.equal(slowQuestions(generated.dataset, []), []);
  for (const { name, circles, times, make } of HOSTILE_DATA) {
    assert.equal(slowQuestions(await hostileDataset(make(MANY_POINTS), times), circles), [], name);
  }
});

/** The random questions that hold a thread for long at every try. */
function slowQuestions(dataset: Dataset, circles: readonly Circle[]): Query[] {
  const engine = new Engine(dataset);
  const notes = notesOf(dataset);
  const asked = Array.from({ length: QUESTIONS }, (_, i): Query => {
    const { filters, ordering, pageOf } = randomQuestion(1, i, notes);
    const circle = filters.circle && circles[i % (2 * circles.length)];
    const all = { filters: circle === undefined ? filters : { ...filters, circle }, ordering };
    // counting without a budget may take half a second
    const first = atOnce(engine, { ...all, page: 1, pageSize: 1 });
    return { ...all, ...pageOf(first?.count ?? dataset.count) };
  });
  const times = Array.from({ length: TIMES });
  return asked.filter((query) => times.every(() => held(engine, query) >= MOST_HELD));
}

/** Places and times of 1,000 points, for questions about them. */
function notesOf({ coords, count, byCreatedAt, byModifiedAt }: Dataset): Note[] {
  return Array.from({ length: 1_000 }, (_, i) => {
    const row = Math.floor((i * count) / 1_000);
    return {
      id: 1,
      lon: coords[2 * row]!,
      lat: coords[2 * row + 1]!,
      created: byCreatedAt.keys[byCreatedAt.ranks[row]!]!,
      modified: byModifiedAt.keys[byModifiedAt.ranks[row]!]!,
    };
  });
}

test.run();
