import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Limits, type Outcome, runAll } from '../runner/pool.js';
import { sourceLines } from '../runner/protocol.js';
import { isRunning } from '../support/service.js';
import { assert, test, until } from '../support/uvu.js';

// beside the tests, so that they find uvu
const folder = mkdtempSync(join(import.meta.dirname, 'runner-'));
test.after(() => rmSync(folder, { recursive: true }));

const HEAD = `import { test } from 'uvu';`;
const GOOD = `${HEAD} test('a', () => {}); test.skip('b'); test.run();`;
const LIMITS: Limits = { silenceMs: 60_000, closingMs: 200 };

/** Runs files of these texts in turn, in one process where they let it; the outcomes in order. */
async function outcomesOf(texts: readonly string[], limits = LIMITS): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const tasks = texts.map((text, index) => {
    const path = join(folder, `${index}-${Math.random()}.js`);
    writeFileSync(path, text);
    const done = (outcome: Outcome): void => void outcomes.push(outcome);
    return { path, needsOwnProcess: false, done };
  });
  await runAll(tasks, 1, limits);
  return outcomes;
}

/** Passed, failed and skipped. */
function counts({ passed, failed, skipped }: Outcome): number[] {
  return [passed, failed, skipped];
}

test('each file has its own counts, and a good one runs after whatever happened before', async () => {
  const fileOf = (run: string, more = '') => `${HEAD} test('c', ${run});${more} test.run();`;
  const bad: readonly [text: string, output: RegExp, passed?: number][] = [
    ['import "nowhere";', /nowhere/],
    ['process.exit(3);', /exit code 3/],
    [`${HEAD} test('c', () => {});`, /test\.run\(\) missing/],
    [fileOf("() => { throw new Error('broken'); }"), /broken/],
    [fileOf('() => new Promise(() => { setImmediate(() => f()); })'), /f is not defined/],
    [fileOf('() => { setInterval(() => {}, 1e6); }'), /not closed after the last test: Timeout/, 1],
    [fileOf('() => {}', "test.after(() => { throw new Error('after'); });"), /after/],
  ];
  const outcomes = await outcomesOf(bad.flatMap(([text]) => [GOOD, text]).concat(GOOD));
  const good = [1, 0, 1];
  const expected = bad.flatMap(([, , passed = 0]) => [good, [passed, 1, 0]]).concat([good]);
  assert.equal(outcomes.map(counts), expected);
  for (const [i, [, output]] of bad.entries()) assert.match(outcomes[2 * i + 1]!.output, output);
});

test('files share a process while they pass', async () => {
  const tell = `${HEAD} console.log('process', process.pid); test('a', () => {}); test.run();`;
  const fail = `${tell} throw new Error('broken');`;
  const outcomes = await outcomesOf([tell, tell, fail, tell]);
  const [a, b, c, d] = outcomes.map(({ output }) => /process \d+/.exec(output)?.[0]);
  assert.equal([a === b, b === c, c === d], [true, true, false]);
});

test('a file that ends no test is ended, and a slow one is not', async () => {
  const hangs = `${HEAD} test('c', () => new Promise(() => setInterval(() => {}, 1e6))); test.run();`;
  // altogether longer than the silence that is allowed, of which each test takes a tenth
  const pause = "test('d', () => new Promise((done) => setTimeout(done, 1_000)));";
  const slow = `${HEAD} ${pause.repeat(11)} test.run();`;
  const limits = { ...LIMITS, silenceMs: 10_000 };
  const outcomes = await outcomesOf([hangs, slow, GOOD], limits);
  assert.equal(outcomes.map(counts).join(' '), '0,1,0 11,0,0 1,0,1');
  assert.match(outcomes[0]!.output, /ended after 10 s without a word/);
});

test('a file that hears nothing ends when its runner is gone', async () => {
  const [told, path, main] = ['told', 'deaf.js', 'main.js'].map((name) => join(folder, name));
  const deaf = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
  const tell = `fs.writeFileSync(${JSON.stringify(told)}, String(process.pid))`;
  writeFileSync(path!, `import fs from 'node:fs'; ${tell}; ${deaf};`);
  const task = `{ path: ${JSON.stringify(path)}, needsOwnProcess: false, done() {} }`;
  const run = `await runAll([${task}], 1, ${JSON.stringify(LIMITS)});`;
  writeFileSync(main!, `import { runAll } from '../../runner/pool.js'; ${run}`);
  const runner = spawn(process.execPath, [main!], { stdio: 'inherit' });
  await until('the file runs', () => existsSync(told!) && readFileSync(told!, 'utf8') !== '');
  const pid = Number(readFileSync(told!, 'utf8'));
  assert.ok(isRunning(pid));
  runner.kill('SIGKILL');
  await until('its process is gone', () => !isRunning(pid));
});

test('what a file does when its process exits is done, also when a signal ends that', async () => {
  const interrupt = "process.kill(process.pid, 'SIGINT'); await new Promise(() => {});";
  for (const [name, end] of Object.entries({ good: '', interrupted: interrupt })) {
    const made = join(folder, name);
    const text = `process.once('exit', () => fs.writeFileSync(${JSON.stringify(made)}, ''));`;
    await outcomesOf([`import fs from 'node:fs'; ${GOOD} ${text} ${end}`]);
    assert.ok(existsSync(made), name);
  }
});

test('a soak has the tests that do more then, and no others', () => {
  const runner = join(import.meta.dirname, '../run.js');
  const names = ['region/circle', 'query/oracle', 'query/cases', 'soak/chaos', 'project/runner'];
  const env = { ...process.env, TEST_SNAPSHOT: 'none' };
  const { stderr } = spawnSync(process.execPath, [runner, '--soak', ...names], { env });
  assert.match(String(stderr), /No soak has project\/runner in its path/);
});

test('stacks name the places in the sources', () => {
  const { stack } = new Error('here');
  assert.match(sourceLines(stack!), /test\/project\/runner\.test\.ts:\d+:\d+/);
  assert.is(sourceLines('at x (/nowhere/a.js:1:2)'), 'at x (/nowhere/a.js:1:2)');
});

test.run();
