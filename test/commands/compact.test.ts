import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compactSnapshot } from '../../src/commands/compact.js';
import { InputError } from '../../src/errors.js';
import type { Journal } from '../../src/live/journal/journal.js';
import type { Point } from '../../src/model/point.js';
import { newPost, withJournal } from '../support/journals.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readOnePass,
  writeNative,
} from '../support/native.js';

/** Runs with a snapshot of these points and a journal of posts with the ids 11 to 16. */
function withBoth(
  points: readonly Point[],
  journalThrough: number | undefined,
  run: (compact: () => Promise<string[]>, output: string, journal: Journal) => Promise<void>,
): Promise<void> {
  return withJournal(async (path, open, folder) => {
    const snapshot = join(folder, 'in.waypost');
    writeNative(snapshot, [blockOf(points)], [notification(1)], journalThrough);
    const journal = await open();
    for (let id = 11; id <= 16; id++) await journal.append([newPost(id)]);
    await journal.retire(({ sequence }) => sequence === 2);
    const output = join(folder, 'out.waypost');
    const compact = async (): Promise<string[]> => {
      const lines: string[] = [];
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
    assert.equal([report.journalThrough, report.notifications.length], [6, 1]);
    // its time is that of the newest post
    assert.is(report.createdAt, newPost(16).point.createdAt.micros / 1000);
    assert.ok(report.createdAt > CREATED_AT);
  }));

test('posts that the snapshot has are not doubled, by id and time or by its watermark', () =>
  withBoth([...OTHERS, newPost(15).point], 3, async (compact, output) => {
    const lines = await compact();
    // 1 and 3 are up to its watermark, 5 is in it
    assert.match(lines.at(-1)!, '2 posts of');
    assert.match(lines.at(-1)!, '3 posts already there');
    assert.equal(await idsOf(output), [1, 14, 15, 16, 30]);
    assert.is((await readOnePass(output))[1].journalThrough, 6);
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
  withBoth([...OTHERS, newPost(13).point], undefined, async (compact, output, journal) => {
    await journal.retire(() => false, new Map([[3, 20]]));
    await compact();
    assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30]);
  }));

test('the watermark of another journal keeps no post out', () =>
  withBoth([...OTHERS, point({ id: 13 })], 500, async (compact, output) => {
    await compact();
    assert.equal(await idsOf(output), [1, 11, 13, 14, 15, 16, 30, 31]);
  }));

test('a post that its watermark would not retire gets no new id', () =>
  withBoth([...OTHERS, point({ id: 13 })], undefined, async (compact, _output, journal) => {
    // the file knows of another journal's watermark, and has no post behind it yet
    journal.takeWatermark(500);
    await journal.retire(({ sequence }) => sequence === 6);
    const error = await compact().catch((reason: unknown) => reason);
    assert.instance(error, InputError);
    assert.match(String(error), 'serve that snapshot with this journal first');
  }));

test('a damaged journal is refused', () =>
  withBoth(OTHERS, undefined, async (compact, output) => {
    const journal = join(output, '../points.journal');
    const bytes = readFileSync(journal);
    bytes[bytes.indexOf('Grüße 13')]! ^= 1;
    writeFileSync(journal, bytes);
    const error = await compact().catch((reason: unknown) => reason);
    assert.instance(error, InputError);
    assert.match(String(error), 'waypost journal repair');
  }));

test.run();
