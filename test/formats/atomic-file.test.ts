import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../src/formats/system-files.js';
import { failure, refusal } from '../support/errors.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const NOBODY = 65_534;

async function refused(run: () => Promise<unknown>, why: RegExp): Promise<void> {
  assert.match(await refusal(run()), why);
}

test('the name stands for the old content until the new one is whole', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  const result = await writeAtomically(path, async (fd) => {
    writeSync(fd, 'new ');
    assert.is(readFileSync(path, 'utf8'), 'old');
    await null;
    writeSync(fd, 'content');
    assert.is(readFileSync(path, 'utf8'), 'old');
    return 42;
  });
  assert.is(result, 42);
  assert.is(readFileSync(path, 'utf8'), 'new content');
  assert.equal(readdirSync(folder), ['file']);
});

test('a new file gets ordinary permissions, a replaced one keeps its own', async () => {
  const path = join(makeFolder(), 'file');
  await writeAtomically(path, () => {});
  assert.is(statSync(path).mode & 0o777, 0o666 & ~process.umask());
  chmodSync(path, 0o640);
  await writeAtomically(path, () => {});
  assert.is(statSync(path).mode & 0o777, 0o640);
});

test('what takes the place of a file that few may read is never read by others', async () => {
  const path = join(makeFolder(), 'file');
  writeFileSync(path, 'old', { mode: 0o600 });
  await writeAtomically(path, (fd) => {
    assert.is(fstatSync(fd).mode & 0o777, 0o600);
  });
});

test('a link to a file that is not there yet stays a link, and the file is made', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'inner'));
  symlinkSync('second', join(folder, 'first'));
  symlinkSync('inner/file', join(folder, 'second'));
  await writeAtomically(join(folder, 'first'), (fd) => {
    writeSync(fd, 'new');
  });
  assert.is(readlinkSync(join(folder, 'first')), 'second');
  assert.is(readlinkSync(join(folder, 'second')), 'inner/file');
  assert.is(readFileSync(join(folder, 'inner/file'), 'utf8'), 'new');
  const circle = join(folder, 'circle');
  symlinkSync('circle', circle);
  await refused(() => writeAtomically(circle, () => {}), /circle: cannot be written: .*ELOOP/);
  assert.is(readlinkSync(circle), 'circle');
});

test('the temporary file is hidden and has another ending', async () => {
  const folder = makeFolder();
  await writeAtomically(join(folder, 'a.waypost'), () => {
    assert.match(readdirSync(folder).join(), /^\.waypost-[0-9a-f]{16}\.tmp$/);
  });
});

test('what a killed process has left is removed once nothing was written to it for a day', async () => {
  const folder = makeFolder();
  const [hour, now] = [3_600, Date.now() / 1000];
  const left = (name: string, hours: number): string => {
    writeFileSync(join(folder, name), 'half');
    utimesSync(join(folder, name), now, now - hours * hour);
    return name;
  };
  left('.waypost-0123456789abcdef.tmp', 25);
  // of an earlier version
  left('.waypost-0b6e5a1c9d3f-4711-81234567-9f8e7d6c.tmp', 100);
  const kept = [
    left('.waypost-fedcba9876543210.tmp', 23),
    ...['.waypost-x.tmp', '.waypost-0123.tmp.bak', 'notes.tmp'].map((name) => left(name, 99)),
  ];
  mkdirSync(join(folder, '.waypost-00.tmp'));
  utimesSync(join(folder, '.waypost-00.tmp'), now, 0);
  await writeAtomically(join(folder, 'ours'), () => {});
  assert.equal(readdirSync(folder).sort(), [...kept, '.waypost-00.tmp', 'ours'].sort());
});

test('when writing fails the old file stays, and nothing else does', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  const reason = new Error('no more points');
  const error = await failure(
    writeAtomically(path, (fd) => {
      writeSync(fd, 'half');
      throw reason;
    }),
  );
  assert.is(error, reason);
  assert.is(readFileSync(path, 'utf8'), 'old');
  assert.equal(readdirSync(folder), ['file']);
});

test('when it is aborted the old file stays, and nothing else does', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  const abort = new AbortController();
  const reason = new Error('interrupted');
  const error = await failure(writeAtomically(path, () => abort.abort(reason), abort.signal));
  assert.is(error, reason);
  assert.is(readFileSync(path, 'utf8'), 'old');
  assert.equal(readdirSync(folder), ['file']);
});

test('two at once leave one whole file', async () => {
  const folder = makeFolder();
  const path = join(folder, 'file');
  const write = (text: string): Promise<void> =>
    writeAtomically(path, async (fd) => {
      for (const part of text) {
        writeSync(fd, part);
        await null;
      }
    });
  await Promise.all([write('aaaaaaaa'), write('bbbb')]);
  assert.match(readFileSync(path, 'utf8'), /^(aaaaaaaa|bbbb)$/);
  assert.equal(readdirSync(folder), ['file']);
});

test('a symbolic link stays one, a hard link parts from its other name', async () => {
  const folder = makeFolder();
  const [file, soft, hard] = ['file', 'soft', 'hard'].map((name) => join(folder, name));
  writeFileSync(file!, 'old');
  symlinkSync('file', soft!);
  linkSync(file!, hard!);
  await writeAtomically(soft!, (fd) => {
    writeSync(fd, 'new');
  });
  assert.is(readlinkSync(soft!), 'file');
  assert.is(readFileSync(file!, 'utf8'), 'new');
  assert.is(readFileSync(hard!, 'utf8'), 'old');
});

test('what cannot be written is refused before any work is done', async () => {
  const folder = makeFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const never = (): void => assert.unreachable();
  await refused(() => writeAtomically(join(folder, 'no', 'x'), never), /x: .* no folder .*no$/);
  await refused(() => writeAtomically(join(file, 'x'), never), /there is no folder/);
  await refused(() => writeAtomically(folder, never), /it is a folder/);
  await refused(() => writeAtomically('/dev/null', never), /no regular file/);
  assert.equal(readdirSync(folder), ['file']);
});

test('a folder without permission is named', async () => {
  const folder = makeFolder();
  const locked = join(folder, 'locked');
  mkdirSync(locked, 0o555);
  const root = process.geteuid?.() === 0;
  if (root) {
    chmodSync(folder, 0o755);
    process.seteuid!(NOBODY);
  }
  try {
    await refused(
      () => writeAtomically(join(locked, 'x'), () => {}),
      /no permission to write into the folder .*locked/,
    );
  } finally {
    if (root) process.seteuid!(0);
  }
});

test('a full disk is said to be one', async () => {
  const folder = makeFolder();
  // Linux has a device that is always full
  if (!existsSync('/dev/full')) return;
  await refused(
    () =>
      writeAtomically(join(folder, 'x'), () => {
        const full = openSync('/dev/full', 'w');
        try {
          writeSync(full, 'x');
        } finally {
          closeSync(full);
        }
      }),
    /x: cannot be written: the disk is full/,
  );
  assert.equal(readdirSync(folder), []);
});

test.run();
