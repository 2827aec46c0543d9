import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DISK, type Disk } from '../../../src/live/journal/disk.js';
import type { Journal } from '../../../src/live/journal/journal.js';
import { JournalUnavailable } from '../../../src/live/journal/journal.js';
import { newPost, numbers, withJournal } from '../../support/journals.js';
import { until } from '../../support/wait.js';

const LIMITED = new URL('../../support/journal-limited.js', import.meta.url).pathname;

/** A disk that fails as long as it is told to, after half of what is written. */
interface FailingDisk extends Disk {
  failing: 'no' | 'write' | 'sync' | 'all' | 'folder';
  /** Called before a write. */
  before: () => void;
}

function failingDisk(): FailingDisk {
  const fail = (code: string): never => {
    throw Object.assign(new Error(`${code}: it fails`), { code, syscall: 'write' });
  };
  return {
    ...DISK,
    failing: 'no',
    before() {},
    async write(fd, bytes, position) {
      this.before();
      if (this.failing !== 'write' && this.failing !== 'all') {
        return DISK.write(fd, bytes, position);
      }
      await DISK.write(fd, bytes.subarray(0, bytes.length >> 1), position);
      return fail('ENOSPC');
    },
    async syncData(fd) {
      if (this.failing === 'sync' || this.failing === 'all') fail('EIO');
      await DISK.syncData(fd);
    },
    async sync(fd) {
      if (this.failing === 'all') fail('EIO');
      await DISK.sync(fd);
    },
    syncFolder(path) {
      if (this.failing === 'folder') fail('EIO');
      DISK.syncFolder(path);
    },
  };
}

async function refusal(journal: Journal, id: number): Promise<unknown> {
  return journal.append([newPost(id)]).catch((error: unknown) => error);
}

for (const [failing, why] of [
  ['write', 'the disk is full'],
  ['sync', 'EIO: it fails'],
  ['all', 'the disk is full'],
] as const) {
  test(`when ${failing} fails nothing stays, and it goes on by itself afterwards`, () =>
    withJournal(async (path, open) => {
      const disk = failingDisk();
      const problems: (string | undefined)[] = [];
      const journal = await open({ disk, onProblem: (problem) => problems.push(problem) });
      await journal.append([newPost(1)]);
      disk.failing = failing;
      const later: Promise<unknown>[] = [];
      // comes while the others are written
      disk.before = () => {
        if (later.length === 0) later.push(refusal(journal, 7));
      };
      const outcomes = await Promise.all([2, 3, 4].map((id) => refusal(journal, id)));
      for (const outcome of [...outcomes, ...(await Promise.all(later))]) {
        assert.instance(outcome, JournalUnavailable);
        assert.match(String(outcome), `${path}: cannot be written: ${why}`);
      }
      assert.is(later.length, 1);
      assert.is(journal.state.problem, problems[0]);
      assert.is(problems.length, 1);
      assert.instance(await refusal(journal, 5), JournalUnavailable);
      assert.is(numbers(journal.replay()), '1:1');
      if (failing !== 'all') {
        assert.is(statSync(path).size, journal.state.bytes);
        assert.not.ok(readFileSync(path, 'utf8').includes('"id":2'));
      }

      disk.failing = 'no';
      await until('it works again', () => journal.state.problem === undefined);
      assert.equal(problems, [problems[0], undefined]);
      assert.is(numbers(await journal.append([newPost(6)])), '2:6');
      await journal.close();
      const again = await open();
      assert.equal([numbers(again.replay()), again.opened.cutBytes], ['1:1 2:6', 0]);
    }));
}

test('when the file cannot be written anew the old one stays', () =>
  withJournal(async (_, open, folder) => {
    const disk = failingDisk();
    const journal = await open({ disk });
    await journal.append([newPost(1), newPost(2)]);
    disk.failing = 'write';
    const outcome = await journal.retire(() => true).catch((error: unknown) => error);
    assert.instance(outcome, JournalUnavailable);
    assert.match(String(outcome), 'cannot be written anew: the disk is full');
    disk.failing = 'no';
    assert.is(numbers(journal.replay()), '1:1 2:2');
    assert.equal(
      readdirSync(folder).filter((name) => name.endsWith('.new')),
      [],
    );
    assert.is(numbers(await journal.append([newPost(3)])), '3:3');
    await journal.retire(({ sequence }) => sequence < 3);
    assert.is(numbers(journal.replay()), '3:3');
  }));

test('nothing is acknowledged in a new file before its name is on stable storage', () =>
  withJournal(async (_, open) => {
    const disk = failingDisk();
    const journal = await open({ disk });
    await journal.append([newPost(1), newPost(2)]);
    disk.failing = 'folder';
    const outcome = await journal.retire(() => true).catch((error: unknown) => error);
    assert.instance(outcome, JournalUnavailable);
    assert.instance(await refusal(journal, 3), JournalUnavailable);
    disk.failing = 'no';
    await until('it works again', () => journal.state.problem === undefined);
    assert.is(numbers(await journal.append([newPost(4)])), '3:4');
    await journal.close();
    const again = await open();
    assert.is(numbers(again.replay()), '3:4');
  }));

test('a file that is removed is written anew, with all that it held', () =>
  withJournal(async (path, open) => {
    const journal = await open({ lookMs: 1, retryMs: 1 });
    await journal.append([newPost(1), newPost(2, '- k')]);
    rmSync(path);
    await until('it is there again', () => existsSync(path));
    await until('it works again', () => journal.state.problem === undefined);
    assert.is(numbers(await journal.append([newPost(3)])), '3:3');
    // nobody had the time to look
    rmSync(path);
    await journal.close();
    const again = await open();
    assert.is(numbers(again.replay()), '1:1 2:2 3:3');
    assert.equal(
      Array.from(again.keys(), ({ name }) => name),
      ['- k'],
    );
  }));

test('a file that takes the place of the journal is left alone, and nothing is accepted beside it', () =>
  withJournal(async (path, open, folder) => {
    const journal = await open({ lookMs: 1, retryMs: 1 });
    await journal.append([newPost(1)]);
    const other = join(folder, 'other');
    writeFileSync(other, 'from a backup');
    renameSync(other, path);
    await until('it is seen', () => journal.state.problem !== undefined);
    assert.match(journal.state.problem!, `${path}: cannot be written: another file has its name`);
    assert.instance(await refusal(journal, 2), JournalUnavailable);
    assert.is(readFileSync(path, 'utf8'), 'from a backup');
    rmSync(path);
    await until('it works again', () => journal.state.problem === undefined);
    assert.is(numbers(await journal.append([newPost(3)])), '2:3');
    await journal.close();
    const again = await open();
    assert.is(numbers(again.replay()), '1:1 2:3');
  }));

test('a file that may not grow any more is the same as a full disk', () =>
  withJournal(async (path, open) => {
    // a limit of the system's own, which the process cannot get round
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -f 40; exec "$0" "$@"`, process.execPath, LIMITED, path],
      {
        encoding: 'utf8',
      },
    );
    assert.is(stderr, '');
    const { acknowledged, reason } = JSON.parse(stdout) as { acknowledged: string; reason: string };
    assert.match(reason, 'the file would be larger than is allowed');
    assert.ok(acknowledged.length > 100);
    const journal = await open();
    assert.is(numbers(journal.replay()), acknowledged);
    assert.is(journal.opened.cutBytes, 0);
  }));

test.run();
