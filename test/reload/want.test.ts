import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBuilder } from '../../src/reload/build.js';
import { makeFolder } from '../support/folder.js';
import { countOf, firstFile, markedLines, replaceFile } from '../support/marked.js';
import { startReloading } from '../support/reloading.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const WANTS: Readonly<Record<string, Error>> = {
  'file descriptors': Object.assign(new Error('EMFILE: too many open files, open'), {
    code: 'EMFILE',
    syscall: 'open',
  }),
  memory: new RangeError('Array buffer allocation failed'),
  'the build thread': new Error('the build thread ended with code 1'),
};

for (const [what, want] of Object.entries(WANTS)) {
  test(`what fails for want of ${what} is tried again by itself, later each time`, async () => {
    const path = firstFile();
    const tries: number[] = [];
    let isWanting = false;
    const { look, current, served, outcomes, errors } = await startReloading(path, {
      retryMs: 30,
      build(real, ...task) {
        if (!isWanting) return real(...task);
        tries.push(performance.now());
        return Promise.reject(want);
      },
    });
    isWanting = true;
    replaceFile(path, markedLines(2));
    await look();
    assert.match(current.stale!.reason, want.message);
    await until('it was tried four times', () => tries.length >= 4);
    const [first, second, third] = tries.map((time, i) => (tries[i + 1] ?? 0) - time);
    assert.ok(first! >= 29 && second! >= 59 && third! >= 119, `${tries}`);
    isWanting = false;
    await until('it is served', () => served()[1] === countOf(2));
    await until('nothing is stale', () => current.stale === undefined);
    assert.is(errors().length, 1, 'it was logged once');
    assert.is(outcomes.at(-1), 'loaded');
  });
}

test('a good snapshot that could not be served yet is tried again, whatever the system said', async () => {
  const path = firstFile();
  let isWanting = false;
  const { look, current, served } = await startReloading(path, {
    retryMs: 1,
    onLoaded() {
      if (!isWanting) return;
      const cause = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'rename' });
      throw new Error('the journal cannot be written anew', { cause });
    },
  });
  isWanting = true;
  replaceFile(path, markedLines(2));
  void look();
  await until('it is told', () => current.stale !== undefined);
  assert.match(current.stale!.reason, 'the journal cannot be written anew');
  isWanting = false;
  await until('it is served', () => served()[1] === countOf(2));
});

// what stands there is a regular file to the system, whose first byte cannot be read
const UNREADABLE = '/proc/self/mem';
const system = existsSync(UNREADABLE) ? test : test.skip;

system('an error of the system is no verdict on the file, one in the file is', async () => {
  const build = createBuilder({ maxInvalid: 0 });
  const errorOf = async (path: string): Promise<Error> =>
    build({ path, unless: undefined }).then(
      () => assert.unreachable() as never,
      (error: Error) => error,
    );
  const failed = await errorOf(UNREADABLE);
  assert.equal([failed.name, /EIO/.test(failed.message)], ['Error', true], failed.message);
  const tooLong = await errorOf(join(makeFolder(), 'x'.repeat(300)));
  assert.equal([tooLong.name, /ENAMETOOLONG/.test(tooLong.message)], ['Error', true]);
  const bad = join(makeFolder(), 'bad');
  writeFileSync(bad, 'garbage\n');
  assert.is((await errorOf(bad)).name, 'InputError');
  assert.is((await errorOf(join(bad, '..', 'missing'))).name, 'InputError');
});

test('a snapshot that could not be looked at when it was read is read again', async () => {
  const folder = makeFolder();
  const [data, way] = [join(folder, 'data'), join(folder, 'way')];
  mkdirSync(data);
  writeFileSync(join(data, 'points'), markedLines(1));
  // a link that cannot be followed, though not for want of a file
  const lead = (target: string): void => {
    rmSync(way, { force: true });
    symlinkSync(target, way);
  };
  lead('data');
  let isBreaking = false;
  const { look, current, served, outcomes } = await startReloading(join(way, 'points'), {
    retryMs: 1,
    async build(real, ...task) {
      const result = await real(...task);
      if (isBreaking) lead('x'.repeat(300));
      return result;
    },
  });
  isBreaking = true;
  replaceFile(join(data, 'points'), markedLines(2));
  await look();
  assert.match(current.stale!.reason, 'ENAMETOOLONG');
  assert.equal(served(), [1, countOf(1)]);
  isBreaking = false;
  lead('data');
  await look();
  assert.equal(served(), [2, countOf(2)]);
  assert.is(current.stale, undefined);
  assert.equal(outcomes, ['loaded', 'abandoned', 'failed', 'loaded']);
});

test('what was wrong in the file is not tried again until somebody says so', async () => {
  const path = firstFile();
  const { look, builds } = await startReloading(path, { retryMs: 1 });
  replaceFile(path, 'garbage\n');
  for (let i = 0; i < 5; i++) await look();
  assert.is(builds.begun, 2);
  await look(true);
  assert.is(builds.begun, 3);
});

test.run();
