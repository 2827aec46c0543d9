import { writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/generate/random.js';
import { JournalDamaged } from '../../../src/live/journal/journal.js';
import { lineStarts, survives, survivesCuts } from '../../support/journal-damage.js';
import { newPost, numbers, readBytes, sampleJournal, withJournal } from '../../support/journals.js';

test('a journal that is cut anywhere has the first posts, or is refused', () =>
  withJournal(async (path) => {
    const sample = await sampleJournal(path);
    const ends = lineStarts(sample.bytes).flatMap((start) => [start - 1, start, start + 1]);
    const others = Array.from({ length: 200 }, (_, i) => i * 17);
    await survivesCuts(path, sample, new Set([...ends, ...others]));
  }));

test('a bit that is flipped in what was on stable storage has the file refused', () =>
  withJournal(async (path) => {
    const { bytes, posts } = await sampleJournal(path);
    const mark = lineStarts(bytes).at(-2)!;
    const random = new Random(3, 'point');
    for (let flip = 0; flip < 600; flip++) {
      const at = random.int(bytes.length);
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 1 << random.int(8);
      const outcome = survives(await readBytes(path, damaged), posts, `byte ${at}`);
      // the mark itself says nothing that is missed
      assert.is(outcome, at < mark ? 'refused' : 'whole', `byte ${at}`);
    }
  }));

test('a bit that is flipped behind the last mark shortens the file, and is told', () =>
  withJournal(async (path) => {
    const { bytes, posts } = await sampleJournal(path);
    const starts = lineStarts(bytes);
    const [last, mark] = [starts.at(-3)!, starts.at(-2)!];
    for (let at = last; at < mark; at += 3) {
      const damaged = Buffer.from(bytes.subarray(0, mark));
      damaged[at]! ^= 4;
      const reading = await readBytes(path, damaged);
      assert.is(survives(reading, posts, `byte ${at}`), 'shortened');
      assert.equal([reading.posts.length, reading.problemCount], [posts.length - 1, 1]);
    }
  }));

test('lines that are gone, doubled or swapped are noticed', () =>
  withJournal(async (path) => {
    const { bytes } = await sampleJournal(path);
    const lines = bytes.toString().split('\n').slice(0, -1);
    for (let i = 0; i < lines.length - 1; i++) {
      for (const changed of [
        lines.toSpliced(i, 1),
        lines.toSpliced(i, 0, lines[i]!),
        lines.toSpliced(i, 2, lines[i + 1]!, lines[i]!),
      ]) {
        // both heads are the same text
        if (changed.join() === lines.join()) continue;
        const reading = await readBytes(path, Buffer.from(`${changed.join('\n')}\n`));
        assert.ok(reading.problemCount > 0, `line ${i}`);
      }
    }
  }));

test('damage stops the start with file, line and what to do', () =>
  withJournal(async (path, open) => {
    const { bytes } = await sampleJournal(path);
    const damaged = Buffer.from(bytes);
    damaged[damaged.indexOf('Grüße 121')]! ^= 1;
    writeFileSync(path, damaged);
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await open().catch((reason: unknown) => reason);
      assert.instance(error, JournalDamaged);
      const { message } = error as Error;
      assert.ok(message.startsWith(`${path}: line 7: its checksum is `), message);
      assert.ok(message.endsWith(`waypost journal repair ${path}`), message);
    }
  }));

test('a journal that lost all of its content is refused', () =>
  withJournal(async (path, open) => {
    writeFileSync(path, '');
    const error = await open().catch((reason: unknown) => reason);
    assert.instance(error, JournalDamaged);
    assert.match(String(error), 'the file is empty; a journal never is');
  }));

test('an end that was never acknowledged is cut off, and told', () =>
  withJournal(async (path, open) => {
    const { bytes, posts } = await sampleJournal(path);
    const torn = bytes.subarray(lineStarts(bytes).at(-3)!, -60);
    writeFileSync(path, Buffer.concat([bytes, torn, Buffer.alloc(700)]));
    const journal = await open();
    assert.is(journal.opened.cutBytes, torn.length + 700);
    assert.equal([...journal.replay()], posts);
    await journal.append([newPost(130)]);
    await journal.close();
    const again = await open();
    assert.is(again.opened.cutBytes, 0);
    assert.is(numbers(again.replay()), numbers([...posts, { sequence: 8, ...newPost(130) }]));
  }));

test('a line without an end fills no memory', () =>
  withJournal(async (path) => {
    const { bytes, posts } = await sampleJournal(path);
    const reading = await readBytes(path, Buffer.concat([bytes, Buffer.alloc(20_000_000, 'x')]));
    assert.is(survives(reading, posts, 'a long line'), 'whole');
    assert.ok(reading.problemCount > 10);
    assert.is(reading.problems.length, 10);
  }));

test.run();
