import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { appendToTail, createTail, looksAt, tailLength } from '../../../src/dataset/tail.js';
import { additionsTo } from '../../../src/http/answer/additions.js';
import { whole } from '../../support/engine.js';
import { pointOf, scatterNotes } from '../../support/notes.js';

test('an answer counts the accepted points that it was matched with', () => {
  const tail = createTail({ rows: 1_000, bytes: 1_000_000 });
  const some = scatterNotes(1, 600).map((note, i) => {
    return { sequence: i, point: pointOf(note), record: Buffer.from('{}') };
  });
  const ask = () =>
    whole(additionsTo(() => new Int32Array([0]), { tail, length: tailLength(tail) }));
  assert.is(ask(), undefined);
  assert.is(looksAt(tail), 0);
  appendToTail(tail, some);
  assert.equal(ask()?.rows, new Int32Array([0]));
  assert.ok(looksAt(tail) >= 600 && looksAt(tail) < 900, String(looksAt(tail)));
  ask();
  assert.ok(looksAt(tail) >= 1_200, String(looksAt(tail)));
});

test.run();
