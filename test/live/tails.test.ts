import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDataset } from '../../src/dataset/build.js';
import { countLooks, type Tail, tailLength } from '../../src/dataset/tail.js';
import type { Accepted } from '../../src/live/accepted.js';
import { Cell } from '../../src/live/current.js';
import { foldInThread } from '../../src/live/fold.js';
import { createGeneration, type Generation } from '../../src/live/generation.js';
import { Tails, type TailsOptions } from '../../src/live/tails.js';
import { assertPage } from '../support/compare.js';
import { acceptedMatches, readerOf } from '../support/engine.js';
import { type Note, pointOf, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { until } from '../support/wait.js';

const SEED = 31;
const notes = scatterNotes(SEED, 1_200);

async function generationOf(some: readonly Note[], loadedAt = 0): Promise<Generation> {
  const dataset = await buildDataset(readerOf(some));
  return createGeneration({ dataset, extra: [], digest: `${loadedAt}`, loadedAt });
}

function postsOf(from: number, to: number): Accepted[] {
  return notes.slice(from, to).map((note, i) => ({ sequence: from + i, point: pointOf(note) }));
}

/** Tails of a cell of its own; folds only when asked to, but where `given` says otherwise. */
function start(given: Partial<TailsOptions> = {}) {
  const current = new Cell();
  const errors: unknown[] = [];
  const logger = pino({}, { write: (line: string) => errors.push(JSON.parse(line)) });
  const tails = new Tails({ current, logger, foldRows: Infinity, ...given });
  return { current, tails, errors };
}

/** Serves a generation with posts that wait. */
async function serve(
  tails: Tails,
  generation: Generation,
  posts: readonly Accepted[],
): Promise<void> {
  return tails.serve(generation, await tails.prepare(posts));
}

/** Asserts that questions are answered as of a list of these notes. */
function assertServed({ engine, tail }: Generation, all: readonly Note[], label: string): void {
  const oracle = new Oracle(all);
  for (let index = 0; index < COMBINATIONS; index += 5) {
    const { filters, ordering, pageOf } = randomQuestion(SEED, index, notes);
    const expected = oracle.find(filters, ordering);
    const query = { filters, ordering, ...pageOf(expected.count) };
    const accepted = acceptedMatches(tail!, tailLength(tail!), filters);
    assertPage(engine, query, expected, `${label}: ${JSON.stringify(query)}`, accepted);
  }
}

/** Folds from five points on, and not before `fold` is called. */
function startHeld() {
  let fold = (): void => {};
  const mayFold = new Promise<void>((resolve) => {
    fold = resolve;
  });
  const started = start({
    foldRows: 5,
    fold: (task) => mayFold.then(() => foldInThread(task)),
  });
  return { ...started, fold };
}

test('points are served beside a snapshot, those that waited and those that come', async () => {
  const { current, tails } = start();
  await serve(tails, await generationOf(notes.slice(0, 1_000)), postsOf(1_000, 1_010));
  await tails.append(postsOf(1_010, 1_020));
  assert.is(tails.state.rows, 20);
  assertServed(current.generation, notes.slice(0, 1_020), 'beside');
  // what the tail has passed is in it already
  await tails.append(postsOf(1_015, 1_021));
  assert.is(tails.state.rows, 21);
});

test('a tail is folded in by a thread, and points go on meanwhile', async () => {
  const { current, tails } = start({ foldRows: 100 });
  const first = await generationOf(notes.slice(0, 900));
  await serve(tails, first, postsOf(900, 950));
  const before = current.generation;
  await tails.append(postsOf(950, 1_000));
  let end = 1_000;
  while (tails.state.folds === 0) {
    if (end < notes.length) await tails.append(postsOf(end, ++end));
    assertServed(current.generation, notes.slice(0, end), `until ${end}`);
    await new Promise(setImmediate);
  }
  const { generation } = current;
  assert.is(generation.count, 1_000);
  assert.is(tails.state.rows, end - 1_000);
  assertServed(generation, notes.slice(0, end), 'folded');
  assert.is(generation.tag, before.tag);
  assert.is(generation.lineage, before.lineage);
  assert.is(generation.parts.digest, first.parts.digest);
  assert.is(generation.parts.dataset.report.points, 1_000);
});

test('while threads move to another generation points go to the tails of both', async () => {
  const { current, tails } = start();
  await serve(tails, await generationOf(notes.slice(0, 10)), postsOf(100, 105));
  const { tail } = current.generation;
  let move = (): void => {};
  const moved = new Promise<void>((resolve) => {
    move = resolve;
  });
  const seen: Tail[] = [];
  void current.follow({
    serve: (generation) => {
      seen.push(generation.tail!);
      return moved;
    },
    hear: () => {},
  });
  const serving = serve(tails, await generationOf(notes.slice(0, 20), 1), postsOf(103, 105));
  await until('seen.length === 2', () => seen.length === 2);
  await tails.append(postsOf(105, 107));
  assert.equal(seen.map(tailLength), [7, 4]);
  assert.is(current.generation.tail, tail);
  move();
  await serving;
  await tails.append(postsOf(107, 108));
  assert.equal(seen.map(tailLength), [7, 5], 'the old one is left alone');
  assert.is(current.generation.tail, seen[1]);
});

test('a snapshot that comes during a fold stays, with every point', async () => {
  const { current, tails, fold } = startHeld();
  await serve(tails, await generationOf(notes.slice(0, 500)), postsOf(500, 505));
  await tails.append(postsOf(505, 510));
  await serve(tails, await generationOf(notes.slice(0, 507), 1), postsOf(507, 510));
  fold();
  await until('tails.state.folds > 0', () => tails.state.folds > 0);
  assert.is(current.generation.count, 507);
  assertServed(current.generation, notes.slice(0, 510), 'the snapshot');
});

test('points for which there is no room wait for a fold, in their sequence', async () => {
  const capacity = { rows: 10, bytes: 10_000 };
  const { current, tails } = start({ capacity, foldRows: 8 });
  await serve(tails, await generationOf(notes.slice(0, 100)), []);
  assert.ok(tails.isFull, 'with room for so few');
  await Promise.all(Array.from({ length: 30 }, (_, i) => tails.append(postsOf(100 + i, 101 + i))));
  assertServed(current.generation, notes.slice(0, 130), 'all');
  await until('two folds', () => tails.state.folds >= 2);
});

test('after a fold that failed everything is as before, and it is tried again', async () => {
  let isBroken = true;
  const { current, tails, errors } = start({
    foldRows: 5,
    fold: (task) => (isBroken ? Promise.reject(new Error('no memory')) : foldInThread(task)),
  });
  await serve(tails, await generationOf(notes.slice(0, 50)), postsOf(50, 60));
  await until('tails.state.foldsFailed === 1', () => tails.state.foldsFailed === 1);
  assert.is(errors.length, 1);
  assertServed(current.generation, notes.slice(0, 60), 'not folded');
  isBroken = false;
  await tails.append(postsOf(60, 61));
  await until('tails.state.folds === 1', () => tails.state.folds === 1);
  assert.is(current.generation.count, 61);
  assertServed(current.generation, notes.slice(0, 61), 'folded');
});

test('after a rest the next fold begins without another point', async () => {
  const { current, tails } = start({ foldRows: 5 });
  await serve(tails, await generationOf(notes.slice(0, 50)), postsOf(50, 55));
  await until('a fold', () => tails.state.folds === 1);
  await tails.append(postsOf(55, 61));
  assert.is(tails.state.rows, 6);
  await until('another one', () => tails.state.folds === 2);
  assertServed(current.generation, notes.slice(0, 61), 'folded twice');
});

test('points that came during a fold are folded in without another point', async () => {
  const { current, tails, fold } = startHeld();
  await serve(tails, await generationOf(notes.slice(0, 50)), postsOf(50, 55));
  await tails.append(postsOf(55, 61));
  fold();
  await until('both folds', () => tails.state.folds === 2);
  assertServed(current.generation, notes.slice(0, 61), 'folded twice');
});

test('queries that have cost as much as a fold bring it forward, and so do many points', async () => {
  let begun = 0;
  const { current, tails } = start({
    foldRows: 3,
    fold(task) {
      begun++;
      return foldInThread(task);
    },
  });
  await serve(tails, await generationOf(notes.slice(0, 1_000)), postsOf(1_000, 1_002));
  countLooks(current.generation.tail!, 600_000);
  assert.is(begun, 0, 'two rows are not worth a fold');
  await tails.append(postsOf(1_002, 1_003));
  assert.is(begun, 1);
  await until('a fold', () => tails.state.folds === 1);

  await tails.append(postsOf(1_003, 1_018));
  countLooks(current.generation.tail!, 400_000);
  await tails.append(postsOf(1_018, 1_018));
  assert.is(begun, 1, 'a fold takes 500 looks for each of 1,003 points');
  // no post tells of these
  countLooks(current.generation.tail!, 200_000);
  await until('another one', () => tails.state.folds === 2);

  await tails.append(postsOf(1_018, 1_033));
  assert.is(begun, 2, '15 rows are less than a 64th');
  await tails.append(postsOf(1_033, 1_034));
  await until('a third one', () => tails.state.folds === 3);
  assertServed(current.generation, notes.slice(0, 1_034), 'folded three times');
});

test('many posts that wait are made ready in several turns', async () => {
  const { tails } = start();
  const some = postsOf(0, notes.length);
  const posts = Array.from({ length: 10 }, (_, i) =>
    some.map((post) => ({ ...post, sequence: post.sequence + i * some.length })),
  );
  let first: unknown;
  void tails.prepare(posts.flat()).then((made) => {
    first = made;
  });
  let turns = 0;
  for (; first === undefined; turns++) await new Promise(setImmediate);
  assert.ok(turns > 5, `${turns} turns`);
});

test('the tag names the points that waited, so that two states never share it', async () => {
  const tags = await Promise.all(
    [[], postsOf(10, 12), postsOf(11, 12)].map(async (posts) => {
      const { current, tails } = start();
      await serve(tails, await generationOf(notes.slice(0, 5)), posts);
      return current.generation.tag;
    }),
  );
  assert.is(new Set(tags).size, 3);
  assert.is(tags[0], (await generationOf(notes.slice(0, 5))).tag);
});

test.run();
