import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../src/model/quote.js';
import { createBuilder } from '../../src/reload/build.js';
import {
  type Decision,
  decide,
  type Look,
  type Refusal,
  refusalOf,
} from '../../src/reload/decide.js';
import { countOf, markedLines, replaceFile, switchLink } from '../support/marked.js';
import { startReloading } from '../support/reloading.js';
import { assert, failure, makeFile, makeFolder, test, until } from '../support/uvu.js';

const SETTLE_MS = 100;
const NOW = 10_000;

/** Since how many milliseconds each file has held still; `undefined` for one that is new. */
type Files = Readonly<Record<string, number | undefined>>;

function candidateOf(name: string) {
  return { path: name, own: name, identity: name, modifiedAt: 0 };
}

/** A look at these files, the newest first. */
function look(files: Files, given: Partial<Look> = {}): Decision {
  const candidates = Object.keys(files).map(candidateOf);
  const seen = new Map<string, number>();
  for (const [name, stillFor] of Object.entries(files))
    if (stillFor !== undefined) seen.set(name, NOW - stillFor);
  const nothing = { served: undefined, refused: new Map(), stale: undefined, inTurn: false };
  return decide({ now: NOW, candidates, settleMs: SETTLE_MS, seen, ...nothing, ...given });
}

function refusal(path: string, retryAt = Number.POSITIVE_INFINITY): Refusal {
  return { path, reason: `${path} is bad`, tries: 1, retryAt };
}

function refused(...all: readonly Refusal[]): Map<string, Refusal> {
  return new Map(all.map((one) => [one.path, one]));
}

function summary({ next, settlesAt, retryAt, stale }: Decision): unknown[] {
  const times = [settlesAt, retryAt].map((at) => (Number.isFinite(at) ? at : undefined));
  return [next?.path, ...times, stale?.path];
}

test('the newest file that held still is built; what is older than the served one is not looked at', () => {
  const decision = look({ a: 500, b: 500 });
  assert.equal(summary(decision), ['a', undefined, undefined, undefined]);
  assert.equal(summary(look({ a: 500, b: 500 }, { served: 'a' })), Array(4).fill(undefined));
  assert.equal([...look({ a: 1, b: 500, c: 500 }, { served: 'b' }).seen.keys()], ['a']);
  assert.is(look({ b: 500, a: 1 }, { served: 'a' }).next?.path, 'b');
});

test('a new file must hold still first; an older one that did is built meanwhile', () => {
  const alone = look({ a: undefined });
  assert.equal(summary(alone), [undefined, NOW + SETTLE_MS, undefined, undefined]);
  assert.equal(alone.seen, new Map([['a', NOW]]));
  const both = look({ a: 40, b: 500 });
  assert.equal(summary(both), ['b', NOW + SETTLE_MS - 40, undefined, undefined]);
  const waits = look({ a: 40, b: 90 });
  assert.equal(summary(waits), [undefined, NOW + 10, undefined, undefined], 'they overlap');
  assert.is(look({ a: SETTLE_MS }).next?.path, 'a');
  assert.is(look({ a: undefined }, { settleMs: 0 }).next?.path, 'a');
});

test('a slow copy that turns out to be old is not looked at any more', () => {
  const copying = look({ copy: undefined, served: 500 }, { served: 'served' });
  assert.is(copying.settlesAt, NOW + SETTLE_MS);
  const over = look({ served: 500, 'copy, old': 0 }, { served: 'served', seen: copying.seen });
  assert.equal(summary(over), Array(4).fill(undefined));
  assert.equal(over.seen, new Map());
});

test('in turn, the file that was seen first is built; of several such, the newest', () => {
  const files = { a: undefined, b: 300, c: 500, d: 500, e: 200 };
  assert.is(look(files).next?.path, 'b');
  assert.is(look(files, { inTurn: true }).next?.path, 'c');
  assert.is(look(files, { inTurn: true, refused: refused(refusal('c')) }).next?.path, 'd');
  assert.is(look(files, { inTurn: true, served: 'c' }).next?.path, 'b');
});

test('a refused file is passed over, and the newest refused one is reported as stale', () => {
  const bad = refused(refusal('a'), refusal('b'));
  const decision = look({ a: 500, b: 500, c: 500, d: 500 }, { refused: bad, served: 'd' });
  assert.equal(summary(decision), ['c', undefined, undefined, 'a']);
  assert.equal([...decision.seen.keys()], ['a', 'b', 'c'], 'what is known of others is forgotten');
  const behind = look({ c: 500, a: 500, b: 500 }, { refused: bad });
  assert.is(behind.next?.path, 'c');
  assert.ok(behind.seen.has('b'), 'unless what is to be built may yet be refused');
  const served = look({ c: 500, a: 500 }, { refused: bad, served: 'c', stale: refusal('a') });
  assert.is(served.stale, undefined);
});

test('a file that failed for want of resources is tried again once its time has come', () => {
  const later = refused(refusal('a', NOW + 700), refusal('b', NOW + 300));
  const files = { a: 500, b: 500, c: 500 };
  const waits = look(files, { refused: later, served: 'c' });
  assert.equal(summary(waits), [undefined, undefined, NOW + 300, 'a']);
  const due = look(files, { refused: refused(refusal('a', NOW), refusal('b')), served: 'c' });
  assert.equal(summary(due), ['a', undefined, undefined, 'a'], 'stale until it is served');
});

test('what was stale stays so until a newer file is served', () => {
  const stale = refusal('old');
  assert.is(look({ a: undefined }, { stale }).stale, stale);
  assert.is(look({ a: 500 }, { stale }).stale, stale);
  assert.is(look({ a: 500 }, { stale, served: 'a' }).stale, undefined);
});

test('a folder that could not be listed keeps the files that were seen in it', () => {
  const problem = { ...candidateOf('EMFILE'), path: 'folder', problem: new Error('EMFILE') };
  const seen = new Map([['bad', 1]]);
  const known = { refused: refused(refusal('bad'), refusal('EMFILE', NOW + 7)) };
  const failed = look({}, { ...known, seen, candidates: [problem] });
  assert.equal([...failed.seen], [...seen, ['EMFILE', NOW]]);
  assert.equal(summary(failed), [undefined, undefined, NOW + 7, 'EMFILE']);
  const again = look({ new: undefined, bad: undefined }, { ...known, seen: failed.seen });
  assert.equal([...again.seen], [['new', NOW], ...seen]);
  assert.is(again.next, undefined);
});

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(code), { code, syscall });
}

const WANTS: Readonly<Record<string, Error>> = {
  'file descriptors': systemError('EMFILE', 'open'),
  memory: new RangeError('Array buffer allocation failed'),
  'the build thread': new Error('the build thread ended with code 1'),
};

for (const [what, want] of Object.entries(WANTS)) {
  test(`a build that fails for want of ${what} is tried again by itself, later each time`, async () => {
    const tries: number[] = [];
    let isWanting = false;
    const { current, put, outcomes, served, errors } = await startReloading({
      retryMs: 30,
      build(real, ...task) {
        if (!isWanting) return real(...task);
        tries.push(performance.now());
        return Promise.reject(want);
      },
    });
    isWanting = true;
    await put(2);
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
  let isWanting = false;
  const { current, put, served } = await startReloading({
    retryMs: 1,
    onLoaded() {
      if (!isWanting) return;
      const cause = systemError('EACCES', 'rename');
      throw new Error('the journal cannot be written anew', { cause });
    },
  });
  isWanting = true;
  void put(2);
  await until('it is told', () => current.stale !== undefined);
  assert.match(current.stale!.reason, 'the journal cannot be written anew');
  isWanting = false;
  await until('it is served', () => served()[1] === countOf(2));
});

// a regular file to the system, whose first byte cannot be read
const UNREADABLE = '/proc/self/mem';
const system = existsSync(UNREADABLE) ? test : test.skip;

system('an error of the system is no verdict on the file, one in the file is', async () => {
  const build = createBuilder({ maxInvalid: 0 });
  const errorOf = (path: string): Promise<Error> => failure(build({ path }));
  const failed = await errorOf(UNREADABLE);
  assert.equal([failed.name, /EIO/.test(failed.message)], ['Error', true], failed.message);
  const tooLong = await errorOf(join(makeFolder(), 'x'.repeat(300)));
  assert.equal([tooLong.name, /ENAMETOOLONG/.test(tooLong.message)], ['Error', true]);
  const bad = makeFile('garbage\n', 'bad');
  assert.is((await errorOf(bad)).name, 'InputError');
  assert.is((await errorOf(join(bad, '..', 'missing'))).name, 'InputError');
});

test('a snapshot that could not be looked at when it was read is read again', async () => {
  const folder = makeFolder();
  const [data, way] = [join(folder, 'data'), join(folder, 'way')];
  mkdirSync(data);
  writeFileSync(join(data, 'points'), markedLines(1));
  // a link that cannot be followed, though not for want of a file
  const linkTo = (target: string): void => switchLink(target, way);
  linkTo('data');
  let isBreaking = false;
  const { current, look, lookFor, outcomes, served } = await startReloading({
    path: join(way, 'points'),
    retryMs: 1,
    async build(real, ...task) {
      const result = await real(...task);
      if (isBreaking) linkTo('x'.repeat(300));
      return result;
    },
  });
  isBreaking = true;
  replaceFile(join(data, 'points'), markedLines(2));
  await look();
  assert.match(current.stale!.reason, 'ENAMETOOLONG');
  assert.equal(served(), [1, countOf(1)]);
  isBreaking = false;
  linkTo('data');
  await lookFor(2);
  assert.is(current.stale, undefined);
  assert.equal(outcomes, ['loaded', 'abandoned', 'failed', 'loaded']);
});

test('a download whose content is refused is made ten times, other failures are tried for ever', () => {
  const content = new Error('bad', { cause: new InputError('bad') });
  for (const [error, last] of [
    [content, 10],
    [new Error('the server answers 500'), Number.POSITIVE_INFINITY],
    [new InputError('bad'), 1],
  ] as const) {
    let refusal: Refusal | undefined;
    for (let tries = 1; tries <= 20; tries++) {
      refusal = refusalOf('one', error, refusal, 1_000);
      assert.is(refusal.retryAt === Number.POSITIVE_INFINITY, tries >= last, `${error}, ${tries}`);
    }
  }
});

test.run();
