import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Random } from '../../src/cli/generate/random.js';
import { StoreError } from '../../src/posts/journal.js';
import { Store } from '../../src/posts/store.js';
import { ACCIDENTS, type Ordered } from '../support/accidents.js';
import { keyOf, makeStore, newPost, numbers } from '../support/journals.js';
import { FIRST_NOTE, suffer, toldNothing } from '../support/kept-posts.js';
import { readyOf } from '../support/operating.js';
import { type Service, startService } from '../support/service.js';
import { assert, IS_SOAK, makeFolder, test, thrownBy, until } from '../support/uvu.js';

for (const [name, happen] of Object.entries(ACCIDENTS)) {
  for (const then of ['append', 'look', 'close'] as const) {
    test(`has all posts after the file was ${name}, and next comes ${then}`, async () => {
      const { path, open } = makeStore();
      const heard: string[] = [];
      const store = open((reason) => void heard.push(reason));
      store.append([newPost(1, '- a')]);
      fs.copyFileSync(path, `${path}.copy`);
      store.append(Array.from({ length: 50 }, (_, i) => newPost(i + 2, `- ${i}`)));
      happen(path, `${path}.copy`);
      if (then === 'append') assert.equal(store.append([newPost(60)]), [52]);
      if (then === 'look') store.look();
      assert.is(heard.length, then === 'close' ? 0 : 1);
      // the process is killed, or ends well
      if (then === 'close') store.close();
      else store.abandon();
      const next = open();
      const posts = then === 'append' ? 52 : 51;
      assert.is(next.state.posts, posts);
      assert.is(next.state.name, store.state.name);
      assert.equal(next.find('- 49')?.key, keyOf('- 49'));
      assert.equal(next.append([newPost(70)]), [posts + 1]);
    });
  }
}

const ROUNDS = IS_SOAK ? 20 : 1;

test('has all posts when the file was changed within a transaction, and two more came', async () => {
  const thread = new Worker(new URL('../support/accidents.js', import.meta.url));
  const random = new Random(3, 'point');
  for (const name of Object.keys(ACCIDENTS)) {
    for (let round = 0; round < ROUNDS; round++) {
      const { path, open } = makeStore();
      const store = open();
      let count = 0;
      const append = (): boolean => {
        try {
          store.append([newPost(count + 1)]);
          count++;
          return true;
        } catch (error) {
          // refused, so that it is sent again
          assert.ok(isFailing(error as Error), String(error));
          return false;
        }
      };
      while (count < 20) append();
      fs.copyFileSync(path, `${path}.copy`);
      while (count < 50) append();
      const done = new Int32Array(new SharedArrayBuffer(4));
      const ms = random.between(0, 8);
      thread.postMessage({ name, path, old: `${path}.copy`, ms, done } satisfies Ordered);
      while (Atomics.load(done, 0) === 0) append();
      for (let left = 2; left > 0; ) if (append()) left--;
      store.abandon();
      const each = Array.from({ length: count }, (_, i) => ({ sequence: i + 1, id: i + 1 }));
      assert.is(numbers(open().read(0, 9_999)), numbers(each), `${name}, round ${round}`);
    }
  }
  await thread.terminate();
});

/** Over HTTP there is one more: the folder is elsewhere until posts are refused. */
const SERVED: Readonly<Record<string, (path: string, old: string, service: Service) => unknown>> = {
  ...ACCIDENTS,
  async 'moved with its folder, and back'(path, _old, service) {
    const [folder, away] = [dirname(path), `${dirname(path)}-away`];
    fs.renameSync(folder, away);
    await until('posts are refused', async () => !(await readyOf(service)).posts.accepted);
    fs.renameSync(away, folder);
    await until('posts are taken', async () => (await readyOf(service)).posts.accepted);
  },
};
const SHORTLY = /^(?:halved|overwritten by an older copy|moved with its folder, and back)$/;
const CLIENTS = 20;
/** Posts that are acknowledged after an accident, before the service is killed. */
const POSTS_AFTER = 2 * CLIENTS;

test('whatever happens to the file while clients post, the next start has all and doubles nothing', async () => {
  const folder = makeFolder();
  const random = new Random(5, 'point');
  const told = toldNothing(false);
  const snapshot = join(folder, 'notes');
  const path = join(folder, 'inside', 'points.journal');
  fs.mkdirSync(dirname(path));
  fs.writeFileSync(snapshot, FIRST_NOTE);
  const flags = ['--snapshot', snapshot];
  const start = (): Promise<Service> => startService(flags, { WAYPOST_JOURNAL: path });
  const accidents = Object.entries(SERVED).filter(([name]) => IS_SOAK || SHORTLY.test(name));
  const ordeal = { clients: CLIENTS, told, random, start };
  let service = await start();
  // in a short run one kill follows all accidents
  for (const some of IS_SOAK ? accidents.map((one) => [one]) : [accidents]) {
    const name = some.map(([one]) => one.replaceAll(' ', '-')).join();
    service = await suffer(service, name, ordeal, async (more) => {
      for (const [, happen] of some) {
        // the copy may hold half a transaction, which only the journal beside the original could
        // complete
        fs.copyFileSync(path, `${folder}/old`);
        await more();
        await happen(path, `${folder}/old`, service);
        await more(POSTS_AFTER);
      }
    });
  }
});

test('puts a file aside that is not its own, and goes on', async () => {
  const { path, open } = makeStore();
  const other = new Store(`${path}.other`);
  other.append([newPost(500)]);
  other.close();
  const store = open();
  store.append([newPost(1)]);
  fs.renameSync(`${path}.other`, path);
  store.append([newPost(2)]);
  store.close();
  assert.is(numbers(open().read(0, 9)), '1:1 2:2');
  const aside = fs.readdirSync(dirname(path)).find((name) => name.includes('.aside-'))!;
  const kept = new Store(`${dirname(path)}/${aside}`);
  assert.is(numbers(kept.read(0, 9)), '1:500');
  kept.close();
});

test('writes nothing while its folder is elsewhere, and goes on when it is back', async () => {
  const { path, open } = makeStore();
  const store = open();
  store.append([newPost(1)]);
  const folder = dirname(path);
  fs.renameSync(folder, `${folder}-away`);
  assert.throws(() => store.append([newPost(2)]), isFailing);
  assert.throws(() => store.append([newPost(2)]), isFailing);
  fs.renameSync(`${folder}-away`, folder);
  assert.equal(store.append([newPost(3)]), [2]);
  store.close();
  assert.is(numbers(open().read(0, 9)), '1:1 2:3');
});

test('keeps the rights of the file that it writes anew', async () => {
  const { path, open } = makeStore();
  const store = open();
  store.append([newPost(1)]);
  const mode = 0o640;
  fs.writeFileSync(`${path}.x`, '', { mode });
  fs.renameSync(`${path}.x`, path);
  store.append([newPost(2)]);
  assert.is(fs.statSync(path).mode & 0o777, mode);
  assert.not.ok(fs.existsSync(`${path}.new`));
});

test('refuses what is no journal, leaves it as it is, and begins one in an empty file', async () => {
  const { path, open } = makeStore();
  for (const [bytes, reason] of [
    ['points of some kind\n', /no journal of accepted points/],
    [`SQLite format 3\0${'\0'.repeat(5000)}`, /damaged/],
  ] as const) {
    fs.writeFileSync(path, bytes);
    const { fault, message } = thrownBy(StoreError, open);
    assert.is(fault, 'refused');
    assert.match(message, reason);
    assert.is(fs.readFileSync(path, 'latin1'), bytes);
    fs.rmSync(path);
  }
  fs.mkdirSync(path);
  assert.throws(open, 'no regular file');
  fs.rmSync(path, { recursive: true });
  // opening a pipe would wait for ever
  spawnSync('mkfifo', [path]);
  assert.throws(open, 'no regular file');
  fs.rmSync(path);
  fs.writeFileSync(path, '');
  assert.equal(open().append([newPost(1)]), [1]);
});

test('refuses a journal with damage at rest, and says what is damaged', async () => {
  const { path, open } = makeStore();
  const store = open();
  store.append([newPost(1, '- key-1'), newPost(2, '- key-2')]);
  store.close();
  const whole = fs.readFileSync(path);
  const { name } = store.state;
  for (const [text, byte, reason] of [
    [name, 0xff, /its name is none/],
    ['Valo', 0xff, /the CRC of post [12] is not that of its row/],
    // in the row, and in the index
    ['- key-1', 0x78, /the CRC of post 1 |missing from index/],
  ] as const) {
    const places = [...whole.toString('latin1').matchAll(new RegExp(text, 'g'))];
    assert.ok(places.length > 0, text);
    for (const { index } of places) {
      const bytes = Buffer.from(whole);
      bytes[index + text.length - 1] = byte;
      fs.writeFileSync(path, bytes);
      const { fault, message } = thrownBy(StoreError, open);
      assert.is(fault, 'refused');
      assert.match(message, reason);
    }
  }
  ACCIDENTS['replaced by another database']!(path, path);
  assert.match(thrownBy(StoreError, open).message, /no journal of this service: no such table/);
});

test('writes a row anew that went bad unseen, once its key was asked for', async () => {
  const { path, open } = makeStore();
  const store = open();
  store.append([newPost(1, '- key-1')]);
  spawnSync('cp', ['-p', path, `${path}.ref`]);
  const bytes = fs.readFileSync(path);
  bytes[bytes.indexOf('Valo')] = 0x78;
  fs.writeFileSync(path, bytes);
  spawnSync('touch', ['-r', `${path}.ref`, path]);
  // drops what SQLite has in memory
  store.look();
  assert.match(thrownBy(StoreError, () => store.find('- key-1')).message, /the CRC of post 1/);
  store.look();
  assert.equal(store.find('- key-1')?.key, keyOf('- key-1'));
});

function isFailing(error: Error): boolean {
  return error instanceof StoreError && error.fault === 'failing';
}

test.run();
