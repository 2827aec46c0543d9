import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JournalUnavailable } from '../../../src/live/journal/journal.js';
import { newPost, numbers, soonAfter, withJournal } from '../../support/journals.js';

test('posts are numbered from 1 in the order of their calls, and found again', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    assert.equal(journal.opened, { created: true, cutBytes: 0 });
    const answers = await Promise.all([
      journal.append([newPost(11)]),
      journal.append([newPost(14), newPost(13)]),
      journal.append([newPost(12)]),
    ]);
    assert.equal(answers.map(numbers), ['1:11', '2:14 3:13', '4:12']);
    assert.equal(await journal.append([]), []);
    const posts = [...journal.replay()];
    await journal.close();

    const again = await open();
    assert.equal(again.opened, { created: false, cutBytes: 0 });
    assert.equal([...again.replay()], posts);
    const { waiting, lastSequence, nextId, lastTime, problem } = again.state;
    assert.equal([waiting, lastSequence, nextId, problem], [4, 4, 15, undefined]);
    assert.is(lastTime, newPost(14).point.createdAt.micros);
    assert.is(numbers(await again.append([newPost(15)])), '5:15');
  }));

test('calls that come while a write is under way share the next one', () =>
  withJournal(async (_, open) => {
    const flushes: number[] = [];
    const journal = await open({ onFlush: (_seconds, posts) => flushes.push(posts) });
    const calls = Array.from({ length: 200 }, (_, i) => journal.append([newPost(i + 1)]));
    const answers = await Promise.all(calls);
    assert.is(
      answers.map((posts) => numbers(posts)).join(' '),
      Array.from({ length: 200 }, (_, i) => `${i + 1}:${i + 1}`).join(' '),
    );
    assert.ok(flushes.length < 10, `${flushes.length} flushes`);
    assert.is(
      flushes.reduce((sum, posts) => sum + posts),
      200,
    );
  }));

test('a post is in the file before it is acknowledged', () =>
  withJournal(async (path, open) => {
    const journal = await open();
    for (let id = 1; id < 20; id++) {
      await journal.append([newPost(id)]);
      assert.ok(readFileSync(path, 'utf8').includes(`"point":{"id":${id},`));
    }
  }));

test('keys are remembered for a day with the record that was acknowledged', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    await journal.append([newPost(1, '- first'), newPost(2)]);
    await journal.append([newPost(3, '42 key:!~')]);
    await journal.close();
    const again = await open();
    const keys = [...again.keys()];
    assert.equal(
      keys.map(({ name, acceptedAt }) => [name, acceptedAt]),
      [
        ['- first', newPost(1).point.createdAt.micros / 1000],
        ['42 key:!~', newPost(3).point.createdAt.micros / 1000],
      ],
    );
    assert.is(JSON.parse(keys[1]!.record).id, 3);
    await again.close();

    const dayLater = newPost(1).point.createdAt.micros / 1000 + 24 * 3_600_000;
    for (const [now, names] of [
      [dayLater, '- first 42 key:!~'],
      [dayLater + 1, '42 key:!~'],
      [dayLater + 2001, ''],
    ] as const) {
      const later = await open({ now: () => now });
      assert.is(Array.from(later.keys(), ({ name }) => name).join(' '), names);
      await later.close();
    }
  }));

test('the watermark of another journal retires nothing, and numbers go on behind it', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    await journal.append([newPost(1), newPost(2)]);
    assert.equal([journal.takeWatermark(0), journal.takeWatermark(1)], [0, 1]);
    assert.is(journal.takeWatermark(Number.MAX_SAFE_INTEGER), 0);
    for (let load = 0; load < 3; load++) assert.is(journal.takeWatermark(500), 0);
    assert.is(journal.state.lastSequence, 501);
    await journal.append([newPost(3), newPost(4)]);
    const posts = numbers(journal.replay());
    assert.is(posts, '1:1 2:2 502:3 503:4');
    await journal.close();

    const again = await open();
    assert.is(numbers(again.replay()), posts);
    assert.equal(
      [2, 500, 501, 503].map((watermark) => again.takeWatermark(watermark)),
      [0, 0, 501, 503],
    );
    await again.append([newPost(5)]);
    await again.retire(({ sequence }) => sequence === 502);
    assert.is(again.takeWatermark(500), 0);
    await again.close();
    const rewritten = await open();
    assert.is(rewritten.takeWatermark(500), 0);
    assert.is(numbers(await rewritten.append([newPost(6)])), '505:6');
  }));

test('what could not be read again is not written', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    const { point } = newPost(1);
    const long = { point: { ...point, comment: 'x'.repeat(600_000) } };
    const outcome = await Promise.allSettled([
      journal.append([newPost(7)]),
      journal.append([long]),
      journal.append([newPost(8)]),
    ]);
    assert.equal(
      outcome.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.is(numbers(journal.replay()), '1:7 2:8');
    assert.throws(() => journal.append([newPost(1, 'käse')]), RangeError);
    assert.throws(
      () => journal.append([{ point: { ...point, id: Number.MAX_SAFE_INTEGER } }]),
      RangeError,
    );
  }));

test('a closed journal takes nothing, and what was under way is finished', () =>
  withJournal(async (_, open) => {
    const journal = await open();
    // more than one write takes
    const { point } = newPost(1);
    const long = { ...point, comment: 'x'.repeat(500_000) };
    const calls = Array.from({ length: 20 }, (_, i) => {
      return journal.append([{ point: { ...long, id: i + 1 } }]);
    });
    const closed = journal.close();
    const late = await journal.append([newPost(2)]).catch((error: unknown) => error);
    assert.instance(late, JournalUnavailable);
    await closed;
    const accepted = numbers((await Promise.all(calls)).flat());
    const again = await open({ now: soonAfter });
    assert.is(numbers(again.replay()), accepted);
    assert.is(again.state.waiting, 20);
  }));

test.run();
