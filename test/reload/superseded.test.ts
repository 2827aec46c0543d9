import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BuildTask } from '../../src/reload/build.js';
import { makeFolder } from '../support/folder.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import { type Given, startReloading } from '../support/reloading.js';
import { until } from '../support/wait.js';

type Build = NonNullable<Given['build']>;

const SETTLE_MS = 500;
const FOR_EVER_MS = 3_600_000;

/** Builds, but for the second time for ever. */
function hangingOnce(): Build {
  let builds = 0;
  return (builder, ...task) => (++builds === 2 ? buildForEver(task[0]) : builder.build(...task));
}

/** Keeps a thread busy for ever, as a parser that hangs does. */
async function buildForEver({ signal }: BuildTask): Promise<never> {
  const thread = new Worker('for (;;);', { eval: true });
  await new Promise((resolve) => signal!.addEventListener('abort', resolve));
  await thread.terminate();
  throw new Error('ended');
}

function firstFile(): string {
  const path = join(makeFolder(), 'points');
  writeFileSync(path, markedLines(1));
  return path;
}

test('a build that never ends is abandoned when there is a newer file', async () => {
  const path = firstFile();
  const { reloader, look, current, served, outcomes, builds, logs, end } = await startReloading(
    path,
    {
      build: hangingOnce(),
    },
  );
  replaceFile(path, markedLines(2));
  reloader.look();
  await until('it builds', () => current.building !== undefined);
  assert.is(current.building!.path, path);
  replaceFile(path, markedLines(3));
  await look();
  assert.equal(served(), [3, countOf(3)]);
  assert.equal(outcomes, ['loaded', 'abandoned', 'loaded']);
  assert.is(builds.most, 1);
  assert.ok(logs.some(({ msg }) => msg === 'build abandoned for a newer snapshot'));
  assert.is(current.building, undefined);
  await end();
});

test('so is one of a file that is written to, since nothing can come of it', async () => {
  const path = firstFile();
  const { reloader, look, current, served, outcomes, end } = await startReloading(path, {
    build: hangingOnce(),
  });
  replaceFile(path, markedLines(2));
  reloader.look();
  await until('it builds', () => current.building !== undefined);
  const line = markedLines(2).toString().split('\n')[0]!;
  appendFileSync(path, `${line.replace('"id":1,', '"id":999999,')}\n`);
  await look();
  assert.equal(served(), [2, countOf(2) + 1]);
  assert.equal(outcomes, ['loaded', 'loaded']);
  await end();
});

test('a newer file that is still being written is no reason to abandon', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'a'), markedLines(1));
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { reloader, current, served, outcomes, end } = await startReloading(folder, {
    settleMs: SETTLE_MS,
    async build(builder, ...task) {
      if (task[0].path.endsWith('b')) await released;
      return builder.build(...task);
    },
  });
  replaceFile(join(folder, 'b'), markedLines(2));
  reloader.look();
  await until('it builds', () => current.building !== undefined);
  const later = Date.now() / 1000 + 60;
  const write = (): void => {
    appendFileSync(join(folder, 'c'), 'x');
    utimesSync(join(folder, 'c'), later, later);
  };
  write();
  const timer = setInterval(write, SETTLE_MS / 5);
  try {
    assert.is((await reloader.look().found)?.path, join(folder, 'b'));
    release();
    await until('it is served', () => served()[0] === 2);
  } finally {
    clearInterval(timer);
  }
  assert.not.ok(outcomes.includes('abandoned'));
  await end();
});

test('files that come faster than they can be built do not keep all of them away', async () => {
  const path = firstFile();
  let builds = 0;
  const { reloader, served, outcomes, end } = await startReloading(path, {
    async build(builder, ...task) {
      const result = await builder.build(...task);
      // builds that take longer than it takes for the next file to come, and to hold still: the
      // first one until it is abandoned
      const ms = ++builds === 2 ? FOR_EVER_MS : 400;
      if (builds > 1) await delay(ms, undefined, { signal: task[0].signal! });
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
  assert.is(outcomes[1], 'abandoned');
  await end();
});

test.run();
