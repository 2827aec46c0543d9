import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { watchPaths } from '../../../src/reload/source/watch.js';
import { replaceFile } from '../../support/marked.js';
import { assert, makeFolder, test, until } from '../../support/uvu.js';

/** Nothing but an event may tell. */
const NEVER_MS = 600_000;
const silent = pino({ level: 'silent' });
const isAny = (): boolean => true;

/** A watch that has begun; `hears` runs a change, and resolves when it was heard of. */
async function watching(path: string) {
  let heard = 0;
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const end = watchPaths([path], options, silent, isAny, () => heard++);
  await until('it watches', () => heard > 0);
  return {
    async hears(what: string, change: () => void): Promise<void> {
      heard = 0;
      change();
      await until(`${what} is heard of`, () => heard > 0);
    },
    end,
  };
}

/** Expects a watch of a path to hear of a change. */
async function hears(path: string, change: () => void): Promise<void> {
  const watch = await watching(path);
  try {
    await watch.hears('the change', change);
  } finally {
    await watch.end();
  }
}

test('it hears of a file renamed into place', async () => {
  const path = join(makeFolder(), 'points');
  writeFileSync(path, 'one');
  await hears(path, () => replaceFile(path, 'two'));
});

test('it hears of a file overwritten in place, appended to, and touched', async () => {
  const path = join(makeFolder(), 'points');
  writeFileSync(path, 'one');
  await hears(path, () => writeFileSync(path, 'two'));
  await hears(path, () => appendFileSync(path, 'three'));
  await hears(path, () => utimesSync(path, 1_000, 1_000));
});

test('it hears of a file that is deleted, and of one created where there was none', async () => {
  const path = join(makeFolder(), 'points');
  writeFileSync(path, 'one');
  await hears(path, () => rmSync(path));
  await hears(path, () => writeFileSync(path, 'two'));
});

test('it hears of a link switched to another target', async () => {
  const folder = makeFolder();
  const path = join(folder, 'current');
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
  symlinkSync('a', path);
  await hears(path, () => {
    symlinkSync('b', join(folder, 'next'));
    renameSync(join(folder, 'next'), path);
  });
});

test("it hears of a link's target in another folder that is overwritten", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(folder, 'elsewhere', 'a'), 'one');
  symlinkSync('elsewhere/a', join(folder, 'inner'));
  symlinkSync('inner', join(folder, 'current'));
  await hears(join(folder, 'current'), () => replaceFile(join(folder, 'elsewhere', 'a'), 'two'));
});

test('it hears of the ..data link of a Kubernetes volume', async () => {
  const folder = makeFolder();
  for (const version of ['..1', '..2']) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'points'), version);
  }
  symlinkSync('..1', join(folder, '..data'));
  symlinkSync('..data/points', join(folder, 'points'));
  await hears(join(folder, 'points'), () => {
    symlinkSync('..2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  });
});

test('it hears of a new file in a folder', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'a'), 'one');
  await hears(folder, () => replaceFile(join(folder, 'b'), 'two'));
});

/** What happens to a folder and everything in it. */
const FATES: Readonly<Record<string, (folder: string) => void>> = {
  'moved away': (folder) => renameSync(folder, `${folder}-away`),
  'moved back': (folder) => renameSync(`${folder}-away`, folder),
  removed: (folder) => rmSync(folder, { recursive: true }),
  'made again': (folder) => mkdirSync(folder),
};

for (const end of ['a file', 'a folder']) {
  for (const [depth, first, second] of [
    ['outer/inner', 'moved away', 'moved back'],
    ['outer/inner', 'removed', 'made again'],
    ['outer/inner', 'moved away', 'made again'],
    ['outer', 'removed', 'made again'],
  ] as const) {
    test(`${end}: ${depth} ${first} and ${second}, it watches again`, async () => {
      const root = makeFolder();
      const folder = join(root, 'outer/inner');
      mkdirSync(folder, { recursive: true });
      const path = end === 'a file' ? join(folder, 'points') : folder;
      writeFileSync(join(folder, 'points'), 'one');
      const watch = await watching(path);
      const fate = join(root, depth);
      await watch.hears('the loss', () => FATES[first]!(fate));
      await watch.hears('the return', () => {
        FATES[second]!(fate);
        mkdirSync(folder, { recursive: true });
      });
      await watch.hears('a new file', () => writeFileSync(join(folder, 'points'), 'two'));
      await watch.hears('another', () => replaceFile(join(folder, 'points'), 'three'));
      await watch.end();
    });
  }
}

test('a link that leads in a circle is watched until it leads somewhere', async () => {
  const path = join(makeFolder(), 'circle');
  symlinkSync(path, path);
  const watch = await watching(path);
  await watch.hears('a file in its place', () => replaceFile(path, ''));
  await watch.end();
});

test('a folder that is closed and opened by its permissions is watched on', async () => {
  const folder = join(makeFolder(), 'inner');
  mkdirSync(folder);
  const watch = await watching(folder);
  await watch.hears('the closing', () => chmodSync(folder, 0o000));
  await watch.hears('the opening', () => chmodSync(folder, 0o755));
  await watch.hears('a new file', () => writeFileSync(join(folder, 'a'), 'one'));
  await watch.end();
});

test('of other files in the folders above it hears nothing', async () => {
  const root = makeFolder();
  const folder = join(root, 'inner');
  mkdirSync(folder);
  const path = join(folder, 'points');
  const others = [join(root, 'other'), join(folder, 'other')];
  for (const one of [path, ...others]) writeFileSync(one, 'one');
  let heard = 0;
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const end = watchPaths([path], options, silent, isAny, () => heard++);
  await until('it watches', () => heard > 0);
  heard = 0;
  // each touch is one event, and events come in order
  for (const one of [...others, path]) utimesSync(one, 1_000, 1_000);
  await until('its own change', () => heard > 0);
  assert.is(heard, 1);
  writeFileSync(`${path}.sha256`, 'x');
  await until('its checksum', () => heard > 1);
  await end();
});

test('of a folder it hears of the names that count', async () => {
  const folder = makeFolder();
  let heard = 0;
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const counts = (name: string): boolean => name === 'a';
  const end = watchPaths([folder], options, silent, counts, () => heard++);
  await until('it watches', () => heard > 0);
  heard = 0;
  // events come in order
  for (const name of ['b', 'c', 'a']) mkdirSync(join(folder, name));
  await until('it hears', () => heard > 0);
  assert.is(heard, 1);
  await end();
});

test('polling looks again and again, ended it does not', async () => {
  const folder = makeFolder();
  let looks = 0;
  const end = watchPaths(
    [join(folder, 'a')],
    { mode: 'poll', pollMs: 20 },
    silent,
    isAny,
    () => looks++,
  );
  await until('three looks', () => looks >= 3);
  await end();
  const before = looks;
  await delay(100);
  assert.is(looks, before);
});

test('off, it does nothing', async () => {
  const folder = makeFolder();
  let looks = 0;
  const path = join(folder, 'a');
  const end = watchPaths([path], { mode: 'off', pollMs: 1 }, silent, isAny, () => looks++);
  writeFileSync(path, 'one');
  await delay(100);
  assert.is(looks, 0);
  await end();
});

test.run();
