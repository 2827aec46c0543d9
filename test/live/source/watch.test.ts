import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { watchPath } from '../../../src/live/source/watch.js';
import { replaceFile } from '../../support/marked.js';
import { withFolder } from '../../support/native.js';
import { until } from '../../support/wait.js';

/** Less than the watcher takes to look by itself, so that it must have been an event. */
const SOON_MS = 3_500;

/** Watches a path while `change` does something to it, and expects to hear of it soon. */
async function hears(path: string, change: () => void): Promise<void> {
  let heard = 0;
  const end = watchPath(path, { mode: 'events', pollMs: 1_000 }, () => heard++);
  try {
    // a watcher that has just begun may still report how it found things
    await delay(300);
    heard = 0;
    change();
    await until('the watcher tells', () => heard > 0, SOON_MS);
  } finally {
    await end();
  }
}

test('it hears of a file renamed into place', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    await hears(path, () => replaceFile(path, 'two'));
  }));

test('it hears of a file overwritten in place, appended to, and touched', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    await hears(path, () => writeFileSync(path, 'two'));
    await hears(path, () => appendFileSync(path, 'three'));
    await hears(path, () => utimesSync(path, 1_000, 1_000));
  }));

test('it hears of a file that is deleted, and of one created where there was none', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    await hears(path, () => rmSync(path));
    await hears(path, () => writeFileSync(path, 'two'));
  }));

test('it hears of a link switched to another target', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'current');
    for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
    symlinkSync('a', path);
    await hears(path, () => {
      symlinkSync('b', join(folder, 'next'));
      renameSync(join(folder, 'next'), path);
    });
  }));

test("it hears of a link's target in another folder that is overwritten", () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere', 'a'), 'one');
    symlinkSync('elsewhere/a', join(folder, 'inner'));
    symlinkSync('inner', join(folder, 'current'));
    await hears(join(folder, 'current'), () => replaceFile(join(folder, 'elsewhere', 'a'), 'two'));
  }));

test('it hears of the ..data link of a Kubernetes volume', () =>
  withFolder(async (folder) => {
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
  }));

test('it hears of a new file in a folder', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'a'), 'one');
    await hears(folder, () => replaceFile(join(folder, 'b'), 'two'));
  }));

test('a folder that is removed and made again is looked at all the same', () =>
  withFolder(async (folder) => {
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    writeFileSync(join(inner, 'a'), 'one');
    let heard = 0;
    const end = watchPath(join(inner, 'a'), { mode: 'events', pollMs: 1_000 }, () => heard++);
    try {
      rmSync(inner, { recursive: true });
      mkdirSync(inner);
      await delay(300);
      heard = 0;
      writeFileSync(join(inner, 'a'), 'two');
      await until('a look at the latest after five seconds', () => heard > 0, 8_000);
    } finally {
      await end();
    }
  }));

test('polling looks again and again, ended it does not', () =>
  withFolder(async (folder) => {
    let looks = 0;
    const end = watchPath(join(folder, 'a'), { mode: 'poll', pollMs: 20 }, () => looks++);
    await until('three looks', () => looks >= 3, 5_000);
    await end();
    const before = looks;
    await delay(100);
    assert.is(looks, before);
  }));

test('off, it does nothing', () =>
  withFolder(async (folder) => {
    let looks = 0;
    const path = join(folder, 'a');
    const end = watchPath(path, { mode: 'off', pollMs: 1 }, () => looks++);
    writeFileSync(path, 'one');
    await delay(100);
    assert.is(looks, 0);
    await end();
  }));

test.run();
