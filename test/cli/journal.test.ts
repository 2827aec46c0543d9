import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { exportJournal, listJournal } from '../../src/cli/journal-posts.js';
import { compactSnapshot } from '../../src/cli/pack.js';
import { type Point, readPoint } from '../../src/model/point.js';
import { type Journal, type OwnJournal, readPostLine } from '../../src/posts/journal.js';
import { refusal } from '../support/errors.js';
import { appendAll, newPost, postsIn, withJournal } from '../support/journals.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readOnePass,
  writeNative,
} from '../support/native.js';
import { ROOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const MAIN = new URL('../../src/main.js', import.meta.url).pathname;

async function listed(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of listJournal(path)) lines.push(line);
  return lines;
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

/** Four posts, the third of which has moved behind the others. */
async function fill(journal: Journal): Promise<void> {
  await appendAll(journal, [
    newPost(101),
    newPost(102, '7 a b'),
    newPost(103, '- c'),
    newPost(104),
  ]);
  await journal.move(new Map([[3, 120]]));
}

test('list and export read a journal that no process has open, and a copy of one that is', () =>
  withJournal(async (path, open, folder) => {
    const journal = await open();
    await fill(journal);
    const { name } = journal.state;
    const posts = await postsIn(journal);
    const copy = join(folder, 'copy.journal');
    copyFileSync(path, copy);
    assert.match(await refusal(listed(path)), `${path}: another process owns it: copy the file`);
    await journal.close();
    for (const file of [path, copy]) {
      const lines = await listed(file);
      assert.equal(lines, [
        '1  id 101  2024-01-01T00:01:41.000000+00:00  60.17000000,24.94000000  "Grüße 101"',
        '2  id 102  2024-01-01T00:01:42.000000+00:00  60.17000000,24.94000000  "Grüße 102"',
        '4  id 104  2024-01-01T00:01:44.000000+00:00  60.17000000,24.94000000  "Grüße 104"',
        '5  id 120, posted as 103  2024-01-01T00:01:43.000000+00:00  60.17000000,24.94000000  "Grüße 103"',
        `${file}: 4 posts of sequences up to 5, of the journal ${name}`,
      ]);
      const [output, said] = await exported(file);
      assert.equal(output.trimEnd().split('\n').map(readPostLine), posts);
      assert.is(
        said,
        `standard output: 4 posts; a snapshot that has them: pack --journal-through ${name}:5`,
      );
    }
    const [output] = await exported(path, 4);
    const { sequence, key, user, moved_from: from } = JSON.parse(output);
    assert.equal([sequence, key, user, from], [5, 'c', undefined, 103]);
    const [, second] = (await exported(path))[0].split('\n');
    assert.equal([JSON.parse(second!).key, JSON.parse(second!).user], ['a b', 7]);
    const file = join(folder, 'out.ndjson');
    await exportJournal(path, file, { after: 4, stdout: new PassThrough(), print: () => {} });
    assert.is(readFileSync(file, 'utf8'), output);
  }));

test('what is no journal is neither read nor written to', () =>
  withJournal(async (path) => {
    assert.match(await refusal(listed(path)), 'there is no journal');
    assert.not.ok(existsSync(path));
    const snapshot = join(ROOT, 'test/fixtures/native/one.waypost');
    for (const bytes of [readFileSync(snapshot), Buffer.from('SQLite format 3\0 but not quite')]) {
      writeFileSync(path, bytes);
      assert.match(await refusal(listed(path)), /no journal of accepted points|damaged/);
      assert.match(await refusal(exported(path)), /no journal of accepted points|damaged/);
      assert.equal(readFileSync(path), bytes);
    }
  }));

test('the command line hands on what it is given', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    await fill(journal);
    await journal.close();
    const run = (...args: string[]): string[] => {
      const { stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
      return [stdout, stderr];
    };
    const [output, said] = run('journal', 'export', path, '--after', '4');
    assert.is(JSON.parse(output!).id, 120);
    assert.match(said!, '1 post;');
    assert.match(run('journal', 'list', path)[0]!, '4 posts of sequences up to 5');
    const sample = join(ROOT, 'test/fixtures/native/one.waypost');
    const compacted = `${path}.waypost`;
    assert.match(run('compact', sample, path, compacted)[0]!, '4 posts of');
    assert.ok(existsSync(compacted));
    const [, refused] = run('pack', sample, compacted, '--journal-through', '1234');
    assert.match(refused!, "Expected a journal's name and a sequence");
  }));

/** Runs with a snapshot of these points and a journal of posts with the ids 11 to 16. */
function withBoth(
  points: readonly Point[],
  /** Of the journal, or of another one. */
  watermark: number | 'other' | undefined,
  run: (compact: () => Promise<string[]>, output: string, journal: OwnJournal) => Promise<void>,
): Promise<void> {
  return withJournal(async (path, open, folder) => {
    const journal = await open();
    const snapshot = join(folder, 'in.waypost');
    const given =
      typeof watermark === 'number'
        ? { journal: journal.state.name, sequence: watermark }
        : watermark && { journal: 'fedcba9876543210', sequence: 3 };
    writeNative(snapshot, [blockOf(points)], [notification(1)], given);
    for (let id = 11; id <= 16; id++) await journal.append(newPost(id));
    await journal.prune([2]);
    const output = join(folder, 'out.waypost');
    const compact = async (): Promise<string[]> => {
      const lines: string[] = [];
      await journal.close();
      await compactSnapshot(snapshot, path, output, { print: (line) => lines.push(line) });
      return lines;
    };
    await run(compact, output, journal);
  });
}

async function idsOf(path: string): Promise<number[]> {
  const [blocks] = await readOnePass(path);
  return blocks.flatMap(({ id }) => [...id]).sort((a, b) => a - b);
}

/** The point of the post with this id. */
function posted(id: number): Point {
  return readPoint(JSON.parse(newPost(id).record), () => {}) as Point;
}

const OTHERS = [point({ id: 1 }), point({ id: 30 })];

test('a snapshot and what waits in a journal become one, with its watermark', () =>
  withBoth(OTHERS, undefined, async (compact, output) => {
    const lines = await compact();
    assert.match(
      lines.at(-1)!,
      /^5 posts of .*points\.journal added, 0 posts already there; sequences up to 6$/,
    );
    assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30]);
    const [, report] = await readOnePass(output);
    assert.equal([report.watermark?.sequence, report.notifications.length], [6, 1]);
    // its time is that of the newest post
    assert.is(report.createdAt, newPost(16).createdAt / 1000);
    assert.ok(report.createdAt > CREATED_AT);
  }));

test('posts that the snapshot has are not doubled, by id and time or by its watermark', () =>
  withBoth([...OTHERS, posted(15)], 3, async (compact, output) => {
    const lines = await compact();
    // 1 and 3 are up to its watermark, 5 is in it
    assert.match(lines.at(-1)!, '2 posts of');
    assert.match(lines.at(-1)!, '3 posts already there');
    assert.equal(await idsOf(output), [1, 14, 15, 16, 30]);
    assert.is((await readOnePass(output))[1].watermark?.sequence, 6);
  }));

test('a post whose id the snapshot uses for another record gets a new one', () =>
  withBoth(
    [...OTHERS, point({ id: 13, comment: 'another' })],
    undefined,
    async (compact, output) => {
      const lines = await compact();
      assert.ok(
        lines.includes('post 3 has id 31: the snapshot uses 13 for another record'),
        lines.join('\n'),
      );
      assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30, 31]);
    },
  ));

test('a post that has moved is found under the id that was acknowledged', () =>
  withBoth([...OTHERS, posted(13)], undefined, async (compact, output, journal) => {
    await journal.move(new Map([[3, 20]]));
    await compact();
    assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30]);
  }));

test('the watermark of another journal keeps no post out', () =>
  withBoth([...OTHERS, point({ id: 13 })], 'other', async (compact, output) => {
    await compact();
    assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30, 31]);
  }));

test('a damaged journal is refused', () =>
  withBoth(OTHERS, undefined, async (compact, output, open) => {
    await open.close();
    const journal = join(output, '../points.journal');
    const bytes = readFileSync(journal);
    bytes[bytes.indexOf('Grüße 13')]! ^= 1;
    writeFileSync(journal, bytes);
    assert.match(await refusal(compact()), 'the CRC of post 3');
  }));

test.run();
