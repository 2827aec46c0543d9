import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/generate/random.js';
import { survives, survivesCuts } from '../support/journal-damage.js';
import { readBytes, sampleJournal, withJournal } from '../support/journals.js';

test('a journal that is cut at any byte has the first posts, or is refused', () =>
  withJournal(async (path) => {
    const sample = await sampleJournal(path);
    await survivesCuts(path, sample, sample.bytes.keys());
  }));

test('10,000 journals with flipped bits are whole, shortened and told, or refused', () =>
  withJournal(async (path) => {
    const { bytes, posts } = await sampleJournal(path);
    const random = new Random(4, 'point');
    const counts = { refused: 0, shortened: 0, whole: 0 };
    for (let flip = 0; flip < 10_000; flip++) {
      // some were cut short before, as by a process that was killed
      const damaged = Buffer.from(
        bytes.subarray(0, bytes.length - random.int(2) * random.int(700)),
      );
      const flips = 1 + random.int(3);
      for (let i = 0; i < flips; i++) damaged[random.int(damaged.length)]! ^= 1 << random.int(8);
      const reading = await readBytes(path, damaged);
      const outcome = survives(reading, posts, `journal ${flip}`);
      if (outcome === 'shortened')
        assert.ok(reading.end < reading.size || reading.problemCount === 0);
      counts[outcome]++;
    }
    assert.ok(counts.refused > 5_000 && counts.shortened > 100, JSON.stringify(counts));
  }));

test.run();
