import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/posts/journal.js';
import { Store } from '../../src/posts/store.js';
import { keyOf, newPost, numbers, withStore } from '../support/journals.js';

/** What can happen to a file behind the back of the process that owns it; `old` is a copy of it. */
const ACCIDENTS: Readonly<Record<string, (path: string, old: string) => void>> = {
  truncated: (path) => truncateSync(path, 0),
  halved: (path) => truncateSync(path, statSync(path).size >> 1),
  removed: (path) => rmSync(path),
  'removed with the file beside it'(path) {
    rmSync(path);
    rmSync(`${path}-journal`);
  },
  'overwritten by an older copy': (path, old) => copyFileSync(old, path),
  'overwritten by an older copy with its time'(path, old) {
    const { atime, mtime } = statSync(old);
    copyFileSync(old, path);
    utimesSync(path, atime, mtime);
  },
  'replaced by an older copy': (path, old) => renameSync(old, path),
  'overwritten by nonsense': (path) => writeFileSync(path, 'x'.repeat(statSync(path).size)),
  'replaced by nonsense'(path) {
    writeFileSync(`${path}.x`, 'nonsense');
    renameSync(`${path}.x`, path);
  },
  'replaced by an empty file'(path) {
    writeFileSync(`${path}.x`, '');
    renameSync(`${path}.x`, path);
  },
};

for (const [name, happen] of Object.entries(ACCIDENTS)) {
  for (const then of ['append', 'look', 'close'] as const) {
    test(`has all posts after the file was ${name}, and next comes ${then}`, async () => {
      await withStore((path, open) => {
        const heard: string[] = [];
        const store = open({ onAnew: (reason) => heard.push(reason) });
        store.append([newPost(1, '- a')]);
        copyFileSync(path, `${path}.copy`);
        store.append(Array.from({ length: 50 }, (_, i) => newPost(i + 2, `- ${i}`)));
        happen(path, `${path}.copy`);
        if (then === 'append') assert.equal(store.append([newPost(60)]), [{ sequence: 52 }]);
        if (then === 'look') store.look();
        assert.is(heard.length, then === 'close' ? 0 : 1);
        // the process is killed, or ends well
        if (then === 'close') store.close();
        else store.abandon();
        const next = open();
        const posts = then === 'append' ? 52 : 51;
        assert.is(next.posts, posts);
        assert.is(next.head.name, store.head.name);
        assert.equal(next.find('- 49')?.key, keyOf('- 49'));
        assert.equal(next.append([newPost(70)]), [{ sequence: posts + 1 }]);
      });
    });
  }
}

test('puts a file aside that is not its own, and goes on', async () => {
  await withStore((path, open) => {
    const other = new Store(`${path}.other`);
    other.append([newPost(500)]);
    other.close();
    const store = open();
    store.append([newPost(1)]);
    renameSync(`${path}.other`, path);
    store.append([newPost(2)]);
    store.close();
    assert.is(numbers(open().read(0, 9)), '1:1 2:2');
    const aside = readdirSync(dirname(path)).find((name) => name.includes('.aside-'))!;
    const kept = new Store(`${dirname(path)}/${aside}`);
    assert.is(numbers(kept.read(0, 9)), '1:500');
    kept.close();
  });
});

test('writes nothing while its folder is elsewhere, and goes on when it is back', async () => {
  await withStore((path, open) => {
    const store = open();
    store.append([newPost(1)]);
    const folder = dirname(path);
    renameSync(folder, `${folder}-away`);
    assert.throws(() => store.append([newPost(2)]), isFailing);
    assert.throws(() => store.append([newPost(2)]), isFailing);
    renameSync(`${folder}-away`, folder);
    assert.equal(store.append([newPost(3)]), [{ sequence: 2 }]);
    store.close();
    assert.is(numbers(open().read(0, 9)), '1:1 2:3');
  });
});

test('keeps the rights of the file that it writes anew', async () => {
  await withStore((path, open) => {
    const store = open();
    store.append([newPost(1)]);
    const mode = 0o640;
    rmSync(`${path}.x`, { force: true });
    writeFileSync(`${path}.x`, '', { mode });
    renameSync(`${path}.x`, path);
    store.append([newPost(2)]);
    assert.is(statSync(path).mode & 0o777, mode);
    assert.not.ok(existsSync(`${path}.new`));
  });
});

test('refuses what is no journal, and leaves it as it is', async () => {
  await withStore((path, open) => {
    const head = '{"journal":"waypost","version":1,"posts":0}\n';
    for (const [bytes, reason] of [
      ['points of some kind\n', /no journal of accepted points/],
      [`0a1b2c3d ${head}`, /former version/],
      [`SQLite format 3\0${'\0'.repeat(5000)}`, /damaged/],
    ] as const) {
      writeFileSync(path, bytes);
      assert.throws(open, (error: Error) => {
        assert.instance(error, StoreError);
        assert.is((error as StoreError).fault, 'refused');
        assert.match(error.message, reason);
        return true;
      });
      assert.is(readFileSync(path, 'latin1'), bytes);
      rmSync(path);
    }
    mkdirSync(path);
    assert.throws(open, (error: Error) => error instanceof StoreError);
    rmSync(path, { recursive: true });
  });
});

test('begins a journal in an empty file', async () => {
  await withStore((path, open) => {
    writeFileSync(path, '');
    assert.equal(open().append([newPost(1)]), [{ sequence: 1 }]);
  });
});

function isFailing(error: Error): boolean {
  return error instanceof StoreError && error.fault === 'failing';
}

test.run();
