import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JournalLocked, JournalUnwritable } from '../../../src/live/journal/journal.js';
import { openJournal } from '../../../src/live/journal/open.js';
import { newPost, numbers, withJournal } from '../../support/journals.js';
import { withFolder } from '../../support/native.js';

const OPENER = new URL('../../support/journal-owner.js', import.meta.url).pathname;

/** Starts a process that owns the journal and has put one post in, until it is killed. */
async function startOwner(path: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [OPENER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('another process is told who owns the journal, and has it once that one was killed', () =>
  withJournal(async (path, open) => {
    const owner = await startOwner(path);
    try {
      const error = await open().catch((reason: unknown) => reason);
      assert.instance(error, JournalLocked);
      assert.match(String(error), `${path}: process ${owner.pid} owns this journal`);
    } finally {
      await owner.kill();
    }
    const journal = await open();
    assert.is(numbers(journal.replay()), '1:1');
  }));

test('a journal is owned under whatever name it is opened', () =>
  withJournal(async (_, open, folder) => {
    await open();
    const link = join(folder, 'link');
    await symlink('points.journal', link);
    const error = await openJournal(link).catch((reason: unknown) => reason);
    assert.instance(error, JournalLocked);
  }));

test('a journal is begun where a link leads, and the link stays', () =>
  withJournal(async (path, open, folder) => {
    const link = join(folder, 'link');
    await symlink('points.journal', link);
    const begun = await openJournal(link);
    await begun.append([newPost(1)]);
    assert.instance(await open().catch((reason: unknown) => reason), JournalLocked);
    await begun.close();
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.is(numbers((await open()).replay()), '1:1');
    assert.ok(lstatSync(path).isFile());
    await symlink('circle', join(folder, 'circle'));
    const error = await openJournal(join(folder, 'circle')).catch((reason: unknown) => reason);
    assert.instance(error, JournalUnwritable);
  }));

test('of many that open a journal at once, one at most gets it', () =>
  withJournal(async (path, open) => {
    for (let round = 0; round < 10; round++) {
      const opening = Array.from({ length: 6 }, () => openJournal(path));
      const outcomes = await Promise.allSettled(opening);
      const owners = outcomes.filter(({ status }) => status === 'fulfilled');
      assert.ok(owners.length <= 1, `${owners.length} owners`);
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') await outcome.value.close();
        else assert.instance(outcome.reason, JournalLocked);
      }
    }
    const journal = await open();
    assert.is(numbers(await journal.append([newPost(1)])), '1:1');
  }));

test('nothing but the journal stays behind', () =>
  withJournal(async (_, open, folder) => {
    const journal = await open();
    assert.is(readdirSync(folder).length, 2);
    await journal.close();
    assert.equal(readdirSync(folder), ['points.journal']);
  }));

test('a path of any length can be owned', () =>
  withFolder(async (folder) => {
    const deep = join(folder, 'a'.repeat(120), 'b'.repeat(120));
    await mkdir(deep, { recursive: true });
    const journal = await openJournal(join(deep, 'points.journal'));
    await journal.close();
  }));

test('a folder that is not there is said to be', () =>
  withFolder(async (folder) => {
    const error = await openJournal(join(folder, 'none', 'j')).catch((reason: unknown) => reason);
    assert.instance(error, JournalUnwritable);
    assert.match(String(error), 'there is no such folder');
  }));

test.run();
