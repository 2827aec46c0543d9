import { pino } from 'pino';
import { type Delta, deltaLength, lastSequence } from '../../src/index/delta.js';
import { Cell, type Generation } from '../../src/reload/current.js';
import { Deltas, type DeltasOptions } from '../../src/reload/deltas.js';
import { createMerger } from '../../src/reload/merge.js';
import { assertQuestion } from '../support/compare.js';
import { acceptedOf, append, generationOf, serve } from '../support/engine.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, test, until } from '../support/uvu.js';
import { gate } from '../support/wait.js';

const SEED = 31;
/** The thread that all tests share. */
const mergeInThread = createMerger();
const notes = scatterNotes(SEED, 1_200);
const postsOf = (from: number, to: number) => acceptedOf(notes.slice(from, to), from);
const snapshotOf = (count: number, loadedAt = 0) =>
  generationOf(notes.slice(0, count), { loadedAt });

/** Room for `rows` points; half of them start a merge. */
const roomFor = (rows: number) => ({ capacity: { rows, bytes: 1_000_000 } });

/** Deltas over a cell of their own; too large for a merge unless `given` says otherwise. */
function startDeltas(given: Partial<DeltasOptions> = {}) {
  const current = new Cell();
  const errors: unknown[] = [];
  const logger = pino({}, { write: (line: string) => errors.push(JSON.parse(line)) });
  return { current, deltas: new Deltas({ current, logger, ...given }), errors };
}

/** Asserts that questions are answered as of a list of these notes. */
function assertServed({ engine, delta }: Generation, all: readonly Note[], label: string): void {
  const oracle = new Oracle(all);
  for (let index = 0; index < COMBINATIONS; index += 5) {
    assertQuestion({ engine, oracle, delta }, randomQuestion(SEED, index, notes), label);
  }
}

/** Serves the first `count` notes, and those up to `to` as posts beside them. */
async function start(count: number, to: number, given: Partial<DeltasOptions> = {}) {
  const started = startDeltas({ merge: mergeInThread, ...given });
  await serve(started.deltas, await snapshotOf(count), postsOf(count, to));
  return started;
}

/** Merges from five points on; the first time not before `merge` is called. */
async function startHeld(count: number, given: Partial<DeltasOptions> = {}) {
  const first = gate();
  let isFirst = true;
  const started = await start(count, count, {
    ...roomFor(10),
    async merge(...task) {
      const isHeld = isFirst;
      isFirst = false;
      if (isHeld) await first.opened;
      return mergeInThread(...task);
    },
    ...given,
  });
  return { ...started, merge: first.open };
}

/** Merges, and says how many points each time. */
async function startCounted(rows: number, count: number, to: number) {
  const merged: number[] = [];
  const started = await start(count, to, {
    ...roomFor(rows),
    merge(...task) {
      merged.push(task[2]);
      return mergeInThread(...task);
    },
  });
  return { ...started, merged };
}

test('points are served beside a snapshot, those that waited and those that come', async () => {
  const { current, deltas } = await start(1_000, 1_010);
  await append(deltas, postsOf(1_010, 1_020));
  assert.is(deltas.state.rows, 20);
  assertServed(current.generation, notes.slice(0, 1_020), 'beside');
  // what the delta has passed is in it already
  await append(deltas, postsOf(1_015, 1_021));
  assert.is(deltas.state.rows, 21);
});

test('a delta is merged by a thread, and points go on meanwhile', async () => {
  const { current, deltas } = await start(900, 905, roomFor(200));
  const before = current.generation;
  await append(deltas, postsOf(905, 1_000));
  let end = 1_000;
  while (deltas.state.merges === 0) {
    if (end < notes.length) await append(deltas, postsOf(end, ++end));
    assertServed(current.generation, notes.slice(0, end), `until ${end}`);
    await new Promise(setImmediate);
  }
  const { generation } = current;
  assert.is(generation.parts.dataset.count, 1_000);
  assert.is(deltas.state.rows, end - 1_000);
  assertServed(generation, notes.slice(0, end), 'merged');
  assert.is(generation.tag, before.tag);
  assert.match(generation.state().name, `..${(end - 1).toString(36)}`);
  assert.is(generation.parts.digest, before.parts.digest);
});

test('while threads move to another generation points go to the deltas of both', async () => {
  const { current, deltas } = startDeltas();
  await serve(deltas, await snapshotOf(10), postsOf(100, 105));
  const { delta } = current.generation;
  const moved = gate();
  const seen: Delta[] = [];
  void current.follow({
    serve: (generation) => {
      seen.push(generation.delta!);
      return moved.opened;
    },
    hear: () => {},
  });
  const serving = serve(deltas, await snapshotOf(20, 1), postsOf(103, 105));
  await until('both were served', () => seen.length === 2);
  const late: Delta[] = [];
  await current.follow({ serve: async ({ delta }) => void late.push(delta!), hear: () => {} });
  assert.ok(late[0] === seen[1], 'whoever comes now begins with the new one');
  await append(deltas, postsOf(105, 107));
  assert.equal(seen.map(deltaLength), [7, 4]);
  assert.is(current.generation.delta, delta);
  moved.open();
  await serving;
  await append(deltas, postsOf(107, 108));
  assert.equal(seen.map(deltaLength), [7, 5], 'the old one is left alone');
  assert.is(current.generation.delta, seen[1]);
});

test('a snapshot that comes during a merge stays, with every point', async () => {
  const { current, deltas, merge } = await startHeld(500);
  await append(deltas, postsOf(500, 505));
  await append(deltas, postsOf(505, 510));
  await serve(deltas, await snapshotOf(507, 1), postsOf(507, 510));
  merge();
  await until('a merge', () => deltas.state.merges > 0);
  assert.is(current.generation.parts.loadedAt, 1);
  assertServed(current.generation, notes.slice(0, 510), 'the snapshot');
});

test('whoever asks for room waits for a merge, in the sequence of those who ask', async () => {
  const { current, deltas, merge } = await startHeld(100);
  await append(deltas, postsOf(100, 110));
  const came: number[] = [];
  const appended = Array.from({ length: 30 }, async (_, i) => {
    await append(deltas, postsOf(110 + i, 111 + i));
    came.push(i);
  });
  merge();
  await Promise.all(appended);
  assert.equal(came, [...came.keys()]);
  assert.ok(deltas.state.merges >= 3, `${deltas.state.merges} merges`);
  assertServed(current.generation, notes.slice(0, 140), 'all');
  assert.is(deltas.state.problem, undefined);
});

test('room that is reserved is there when it is used, also beside another generation', async () => {
  const { current, deltas, merge } = await startHeld(100, { patienceMs: 1 });
  const first = await deltas.reserve(10, 10_000);
  assert.is(await deltas.reserve(1, 1), undefined, 'all of it is reserved');
  await serve(deltas, await snapshotOf(104, 1), []);
  deltas.append(postsOf(104, 114));
  first!();
  merge();
  await until('all is merged', () => deltas.state.rows === 0);
  const second = await deltas.reserve(10, 10_000);
  second!();
  second!();
  const third = await deltas.reserve(10, 10_000);
  assert.is(await deltas.reserve(1, 1), undefined, 'given back once');
  deltas.append(postsOf(114, 124));
  third!();
  assertServed(current.generation, notes.slice(0, 124), 'all');
});

test('whoever waits for a snapshot has as long for room as others have', async () => {
  const patienceMs = 300;
  const { current, deltas } = await startHeld(100, { patienceMs });
  await append(deltas, postsOf(100, 110));
  const beginning = deltas.begin((await snapshotOf(110, 1)).parts);
  const serving = gate();
  void current.follow({ serve: () => serving.opened, hear() {} });
  let asked: Promise<unknown> | undefined;
  await deltas.exclusively(async () => {
    const since = performance.now();
    asked = deltas.reserve(1, 1);
    await until('it has waited', () => performance.now() > since + patienceMs);
    return deltas.serve(beginning, 110);
  });
  setImmediate(serving.open);
  assert.ok(await asked);
});

test('without a merge in time there is no room, and the state says why', async () => {
  const { deltas, merge } = await startHeld(100, { patienceMs: 20 });
  assert.is(await deltas.reserve(11, 1), undefined, 'there is never so much');
  assert.is(await deltas.reserve(1, 1_000_001), undefined, 'nor so much');
  assert.is(deltas.state.problem, undefined);
  await append(deltas, postsOf(100, 110));
  assert.is(await deltas.reserve(1, 1), undefined);
  assert.match(deltas.state.problem!, /faster than/);
  merge();
  await until('a merge', () => deltas.state.merges === 1);
  assert.ok(await deltas.reserve(1, 1));
  assert.is(deltas.state.problem, undefined);
});

test('few large points are merged as many small ones are', async () => {
  const capacity = { rows: 1_000, bytes: 10_000 };
  const { current, deltas } = await start(100, 100, { capacity });
  for (let i = 100; i < 200; i++) await append(deltas, postsOf(i, i + 1));
  const { merges, rows, bytes } = deltas.state;
  assert.ok(merges >= 2 && rows < 100 && bytes <= 10_000, JSON.stringify(deltas.state));
  assertServed(current.generation, notes.slice(0, 200), 'all');
});

test('after a merge that failed everything is as before, and it is tried again', async () => {
  let isBroken = true;
  const { current, deltas, errors } = await start(50, 50, {
    ...roomFor(10),
    patienceMs: 1,
    retryMs: 50,
    merge: (...task) =>
      isBroken ? Promise.reject(new Error('no memory')) : mergeInThread(...task),
  });
  await append(deltas, postsOf(50, 60));
  await until('a failure', () => deltas.state.mergesFailed > 0);
  assert.is(errors.length, deltas.state.mergesFailed);
  assertServed(current.generation, notes.slice(0, 60), 'not merged');
  assert.is(await deltas.reserve(1, 1), undefined);
  assert.match(deltas.state.problem!, /no memory/);
  isBroken = false;
  await until('a merge', () => deltas.state.merges === 1);
  assert.is(current.generation.parts.dataset.count, 60);
  await append(deltas, postsOf(60, 61));
  assert.is(deltas.state.problem, undefined);
  assertServed(current.generation, notes.slice(0, 61), 'merged');
});

test('points that came during a merge are merged without another point', async () => {
  const { current, deltas, merge } = await startHeld(50);
  await append(deltas, postsOf(50, 55));
  await append(deltas, postsOf(55, 60));
  merge();
  await until('both merges', () => deltas.state.merges === 2);
  assertServed(current.generation, notes.slice(0, 60), 'merged twice');
});

test('a few points are merged too, but only once merges have rested', async () => {
  const { current, deltas, merged } = await startCounted(160, 50, 59);
  assert.is(merged.length, 0, 'nine rows are too few');
  await append(deltas, postsOf(59, 60));
  await until('a merge', () => deltas.state.merges === 1);
  await append(deltas, postsOf(60, 139));
  assert.is(merged.length, 1, 'it rests');
  await append(deltas, postsOf(139, 140));
  assert.is(merged.length, 2, 'half of the room');
  await until('another one', () => deltas.state.merges === 2);
  assertServed(current.generation, notes.slice(0, 140), 'merged twice');
});

test('a state is named by the snapshot and the last sequence, with no row as well', async () => {
  const { current, deltas } = await start(50, 50, roomFor(80));
  await append(deltas, postsOf(50, 54));
  const last = (): number => {
    const { delta } = current.generation;
    return lastSequence(delta!, deltaLength(delta!));
  };
  assert.is(last(), 53);
  const { tag } = current.generation;
  assert.is(current.generation.state().name, `${tag}..1h`);
  await append(deltas, postsOf(54, 55));
  // a 16th of the room is used, enough for a merge; one row less was too few
  const { name, lastModified } = current.generation.state();
  assert.is(name, `${tag}..1i`);
  await until('all is merged', () => deltas.state.rows === 0);
  assert.is(current.generation.delta!.base, 54);
  assert.is(last(), 54);
  assert.equal(current.generation.state(), { name, lastModified, snapshot: tag, length: 0 });
});

test('many posts that wait are merged before they are served, and few beside each other', async () => {
  const { current, deltas, merged } = await startCounted(64, 100, 103);
  const snapshot = await snapshotOf(100);
  const state = (): string => `${current.generation.parts.dataset.count} and ${deltas.state.rows}`;
  assert.equal([merged.join(), state()], ['', '100 and 3'], 'three are few');
  await serve(deltas, snapshot, postsOf(100, 104));
  assert.equal([merged.join(), state()], ['4', '104 and 0'], 'four are not');
  assert.is(current.generation.delta!.base, 103);
  assertServed(current.generation, notes.slice(0, 104), 'four');

  // no more than four deltas at once
  merged.length = 0;
  await serve(deltas, snapshot, postsOf(100, 614));
  assert.equal([merged.join(), state()], ['256,256', '612 and 2'], 'the last ones are few');
  await append(deltas, postsOf(614, 615));
  assertServed(current.generation, notes.slice(0, 615), 'all');
  await serve(deltas, snapshot, postsOf(100, 700));
  assert.equal([merged.slice(2).join(), state()], ['256,256,88', '700 and 0']);
});

test.run();
