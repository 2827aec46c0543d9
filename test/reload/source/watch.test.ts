import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { openLocalSource } from '../../../src/reload/source/local.js';
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
    fs.writeFileSync(path, 'one');
    return [
      path,
      () => replaceFile(path, 'two'),
      () => fs.writeFileSync(path, 'three'),
      () => fs.appendFileSync(path, 'four'),
      () => fs.utimesSync(path, 1_000, 1_000),
      () => fs.rmSync(path),
      () => fs.writeFileSync(path, 'five'),
    ];
  },
  'a link switched to another target'(folder) {
    const path = join(folder, 'current');
    for (const name of ['a', 'b']) fs.writeFileSync(join(folder, name), name);
    fs.symlinkSync('a', path);
    return [path, () => switchLink('b', path)];
  },
  "a link's target in another folder that is overwritten"(folder) {
    const target = join(folder, 'elsewhere', 'a');
    fs.mkdirSync(join(folder, 'elsewhere'));
    fs.writeFileSync(target, 'one');
    fs.symlinkSync('elsewhere/a', join(folder, 'inner'));
    fs.symlinkSync('inner', join(folder, 'current'));
    return [join(folder, 'current'), () => replaceFile(target, 'two')];
  },
  'the ..data link of a Kubernetes volume'(folder) {
    for (const version of ['..1', '..2']) {
      fs.mkdirSync(join(folder, version));
      fs.writeFileSync(join(folder, version, 'points'), version);
    }
    fs.symlinkSync('..1', join(folder, '..data'));
    fs.symlinkSync('..data/points', join(folder, 'points'));
    return [join(folder, 'points'), () => switchLink('..2', join(folder, '..data'))];
  },
  'a new file in a folder'(folder) {
    fs.writeFileSync(join(folder, 'a'), 'one');
    return [folder, () => replaceFile(join(folder, 'b'), 'two')];
  },
  'a new file in a folder behind a link'(folder) {
    const path = `${folder}-link`;
    fs.symlinkSync(folder, path);
    return [path, () => replaceFile(join(folder, 'b'), 'two')];
  },
  'a link that is switched in a folder behind a link'(folder) {
    for (const name of ['a', 'b']) {
      fs.mkdirSync(join(folder, name));
      fs.writeFileSync(join(folder, name, 'points'), name);
    }
    fs.symlinkSync('a/points', join(folder, 'current'));
    fs.symlinkSync(folder, `${folder}-link`);
    return [
      join(`${folder}-link`, 'current'),
      () => switchLink('b/points', join(folder, 'current')),
    ];
  },
  'a file in the place of a link that leads in a circle'(folder) {
    const path = join(folder, 'circle');
    fs.symlinkSync(path, path);
    return [path, () => replaceFile(path, '')];
  },
  'a folder that is closed and opened by its permissions, and a file in it'(folder) {
    return [
      folder,
      () => fs.chmodSync(folder, 0o000),
      () => fs.chmodSync(folder, 0o755),
      () => fs.writeFileSync(join(folder, 'a'), 'one'),
    ];
  },
};

for (const [name, prepare] of Object.entries(CASES)) {
  test(`a watch hears of ${name}`, async () => {
    const folder = join(makeFolder(), 'inner');
    fs.mkdirSync(folder);
    const [path, ...changes] = prepare(folder);
    const kept = await watching(path);
    for (const [i, change] of changes.entries()) {
      // by the watch that heard of the changes before, and by one of its own
      const fresh = await watching(path);
      await Promise.all([kept.hears(`change ${i}`, change), fresh.hears(`change ${i}`, () => {})]);
    }
  });
}

test('a folder that takes the place of another is watched once it was looked for', async () => {
  const folder = join(makeFolder(), 'inner');
  fs.mkdirSync(folder);
  let heard = 0;
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: 50 } as const;
  const path = join(folder, 'points');
  let isName = false;
  const counts = (name: string): boolean => {
    isName ||= name === 'points';
    return true;
  };
  closeLater(watchPaths([path], options, silent, counts, () => heard++));
  await until('it looks', () => heard > 0);
  fs.renameSync(folder, `${folder}-away`);
  fs.mkdirSync(folder);
  // until a watch stands on the new folder, nobody tells of its files by their names
  await until('it hears of a file in it', () => {
    replaceFile(path, 'two');
    return isName;
  });
});

test('a watch of a folder hears of the names that count', async () => {
  const folder = makeFolder();
  const watch = await watching(folder, (name) => name === 'a');
  // events come in order
  const heard = await watch.hears('the last of them', () => {
    for (const name of ['b', 'c', 'a']) fs.mkdirSync(join(folder, name));
  });
  assert.is(heard, 1);
});

test('a watch of a file passes over the journal beside it, whatever its name', async () => {
  const folder = makeFolder();
  const [path, journal] = [join(folder, 'points'), join(folder, 'notes.db')];
  fs.writeFileSync(path, 'one');
  const options = { mode: 'events', pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const source = await openLocalSource({ path, journal, ...options }, silent);
  let heard = 0;
  closeLater(source.watch(() => heard++));
  await until('it watches', () => heard > 0);
  heard = 0;
  // events come in order
  for (const name of ['notes.db', 'notes.db-journal', 'a']) fs.mkdirSync(join(folder, name));
  await until('the last of them is heard of', () => heard > 0);
  assert.is(heard, 1);
});

test('polling looks again and again until it ends; switched off it never does', async () => {
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
  fs.writeFileSync(path, 'one');
  await until('three looks', () => looks.poll >= 3);
  await end!();
  const before = looks.poll;
  await delay(100);
  assert.equal(looks, { poll: before, off: 0 });
  await endOff!();
});

test.run();
