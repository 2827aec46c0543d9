import { chmodSync, chownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DISK, type Disk } from '../../../src/live/journal/disk.js';
import { newPost, numbers, soonAfter, withJournal } from '../../support/journals.js';
import { testUnless } from '../../support/skip.js';

test('what is retired is gone from the file, and its numbers are not used again', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    for (let id = 11; id <= 15; id++) await journal.append([newPost(id)]);
    const before = journal.state.bytes;
    await journal.retire(({ sequence }) => sequence !== 2);
    assert.is(numbers(journal.replay()), '2:12');
    assert.ok(journal.state.bytes < before);
    assert.is(statSync(path).size, journal.state.bytes);
    await journal.retire(() => true);
    assert.is(journal.state.waiting, 0);
    await journal.close();

    const again = await open();
    const { waiting, lastSequence, nextId, lastTime } = again.state;
    assert.equal([waiting, lastSequence, nextId], [0, 5, 16]);
    assert.is(lastTime, newPost(15).point.createdAt.micros);
    assert.is(numbers(await again.append([newPost(16)])), '6:16');
  }));

test('a moved post keeps its number and says which id it had', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    await journal.append([newPost(1), newPost(2, '- k'), newPost(3)]);
    await journal.retire(() => false, new Map([[2, 50]]));
    await journal.retire(() => false, new Map([[2, 60]]));
    const [first, moved, third] = journal.replay();
    assert.equal([first!.movedFrom, third!.movedFrom], [undefined, undefined]);
    assert.equal([moved!.sequence, moved!.point.id, moved!.movedFrom], [2, 60, 2]);
    assert.is(moved!.point.comment, 'Grüße 2');
    assert.is(journal.state.nextId, 61);
    const posts = [...journal.replay()];
    const keys = [...journal.keys()];
    assert.equal(
      keys.map(({ name, record }) => [name, JSON.parse(record).id]),
      [['- k', 2]],
    );
    await journal.close();
    const again = await open();
    assert.equal([...again.replay()], posts);
    assert.equal([...again.keys()], keys);
    assert.is(again.state.nextId, 61);
  }));

test('keys of retired posts stay until they are a day old', () =>
  withJournal(async (path, open) => {
    let now = soonAfter();
    const journal = await open({ now: () => now });
    await journal.append([newPost(1, '- old'), newPost(2, '- new')]);
    await journal.retire(() => true);
    assert.equal(
      Array.from(journal.keys(), ({ name }) => name),
      ['- old', '- new'],
    );
    now = newPost(2).point.createdAt.micros / 1000 + 24 * 3_600_000;
    assert.equal(
      Array.from(journal.keys(), ({ name }) => name),
      ['- new'],
    );
    await journal.append([newPost(3)]);
    await journal.retire(() => true);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes('- new') && !text.includes('- old'));
  }));

test('nothing to retire leaves the file as it is', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    await journal.append([newPost(1)]);
    const { ino } = statSync(path);
    await journal.retire(() => false, new Map([[1, 1]]));
    assert.is(statSync(path).ino, ino);
    await journal.retire(() => true);
    assert.is.not(statSync(path).ino, ino);
  }));

test('appends go on while the file is written anew, and are in it', () =>
  withJournal(async (_, open, folder) => {
    let acknowledge = (): void => {};
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    // the first flush of the new file waits for a post to be acknowledged in the old one
    const disk: Disk = {
      ...DISK,
      async sync(fd) {
        await acknowledged;
        await DISK.sync(fd);
      },
    };
    const created = await open();
    await created.append([newPost(1), newPost(2, '- k')]);
    await created.close();
    acknowledge();
    const journal = await open({ disk });
    const retired = journal.retire(({ sequence }) => sequence <= 3);
    await journal.append([newPost(3)]);
    acknowledge();
    await Promise.all([retired, journal.append([newPost(4)]), journal.append([newPost(5)])]);
    // the third was not there when the posts were asked for
    assert.is(numbers(journal.replay()), '3:3 4:4 5:5');
    await journal.append([newPost(6)]);
    await journal.close();
    assert.equal(readdirSync(folder), ['points.journal']);
    const again = await open();
    assert.is(numbers(again.replay()), '3:3 4:4 5:5 6:6');
  }));

test('the new file has the permissions of the old one', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    assert.is(statSync(path).mode & 0o777, 0o640 & ~process.umask());
    chmodSync(path, 0o664);
    await journal.append([newPost(1)]);
    await journal.retire(() => true);
    assert.is(statSync(path).mode & 0o777, 0o664);
  }));

testUnless(
  process.getuid?.() === 0 ? undefined : 'only root may give files away',
  'the new file belongs to whom the old one did',
  () =>
    withJournal(async (path, open) => {
      const journal = await open();
      chownSync(path, 4711, 4712);
      await journal.append([newPost(1)]);
      await journal.retire(() => true);
      const { uid, gid, mode } = statSync(path);
      assert.equal([uid, gid, mode & 0o777], [4711, 4712, 0o640 & ~process.umask()]);
    }),
);

test('several that retire at once come one after the other', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    await journal.append(Array.from({ length: 30 }, (_, i) => newPost(i + 1)));
    const retiring = [2, 3, 5].map((n) => journal.retire(({ sequence }) => sequence % n === 0));
    await Promise.all([...retiring, journal.append([newPost(31)])]);
    assert.is(numbers(journal.replay()), '1:1 7:7 11:11 13:13 17:17 19:19 23:23 29:29 31:31');
  }));

test.run();
