import { appendFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAged } from '../support/folder.js';
import { countOf, markedLines, replaceFile, switchLink } from '../support/marked.js';
import { type Reloading, startReloading } from '../support/reloading.js';
import { assert, makeFolder, test, until } from '../support/uvu.js';
import { gate } from '../support/wait.js';

const SETTLE_MS = 150;
/** Longer than this process is ever kept from going on. */
const LONG_SETTLE_MS = 2_000;
const LONG_AGO = 1_577_880_000;

/** A folder whose newest file, from 2023, is served. */
async function begin(
  events: boolean,
  settleMs = SETTLE_MS,
): Promise<[folder: string, reloading: Reloading]> {
  const folder = makeFolder();
  writeAged(join(folder, 'newest'), LONG_AGO + 1e8, markedLines(1));
  return [folder, await startReloading({ path: folder, settleMs, events })];
}

test('a slow copy of an old file, heard of by events, is never served, and a new file is', async () => {
  const [folder, { builds, current, events }] = await begin(true, LONG_SETTLE_MS);
  const path = join(folder, 'copy');
  const lines = markedLines(2);
  writeFileSync(path, lines.subarray(0, lines.indexOf('\n', 1_000) + 1));
  const { heard } = events;
  await until('its beginning is heard of', () => events.heard > heard);
  writeAged(path, LONG_AGO, lines);
  writeFileSync(join(folder, 'really newer'), markedLines(3));
  await until(
    'the new file is served',
    () => current.generation.parts.dataset.count === countOf(3),
  );
  assert.is(builds.begun, 2, 'the copy was not built');
});

test('while the newest is still being written, an older one that is whole is served', async () => {
  const [folder, { reloader, lookFor, served }] = await begin(false);
  replaceFile(join(folder, 'whole'), markedLines(2));
  const growing = join(folder, 'growing');
  const later = Date.now() / 1000 + 60;
  const write = (): void => {
    appendFileSync(growing, 'x');
    utimesSync(growing, later, later);
  };
  const timer = setInterval(() => {
    write();
    reloader.look();
  }, SETTLE_MS / 4);
  try {
    await until('the whole one is served', () => served()[0] === 2);
  } finally {
    clearInterval(timer);
  }
  writeAged(growing, later, markedLines(3));
  await lookFor(3);
});

test('a look ends when what it led to is served', async () => {
  const { opened, open } = gate();
  const { path, reloader, current, served } = await startReloading({
    settleMs: SETTLE_MS,
    async build(real, ...task) {
      if (task[0].unless !== undefined) await opened;
      return real(...task);
    },
  });
  await reloader.look();
  replaceFile(path, markedLines(2));
  const done = reloader.look();
  await until('it is built', () => current.building !== undefined);
  assert.ok(Math.abs(Date.now() - current.building!.since) < 60_000);
  assert.equal(served(), [1, countOf(1)]);
  open();
  await done;
  assert.is(current.building, undefined);
  assert.equal(served(), [2, countOf(2)]);
});

test('a switch of the link that the links of a folder lead through is heard of at once', async () => {
  const folder = makeFolder();
  const write = (mark: number): void => {
    mkdirSync(join(folder, `..${mark}`));
    writeFileSync(join(folder, `..${mark}`, 'points'), markedLines(mark));
    switchLink(`..${mark}`, join(folder, '..data'));
  };
  write(1);
  symlinkSync('..data/points', join(folder, 'points'));
  const { look, served } = await startReloading({ path: folder, events: true });
  assert.is(served()[0], 1);
  for (const mark of [2, 3]) {
    write(mark);
    await until(`file ${mark} is served`, () => served()[0] === mark);
    // from here on nothing but an event leads to a look
    await look();
  }
});

const JUNK = 20;
const JUNK_SETTLE_MS = 2_000;

test('many newer files that are no snapshots delay a good one by hardly more than one settling', async () => {
  const folder = makeFolder();
  writeAged(join(folder, 'first'), 1_000, markedLines(1));
  const { current, look, outcomes, builds, served } = await startReloading({
    path: folder,
    settleMs: JUNK_SETTLE_MS,
  });
  writeAged(join(folder, 'good'), 2_000, markedLines(2));
  for (let i = 0; i < JUNK; i++) {
    writeAged(join(folder, `junk-${i}`), 3_000 + i, `garbage ${i}\n`);
  }
  const started = performance.now();
  await look();
  const seconds = (performance.now() - started) / 1000;
  assert.equal(served(), [2, countOf(2)]);
  assert.match(current.stale!.reason, `junk-${JUNK - 1}`);
  // waited for one after the other they take 40 s and what their builds take
  assert.ok(seconds < (JUNK * JUNK_SETTLE_MS) / 1000, `${seconds} s`);
  assert.is(builds.begun, JUNK + 2);

  writeFileSync(join(folder, 'junk-more'), 'garbage\n');
  await look();
  assert.is(builds.begun, JUNK + 3, 'those that were refused are not tried again');
  assert.is(outcomes.filter((one) => one === 'failed').length, JUNK + 1);
});

test.run();
