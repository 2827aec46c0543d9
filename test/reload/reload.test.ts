import { chmodSync, existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { mergeDataset } from '../../src/index/merge-dataset.js';
import { createBuilder } from '../../src/reload/build.js';
import { type Cell, createGeneration, type Generation } from '../../src/reload/current.js';
import { deltaOf } from '../support/engine.js';
import { countOf, markedLines, markedNative, replaceFile } from '../support/marked.js';
import { scatterNotes } from '../support/notes.js';
import { startReloading } from '../support/reloading.js';
import { assert, makeFile, test, testUnless, until } from '../support/uvu.js';
import { gate } from '../support/wait.js';

test('a new file is served, of whatever format, and heard of before', async () => {
  const points: number[] = [];
  const onLoaded = ({ parts }: Generation): void => void points.push(parts.dataset.count);
  const { current, put, outcomes, served } = await startReloading({ inThread: true, onLoaded });
  assert.equal(served(), [1, countOf(1)]);
  const { tag } = current.generation;
  await put(markedNative(2));
  assert.equal(served(), [2, countOf(2)]);
  assert.is.not(current.generation.tag, tag);
  assert.equal(outcomes, ['loaded', 'loaded']);
  assert.equal(points, [countOf(1), countOf(2)]);
});

const THREADS = '/proc/self/task';

/** The highest nice value of the threads that begin while `work` is done. */
async function mostNice(work: () => Promise<unknown>): Promise<number> {
  // those of earlier tests may be nice
  const before = new Set(readdirSync(THREADS));
  let most = getPriority();
  let isOver = false;
  void work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const thread of readdirSync(THREADS)) {
      if (before.has(thread)) continue;
      try {
        most = Math.max(most, getPriority(Number(thread)));
      } catch {
        // it has ended
      }
    }
    await delay(1);
  }
  return most;
}

const hasThreads = existsSync(THREADS);
const unfit = hasThreads && getPriority() === 0 ? undefined : 'no /proc, or a low priority itself';
testUnless(unfit, 'all builds but the first give way to requests', async () => {
  const path = makeFile(markedLines(1, 5_000));
  const build = createBuilder({ maxInvalid: 0 });
  assert.is(await mostNice(() => build({ path, isFirst: true })), getPriority());
  for (const unless of ['another', undefined]) {
    assert.is(await mostNice(() => build({ path, unless })), 10);
  }
});

test('a file that was touched, or written again as it was, is no new one, also after another', async () => {
  const { path, current, look, put, outcomes, builds } = await startReloading();
  const { generation } = current;
  utimesSync(path, 1_000, 1_000);
  await look();
  await put(1);
  assert.is(current.generation, generation);
  assert.equal(outcomes, ['loaded', 'unchanged', 'unchanged']);

  // what is known to be the same is not even read
  await look();
  assert.is(builds.begun, 3);

  await put('garbage\n');
  assert.ok(current.stale);
  await put(1);
  assert.is(current.stale, undefined);
  assert.equal(outcomes.slice(3), ['failed', 'unchanged']);
});

test('a bad file leaves the old data, is logged once, and the next good one clears it', async () => {
  const reloading = await startReloading({ retryMs: 1 });
  const { path, current, look, lookFor, put, outcomes, logs, builds, served, errors } = reloading;
  const before = Date.now();
  replaceFile(path, markedNative(2).subarray(0, 5_000));
  for (let looks = 0; looks < 4; looks++) await lookFor(1);
  assert.equal(outcomes, ['loaded', 'failed']);
  assert.is(builds.begun, 2, 'a file that failed is not tried again as long as it stays the same');
  assert.is(errors().length, 1);
  assert.match(current.stale!.reason, path);
  assert.ok(current.stale!.since >= before && current.stale!.since <= Date.now());
  await look('accept');
  assert.is(builds.begun, 3, 'unless somebody says so');

  const { since } = current.stale!;
  await put('garbage\n');
  assert.is(errors().length, 2, 'another failure is another line');
  assert.is(current.stale!.since, since, 'it has been stale since the first');

  await put(3);
  assert.equal(served(), [3, countOf(3)]);
  assert.is(current.stale, undefined);
  assert.ok(logs.some(({ msg }) => msg === 'the newest snapshot is served'));
});

test('a snapshot that lost too many points is held back until accepted', async () => {
  const { path, current, look, put, outcomes, served, errors } = await startReloading();
  await put(markedLines(2, 201));
  assert.equal(served(), [2, 201], 'a loss of just half passes');
  replaceFile(path, markedLines(3, 100));
  for (let looks = 0; looks < 2; looks++) await look();
  assert.equal(served(), [2, 201]);
  assert.equal(outcomes, ['loaded', 'loaded', 'held_back']);
  assert.match(current.stale!.reason, /100 points where 201 are served.* more than 50 %/);
  assert.is(errors().length, 1);

  await look('accept');
  assert.equal(served(), [3, 100]);
  assert.is(current.stale, undefined);

  await put(markedLines(4, 40));
  assert.equal(served(), [3, 100], 'one loss was accepted, not the next');
  assert.is(outcomes.at(-1), 'held_back');
});

test('posts that became part of the data are no points that a new snapshot has lost', async () => {
  const { current, put, served } = await startReloading({ path: makeFile(markedLines(1, 100)) });
  const { parts } = current.generation;
  const posts = scatterNotes(1, 200).map((note, i) => ({ ...note, id: 1_000 + i }));
  const dataset = mergeDataset(parts.dataset, deltaOf(posts), posts.length);
  await (current as Cell).publish(createGeneration({ ...parts, dataset }));
  assert.is(current.generation.parts.dataset.count, 300);
  await put(markedLines(2, 60));
  assert.equal(served(), [2, 60]);
});

test('events during a build mean one more look and never two builds at once', async () => {
  const begun = gate();
  let isFirst = true;
  const { path, look, builds, served } = await startReloading({
    build: async (real, ...task) => {
      if (!isFirst) begun.open();
      isFirst = false;
      return real(...task);
    },
  });
  replaceFile(path, markedLines(2));
  const first = look();
  await begun.opened;
  replaceFile(path, markedLines(3));
  const others = Array.from({ length: 50 }, () => look());
  await Promise.all([first, ...others]);
  assert.equal(served(), [3, countOf(3)]);
  assert.is(builds.most, 1);
  assert.is(builds.begun, 3, 'fifty events, one more build');
});

for (const moment of ['before', 'behind']) {
  test(`a file written into while it is built, ${moment} its last byte was read, is built again`, async () => {
    let isWritten = false;
    const { path, current, put, outcomes, served, errors } = await startReloading({
      async build(real, ...task) {
        const write = (now: string): void => {
          if (task[0].unless === undefined || isWritten || now !== moment) return;
          isWritten = true;
          assert.is(current.building!.path, path);
          writeFileSync(path, markedLines(3));
        };
        write('before');
        const result = await real(...task);
        write('behind');
        return result;
      },
    });
    await put(2);
    assert.equal([served(), current.building], [[3, countOf(3)], undefined]);
    assert.equal(outcomes, ['loaded', 'abandoned', 'loaded'], 'it was neither good nor bad');
    assert.equal(errors(), []);
  });
}

test('a file that another is moved over while it is read was read whole', async () => {
  const loaded: number[] = [];
  const { path, lookFor, put } = await startReloading({
    onLoaded: ({ parts }) => void loaded.push(parts.dataset.count),
    build: async (real, ...task) => {
      const result = await real(...task);
      if (loaded.length === 1) replaceFile(path, markedLines(3));
      return result;
    },
  });
  await put(2);
  await lookFor(3);
  assert.equal(loaded, [countOf(1), countOf(2), countOf(3)]);
});

test('a file that is gone leaves the old data; deleted and created again it is just new', async () => {
  const { path, look, lookFor, outcomes, errors } = await startReloading();
  rmSync(path);
  for (let looks = 0; looks < 3; looks++) await lookFor(1);
  assert.equal(errors(), [`${path}: there is no such file`]);
  assert.equal(outcomes, ['loaded', 'failed'], 'counted once, too');
  writeFileSync(path, markedLines(2));
  await lookFor(2);

  rmSync(path);
  const looking = look();
  setImmediate(() => writeFileSync(path, markedLines(3)));
  await looking;
  await lookFor(3);
  assert.is(errors().length, 1, 'a moment without a file is no failure');
});

// root reads whatever it likes; soak/chaos.soak.ts covers it with a service of another user
const unprivileged = process.getuid?.() === 0 ? test.skip : test;
unprivileged('a file that may not be read leaves the old data until it may', async () => {
  const { path, lookFor, errors } = await startReloading();
  replaceFile(path, markedLines(2));
  chmodSync(path, 0o000);
  await lookFor(1);
  assert.match(errors()[0]!, /no permission/);
  chmodSync(path, 0o600);
  await lookFor(2);
});

test('closed in the middle of a wait or a build, it ends at once and quietly', async () => {
  for (const settleMs of [60_000, 0]) {
    const { path, reloader, look, outcomes, builds, errors } = await startReloading({ settleMs });
    replaceFile(path, markedLines(2));
    const looking = look();
    if (settleMs === 0) await until('the build has begun', () => builds.begun === 2);
    reloader.close();
    await looking;
    assert.equal(errors(), []);
    assert.is(outcomes[0], 'loaded');
  }
});

test('of files that come faster than they can be built some are served', async () => {
  let builds = 0;
  const { path, reloader, outcomes, served } = await startReloading({
    async build(real, ...task) {
      const result = await real(...task);
      // longer than it takes for the next file to come, and to hold still
      if (++builds > 1) await delay(400);
      return result;
    },
  });
  let mark = 1;
  const timer = setInterval(() => {
    replaceFile(path, markedLines(++mark));
    reloader.look();
  }, 150);
  try {
    await until('one of them is served', () => served()[0] > 1 && outcomes.at(-1) === 'loaded');
  } finally {
    clearInterval(timer);
  }
});

test.run();
