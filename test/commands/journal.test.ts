import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  exportJournal,
  listJournal,
  repair,
  retireJournal,
  verifyJournal,
} from '../../src/commands/journal.js';
import { renderPoint } from '../../src/model/point.js';
import { newPost, numbers, sampleJournal, withJournal } from '../support/journals.js';
import { refusal } from '../support/rows.js';
import { ROOT } from '../support/service.js';

const MAIN = new URL('../../src/main.js', import.meta.url).pathname;
const DAMAGED = join(ROOT, 'test/fixtures/journal/damaged.journal');

async function listed(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of listJournal(path)) lines.push(line);
  return lines;
}

async function verified(path: string): Promise<[code: number, lines: string]> {
  const lines: string[] = [];
  const code = await verifyJournal(path, (line) => lines.push(line));
  return [code, lines.join('\n')];
}

/** What an export to standard output writes, and what is said of it. */
async function exported(path: string, after = 0): Promise<[output: string, said: string]> {
  const stdout = new PassThrough();
  let said = '';
  const print = (line: string): void => {
    said += line;
  };
  await exportJournal(path, '-', { after, stdout, print });
  return [await text(stdout.end()), said];
}

async function refused(run: () => Promise<unknown>, why: string): Promise<void> {
  assert.match(await refusal(run()), why);
}

test('list shows what waits, and verify what is in the file, while it is in use', () =>
  withJournal(async (path, open) => {
    await sampleJournal(path);
    await open();
    const lines = await listed(path);
    assert.is(
      lines[1],
      '3  id 120, posted as 103  2024-01-01T00:01:43.000000+00:00  60.17000000,24.94000000  "Grüße 103"',
    );
    assert.is(lines.at(-1), `${path}: 6 posts waiting, of sequences up to 7`);
    assert.is(lines.length, 7);
    const size = readFileSync(path).length.toLocaleString('en-US');
    assert.equal(await verified(path), [
      0,
      [
        `${path}: journal, 6 posts waiting`,
        '  next sequence  8',
        '  next id        125',
        '  latest         2024-01-01T00:02:04.000000+00:00',
        '  kept keys      1',
        `  bytes          ${size}`,
        'good',
      ].join('\n'),
    ]);
  }));

test('verify tells of damage and of writes that were cut short', () =>
  withJournal(async (path) => {
    const { bytes } = await sampleJournal(path);
    copyFileSync(DAMAGED, path);
    const [code, lines] = await verified(path);
    assert.is(code, 1);
    assert.match(lines, /not good, for 1 line:\n {2}line 7: its checksum is/);
    await refused(() => listed(path), `${path}: line 7: its checksum is`);
    const mark = bytes.lastIndexOf('{"synced"') - 9;
    writeFileSync(path, bytes.subarray(0, mark));
    assert.match((await verified(path)).join(), /^0,.* 1 post behind the last mark.*good$/s);
    writeFileSync(path, bytes.subarray(0, mark - 1));
    const torn = (await verified(path)).join();
    assert.match(torn, /^0,.* \d+ bytes at the end of a write that was not acknowledged.*good$/s);
  }));

test('export writes records with their sequences, of what surely stays', () =>
  withJournal(async (path, open, folder) => {
    const { bytes, posts } = await sampleJournal(path);
    const lines = posts.map(
      ({ sequence, point }) => `${renderPoint(point).slice(0, -1)},"sequence":${sequence}}\n`,
    );
    assert.equal(await exported(path), [
      lines.join(''),
      'standard output: 6 posts; a snapshot that has them: pack --journal-through 7',
    ]);
    assert.is((await exported(path, 5))[0], lines.slice(-2).join(''));
    const output = join(folder, 'out.ndjson');
    await exportJournal(path, output, { after: 6, stdout: new PassThrough(), print: () => {} });
    assert.is(readFileSync(output, 'utf8'), lines.at(-1));
    // without its mark the last post may still be lost, and its number given again
    writeFileSync(path, bytes.subarray(0, bytes.lastIndexOf('{"synced"') - 9));
    assert.match((await exported(path))[1], /5 posts; .* --journal-through 6$/);
    const journal = await open();
    assert.is(journal.state.waiting, 6);
  }));

test('retire forgets posts while no service runs', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    await journal.append([newPost(1), newPost(2), newPost(3)]);
    await refused(() => retireJournal(path, 2), 'owns this journal');
    await journal.close();
    assert.is(await retireJournal(path, 2), `${path}: 2 posts retired, 1 waiting`);
    await refused(() => retireJournal(path, 9), 'the last sequence is 3, got --through 9');
    const again = await open();
    assert.is(numbers(again.replay()), '3:3');
  }));

test('repair says what it did', () =>
  withJournal(async (path) => {
    copyFileSync(DAMAGED, path);
    const [kept, aside] = await repair(path, {});
    assert.is(kept, `${path}: 5 posts waiting; new ones begin with sequence 10 and id 127`);
    assert.match(aside!, '1 damaged line, which may hold points that were acknowledged');
    assert.is((await verified(path))[0], 0);
    assert.equal(await repair(path, {}), [`${path}: nothing to repair`]);
  }));

test('a journal that is not there is not made', () =>
  withJournal(async (path) => {
    for (const run of [
      () => listed(path),
      () => verified(path),
      () => exported(path),
      () => retireJournal(path, 1),
      () => repair(path, {}),
    ]) {
      await refused(run, 'there is no such file');
    }
    assert.not.ok(existsSync(path));
  }));

test('the command line hands on what it is given', () =>
  withJournal(async (path) => {
    await sampleJournal(path);
    const run = (...args: string[]): string[] => {
      const { stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
      return [stdout, stderr];
    };
    const [output, said] = run('journal', 'export', path, '--after', '6');
    assert.is(JSON.parse(output!).id, 124);
    assert.match(said!, '1 post;');
    assert.match(
      run('journal', 'retire', path, '--through', '5')[0]!,
      '4 posts retired, 2 waiting',
    );
    const sample = join(ROOT, 'test/fixtures/native/one.waypost');
    const compacted = `${path}.waypost`;
    assert.match(run('compact', sample, path, compacted)[0]!, '2 posts of');
    assert.ok(existsSync(compacted));
  }));

test.run();
