import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { InputError } from '../../../src/errors.js';
import { JournalLocked } from '../../../src/live/journal/journal.js';
import { repairJournal } from '../../../src/live/journal/repair.js';
import { lineStarts } from '../../support/journal-damage.js';
import { newPost, numbers, sampleJournal, withJournal } from '../../support/journals.js';
import { ROOT } from '../../support/service.js';

const DAMAGED = join(ROOT, 'test/fixtures/journal/damaged.journal');
const NOW = new Date('2024-03-01T12:30:00Z');

test('damaged lines are set aside, and all others stay', () =>
  withJournal(async (path, open, folder) => {
    copyFileSync(DAMAGED, path);
    const repaired = await repairJournal(path, {}, NOW);
    const aside = join(folder, 'points.journal.damaged-20240301T123000Z');
    // one line of 330 bytes may have been two posts
    const expected = { posts: 5, lines: 1, setAside: aside, nextSequence: 10, nextId: 127 };
    assert.equal(repaired, expected);
    const damaged = readFileSync(DAMAGED, 'utf8').split('\n')[6]!;
    assert.is(readFileSync(aside, 'utf8'), `${damaged}\n`);
    const journal = await open();
    assert.is(numbers(journal.replay()), '1:101 3:120 5:122 6:123 7:124');
    assert.equal(
      Array.from(journal.keys(), ({ name }) => name),
      ['- a'],
    );
    assert.is(numbers(await journal.append([newPost(130)])), '10:130');
    await journal.close();
    assert.is(await repairJournal(path), undefined);
    assert.equal(readdirSync(folder).length, 2);
  }));

test('either head is enough to know which numbers were given', () =>
  withJournal(async (path) => {
    const { bytes } = await sampleJournal(path);
    const starts = lineStarts(bytes);
    const without = (...lines: number[]): Buffer => {
      const damaged = Buffer.from(bytes);
      for (const line of lines) damaged[starts[line]! + 20]! ^= 1;
      return damaged;
    };
    for (const line of [0, 4]) {
      writeFileSync(path, without(line));
      const repaired = await repairJournal(path, {}, new Date(line * 1000));
      assert.is(repaired?.posts, 6);
      assert.ok(repaired!.nextSequence >= 8 && repaired!.nextId >= 125);
    }
    writeFileSync(path, without(0, 4));
    for (const given of [{}, { nextSequence: 50 }, { nextId: 50 }]) {
      const error = await repairJournal(path, given).catch((reason: unknown) => reason);
      assert.instance(error, InputError);
      assert.match(String(error), '--next-sequence and --next-id');
    }
    const repaired = await repairJournal(path, { nextSequence: 50, nextId: 1 }, new Date(9000));
    assert.equal([repaired!.posts, repaired!.nextSequence], [6, 50]);
    assert.ok(repaired!.nextId >= 125);
  }));

test('a watermark of another journal stays one where the line that said so is damaged', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    await journal.append([newPost(1), newPost(2)]);
    assert.is(journal.takeWatermark(500), 0);
    for (let id = 3; id < 6; id++) await journal.append([newPost(id)]);
    await journal.close();
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes('"foreign":500'));
    writeFileSync(path, text.replace('"foreign":500', '"foreign":600'));
    await repairJournal(path);
    const repaired = await open();
    assert.is(numbers(repaired.replay()), '1:1 2:2 502:3 503:4 504:5');
    assert.is(repaired.takeWatermark(500), 0);
    assert.is(repaired.takeWatermark(503), 503);
  }));

test('an end that was never acknowledged is nothing to repair', () =>
  withJournal(async (path) => {
    const { bytes } = await sampleJournal(path);
    writeFileSync(path, bytes.subarray(0, -50));
    assert.is(await repairJournal(path), undefined);
    assert.equal(readFileSync(path), bytes.subarray(0, -50));
  }));

test('a journal that is in use is not repaired', () =>
  withJournal(async (path, open) => {
    await open();
    const error = await repairJournal(path).catch((reason: unknown) => reason);
    assert.instance(error, JournalLocked);
  }));

test.run();
