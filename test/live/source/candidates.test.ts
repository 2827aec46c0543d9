import {
  appendFileSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { awaitStill, candidateAt, findCandidates } from '../../../src/live/source/candidates.js';
import { replaceFile } from '../../support/marked.js';
import { withFolder } from '../../support/native.js';

const never = new AbortController().signal;

test('a file is its own only candidate', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points.ndjson');
    writeFileSync(path, 'one');
    const found = await findCandidates(path);
    assert.equal(
      found.map((one) => one.path),
      [path],
    );
    assert.is(found[0]!.modifiedAt, statSync(path).mtimeMs);
  }));

test('a folder has its files for candidates, the newest first', () =>
  withFolder(async (folder) => {
    for (const [name, time] of Object.entries({ b: 2_000, a: 3_000, c: 1_000, d: 2_000 })) {
      writeFileSync(join(folder, name), name);
      utimesSync(join(folder, name), time, time);
    }
    const names = (await findCandidates(folder)).map((one) => basename(one.path));
    assert.equal(names, ['a', 'd', 'b', 'c'], 'of two of the same age the later name comes first');
  }));

test('hidden files, temporary files and folders are no candidates, links to files are', () =>
  withFolder(async (folder) => {
    for (const name of ['.hidden', 'half.tmp', '..data-file']) {
      writeFileSync(join(folder, name), 'x');
    }
    mkdirSync(join(folder, 'inner'));
    writeFileSync(join(folder, 'inner', 'target'), 'x');
    symlinkSync('inner/target', join(folder, 'link'));
    symlinkSync('inner', join(folder, 'folder-link'));
    symlinkSync('nowhere', join(folder, 'dangling'));
    const names = (await findCandidates(folder)).map((one) => basename(one.path));
    assert.equal(names, ['link']);
  }));

test('what is not there throws', () =>
  withFolder(async (folder) => {
    try {
      await findCandidates(join(folder, 'missing'));
      assert.unreachable();
    } catch (error) {
      assert.is((error as NodeJS.ErrnoException).code, 'ENOENT');
    }
    assert.is(await candidateAt(join(folder, 'missing')), undefined);
  }));

test('writing changes the identity, replacing the inode too, looking neither', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    const first = (await candidateAt(path))!;
    assert.equal(await candidateAt(path), first);

    appendFileSync(path, 'more');
    const longer = (await candidateAt(path))!;
    assert.is(longer.inode, first.inode);
    assert.is.not(longer.identity, first.identity);

    utimesSync(path, 1, 1);
    const touched = (await candidateAt(path))!;
    assert.is.not(touched.identity, longer.identity);

    replaceFile(path, 'onemore');
    const replaced = (await candidateAt(path))!;
    assert.is.not(replaced.inode, first.inode);
    assert.is.not(replaced.identity, touched.identity);
  }));

test('a file that is written to is waited for, whatever the clock of its server says', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, '');
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        appendFileSync(path, 'x');
        // a server whose clock is an hour behind
        const behind = Date.now() / 1000 - 3_600 + i;
        utimesSync(path, behind, behind);
        await delay(10);
      }
      isWriting = false;
    };
    const [still] = await Promise.all([awaitStill(path, 150, never), write()]);
    assert.not.ok(isWriting);
    assert.is(still!.identity, (await candidateAt(path))!.identity);
    assert.is(statSync(path).size, 20);
  }));

test('a file that goes away is not waited for', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    const waiting = awaitStill(path, 100, never);
    rmSync(path);
    assert.is(await waiting, undefined);
    assert.is(await awaitStill(path, 60_000, never), undefined);
  }));

test('waiting ends at once when it is called off', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'points');
    writeFileSync(path, 'one');
    const controller = new AbortController();
    const waiting = awaitStill(path, 60_000, controller.signal);
    setImmediate(() => controller.abort());
    try {
      await waiting;
      assert.unreachable();
    } catch (error) {
      assert.is((error as Error).name, 'AbortError');
    }
  }));

test.run();
