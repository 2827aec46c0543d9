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
import { closeLater } from '../../support/folder.js';
import { replaceFile, switchLink } from '../../support/marked.js';
import { assert, makeFolder, test, until } from '../../support/uvu.js';

/** Nothing but an event may tell. */
const NEVER_MS = 600_000;
const silent = pino({ level: 'silent' });

/** A watch that has begun; `hears` runs a change, and resolves when it was heard of. */
async function watching(path: string, counts: (name: string) => boolean = () => true) {
  let heard = 0;
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const end = watchPaths([path], options, silent, counts, () => heard++);
  closeLater(end);
  await until('it watches', () => heard > 0);
  return {
    /** Resolves with how many events there were by then. */
    async hears(what: string, change: () => void): Promise<number> {
      heard = 0;
      change();
      await until(`${what} is heard of`, () => heard > 0);
      return heard;
    },
  };
}

/** Makes what is watched in a folder; returns its path, and changes that must be heard of. */
type Case = (folder: string) => readonly [path: string, ...changes: (() => void)[]];

const CASES: Readonly<Record<string, Case>> = {
  'a file renamed into place, overwritten, appended to, touched, deleted and created'(folder) {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    return [
      path,
      () => replaceFile(path, 'two'),
      () => writeFileSync(path, 'three'),
      () => appendFileSync(path, 'four'),
      () => utimesSync(path, 1_000, 1_000),
      () => rmSync(path),
      () => writeFileSync(path, 'five'),
    ];
  },
  'a link switched to another target'(folder) {
    const path = join(folder, 'current');
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
    symlinkSync('a', path);
    return [path, () => switchLink('b', path)];
  },
  "a link's target in another folder that is overwritten"(folder) {
    const target = join(folder, 'elsewhere', 'a');
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(target, 'one');
    symlinkSync('elsewhere/a', join(folder, 'inner'));
    symlinkSync('inner', join(folder, 'current'));
    return [join(folder, 'current'), () => replaceFile(target, 'two')];
  },
  'the ..data link of a Kubernetes volume'(folder) {
    for (const version of ['..1', '..2']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'points'), version);
    }
    symlinkSync('..1', join(folder, '..data'));
    symlinkSync('..data/points', join(folder, 'points'));
    return [join(folder, 'points'), () => switchLink('..2', join(folder, '..data'))];
  },
  'a new file in a folder'(folder) {
    writeFileSync(join(folder, 'a'), 'one');
    return [folder, () => replaceFile(join(folder, 'b'), 'two')];
  },
  'a file in the place of a link that leads in a circle'(folder) {
    const path = join(folder, 'circle');
    symlinkSync(path, path);
    return [path, () => replaceFile(path, '')];
  },
  'a folder that is closed and opened by its permissions, and a file in it'(folder) {
    return [
      folder,
      () => chmodSync(folder, 0o000),
      () => chmodSync(folder, 0o755),
      () => writeFileSync(join(folder, 'a'), 'one'),
    ];
  },
};

for (const [name, prepare] of Object.entries(CASES)) {
  test(`it hears of ${name}`, async () => {
    const folder = join(makeFolder(), 'inner');
    mkdirSync(folder);
    const [path, ...changes] = prepare(folder);
    const kept = await watching(path);
    for (const [i, change] of changes.entries()) {
      // by the watch that heard of the changes before, and by one of its own
      const fresh = await watching(path);
      await Promise.all([kept.hears(`change ${i}`, change), fresh.hears(`change ${i}`, () => {})]);
    }
  });
}

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
    });
  }
}

test('of other files in the folders above it hears nothing', async () => {
  const root = makeFolder();
  const folder = join(root, 'inner');
  mkdirSync(folder);
  const path = join(folder, 'points');
  const others = [join(root, 'other'), join(folder, 'other')];
  for (const one of [path, ...others]) writeFileSync(one, 'one');
  const watch = await watching(path);
  // each touch is one event, and events come in order
  const heard = await watch.hears('its own change', () => {
    for (const one of [...others, path]) utimesSync(one, 1_000, 1_000);
  });
  assert.is(heard, 1);
  await watch.hears('its checksum', () => writeFileSync(`${path}.sha256`, 'x'));
});

test('of a folder it hears of the names that count', async () => {
  const folder = makeFolder();
  const watch = await watching(folder, (name) => name === 'a');
  // events come in order
  const heard = await watch.hears('the last of them', () => {
    for (const name of ['b', 'c', 'a']) mkdirSync(join(folder, name));
  });
  assert.is(heard, 1);
});

test('polling looks again and again, and ended it does not; off it never does', async () => {
  const path = join(makeFolder(), 'a');
  const looks = { poll: 0, off: 0 };
  const [end, endOff] = (['poll', 'off'] as const).map((mode) => {
    return watchPaths(
      [path],
      { mode, pollMs: 20 },
      silent,
      () => true,
      () => looks[mode]++,
    );
  });
  writeFileSync(path, 'one');
  await until('three looks', () => looks.poll >= 3);
  await end!();
  const before = looks.poll;
  await delay(100);
  assert.equal(looks, { poll: before, off: 0 });
  await endOff!();
});

test.run();
