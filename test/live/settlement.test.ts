import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { settle } from '../../src/live/settlement.js';
import { engineOf } from '../support/engine.js';
import { type Note, pointOf } from '../support/notes.js';

const CREATED = 1.7e15;

function noteOf(id: number, created = CREATED): Note {
  return { id, lon: 1, lat: 2, created, modified: created };
}

const { dataset } = await engineOf([1, 2, 3, 9].map((id) => noteOf(id)));

type Posted = readonly [sequence: number, note: Note, movedFrom?: number];

/** Sequence numbers of what becomes of each post. */
function settled(posts: readonly Posted[], mark?: number) {
  const waiting = posts.map(([sequence, note, movedFrom]) => {
    return { sequence, point: pointOf(note), movedFrom };
  });
  const { retired, kept, moved } = settle(dataset, waiting, mark);
  const numbers = (some: typeof retired): number[] => some.map(({ sequence }) => sequence);
  return { retired: numbers(retired), kept: numbers(kept), moved: numbers(moved) };
}

test('a snapshot contains posts with the id and the time of creation of a record', () => {
  const posts: Posted[] = [
    [1, noteOf(2)],
    [2, noteOf(4)],
    [3, noteOf(9)],
  ];
  assert.equal(settled(posts), { retired: [1, 3], kept: [2], moved: [] });
});

test('a record that was created at another time is another one: the post needs a fresh id', () => {
  const posts: Posted[] = [
    [5, noteOf(1, CREATED + 1)],
    [6, noteOf(8)],
    [7, noteOf(9, CREATED - 1)],
  ];
  assert.equal(settled(posts), { retired: [], kept: [6], moved: [5, 7] });
});

test('whatever its id is, a post up to the watermark is contained', () => {
  const posts: Posted[] = [
    [5, noteOf(1, CREATED + 1)],
    [6, noteOf(8)],
    [7, noteOf(10)],
  ];
  assert.equal(settled(posts, 6), { retired: [5, 6], kept: [7], moved: [] });
});

test('a post that has moved is found by the id that it was acknowledged with', () => {
  const posts: Posted[] = [
    [1, noteOf(100), 3],
    [2, noteOf(101, CREATED + 1), 3],
  ];
  assert.equal(settled(posts), { retired: [1], kept: [2], moved: [] });
});

test('an empty snapshot contains nothing', async () => {
  const empty = (await engineOf([])).dataset;
  const post = { sequence: 1, point: pointOf(noteOf(1)) };
  assert.equal(settle(empty, [post]), { retired: [], kept: [post], moved: [] });
});

test.run();
