import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compactSnapshot } from '../../src/cli/compact.js';
import { type Point, readPoint } from '../../src/model/point.js';
import { InputError } from '../../src/model/quote.js';
import type { OwnJournal } from '../../src/posts/journal.js';
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
    const error = await compact().catch((reason: unknown) => reason);
    assert.instance(error, InputError);
    assert.match(String(error), 'the CRC of post 3');
  }));

test.run();
