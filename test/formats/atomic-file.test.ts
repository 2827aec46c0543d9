import * as fs from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../src/formats/system-files.js';
import { assert, makeFolder, refusal, test } from '../support/uvu.js';

const NOBODY = 65_534;

async function refused(path: string, why: RegExp, write = (_: number): void => {}): Promise<void> {
  assert.match(await refusal(writeAtomically(path, write)), why);
}

const contentOf = (path: string): string => fs.readFileSync(path, 'utf8');

/** A folder with nothing but `file`, whose content is old. */
function withFile(): { folder: string; path: string } {
  const folder = makeFolder();
  const path = join(folder, 'file');
  fs.writeFileSync(path, 'old');
  return { folder, path };
}

test('the name stands for the old content until the new one is whole', async () => {
  const { folder, path } = withFile();
  const result = await writeAtomically(path, async (fd) => {
    fs.writeSync(fd, 'new ');
    assert.is(contentOf(path), 'old');
    await null;
    fs.writeSync(fd, 'content');
    assert.is(contentOf(path), 'old');
    return 42;
  });
  assert.is(result, 42);
  assert.is(contentOf(path), 'new content');
  assert.equal(fs.readdirSync(folder), ['file']);
});

test('a new file gets ordinary permissions, what replaces one has its own from the start', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file.waypost');
  // hidden, and with another ending
  await writeAtomically(path, () => {
    assert.match(fs.readdirSync(folder).join(), /^\.waypost-[0-9a-f]{16}\.tmp$/);
  });
  assert.is(fs.statSync(path).mode & 0o777, 0o666 & ~process.umask());
  for (const mode of [0o640, 0o600]) {
    fs.chmodSync(path, mode);
    await writeAtomically(path, (fd) => assert.is(fs.fstatSync(fd).mode & 0o777, mode));
    assert.is(fs.statSync(path).mode & 0o777, mode);
  }
});

test('a link to a file that is not there yet stays a link, and the file is made', async () => {
  const folder = makeFolder();
  fs.mkdirSync(join(folder, 'inner'));
  fs.symlinkSync('second', join(folder, 'first'));
  fs.symlinkSync('inner/file', join(folder, 'second'));
  await writeAtomically(join(folder, 'first'), (fd) => void fs.writeSync(fd, 'new'));
  assert.is(fs.readlinkSync(join(folder, 'first')), 'second');
  assert.is(fs.readlinkSync(join(folder, 'second')), 'inner/file');
  assert.is(contentOf(join(folder, 'inner/file')), 'new');
  const circle = join(folder, 'circle');
  fs.symlinkSync('circle', circle);
  await refused(circle, /circle: cannot be written: .*ELOOP/);
  assert.is(fs.readlinkSync(circle), 'circle');
});

test('what a killed process has left is removed once nothing was written to it for a day', async () => {
  const folder = makeFolder();
  const [hour, now] = [3_600, Date.now() / 1000];
  const left = (name: string, hours: number): string => {
    fs.writeFileSync(join(folder, name), 'half');
    fs.utimesSync(join(folder, name), now, now - hours * hour);
    return name;
  };
  left('.waypost-0123456789abcdef.tmp', 25);
  // of an earlier version
  left('.waypost-0b6e5a1c9d3f-4711-81234567-9f8e7d6c.tmp', 100);
  const kept = [
    left('.waypost-fedcba9876543210.tmp', 23),
    ...['.waypost-x.tmp', '.waypost-0123.tmp.bak', 'notes.tmp'].map((name) => left(name, 99)),
  ];
  fs.mkdirSync(join(folder, '.waypost-00.tmp'));
  fs.utimesSync(join(folder, '.waypost-00.tmp'), now, 0);
  await writeAtomically(join(folder, 'ours'), () => {});
  assert.equal(fs.readdirSync(folder).sort(), [...kept, '.waypost-00.tmp', 'ours'].sort());
});

test('two at once leave one whole file', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file');
  const write = (text: string): Promise<void> =>
    writeAtomically(path, async (fd) => {
      for (const part of text) {
        fs.writeSync(fd, part);
        await null;
      }
    });
  await Promise.all([write('aaaaaaaa'), write('bbbb')]);
  assert.match(contentOf(path), /^(aaaaaaaa|bbbb)$/);
  assert.equal(fs.readdirSync(folder), ['file']);
});

test('a symbolic link stays one, a hard link parts from its other name', async () => {
  const { folder, path } = withFile();
  const [soft, hard] = [join(folder, 'soft'), join(folder, 'hard')];
  fs.symlinkSync('file', soft);
  fs.linkSync(path, hard);
  await writeAtomically(soft, (fd) => void fs.writeSync(fd, 'new'));
  assert.equal([fs.readlinkSync(soft), contentOf(path), contentOf(hard)], ['file', 'new', 'old']);
});

test('what cannot be written is refused before any work is done', async () => {
  const { folder, path } = withFile();
  const cases: [path: string, why: RegExp][] = [
    [join(folder, 'no', 'x'), /x: .* no folder .*no$/],
    [join(path, 'x'), /there is no folder/],
    [folder, /it is a folder/],
    ['/dev/null', /no regular file/],
  ];
  for (const [to, why] of cases) await refused(to, why, () => assert.unreachable());
  assert.equal(fs.readdirSync(folder), ['file']);
});

test('a folder without permission is named', async () => {
  const folder = makeFolder();
  const locked = join(folder, 'locked');
  fs.mkdirSync(locked, 0o555);
  const root = process.geteuid?.() === 0;
  if (root) fs.chmodSync(folder, 0o755);
  if (root) process.seteuid!(NOBODY);
  try {
    await refused(join(locked, 'x'), /no permission to write into the folder .*locked/);
  } finally {
    if (root) process.seteuid!(0);
  }
});

test('a full disk is said to be one', async () => {
  const folder = makeFolder();
  // Linux has a device that is always full
  if (!fs.existsSync('/dev/full')) return;
  const full = fs.openSync('/dev/full', 'w');
  const write = (): void => void fs.writeSync(full, 'x');
  await refused(join(folder, 'x'), /x: cannot be written: the disk is full/, write);
  fs.closeSync(full);
  assert.equal(fs.readdirSync(folder), []);
});

test.run();
