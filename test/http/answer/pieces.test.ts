import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createPace } from '../../../src/http/answer/pace.js';
import { createPieceWork, type Waiter } from '../../../src/http/answer/pieces.js';

/** Somebody who waits for a result, and what has become of it. */
interface Client extends Waiter<string> {
  readonly ended: string[];
  isAway: boolean;
}

function waiting(): Client {
  const ended: string[] = [];
  return {
    ended,
    isAway: false,
    isGone() {
      return this.isAway;
    },
    done: (result) => void ended.push(result),
    failed: (error) => void ended.push((error as Error).message),
  };
}

/** Work of some pieces, each of which is noted as it is done and takes half a millisecond. */
function* work(name: string, pieces: number, notes: string[]): Generator<void, string, void> {
  for (let i = 0; i < pieces; i++) {
    notes.push(name);
    const end = performance.now() + 0.5;
    while (performance.now() < end);
    yield;
  }
  return name;
}

test('work that is done may begin other work', async () => {
  const doInPieces = createPieceWork(createPace(1));
  const notes: string[] = [];
  const client = waiting();
  doInPieces(work('first', 2, notes), {
    ...client,
    done: () => doInPieces(work('second', 1, notes), client),
  });
  while (client.ended.length === 0) await turn();
  // a turn too many would find no work
  await turn();
  await turn();
  assert.equal(notes, ['first', 'first', 'second']);
});

test('all work together gets a share of each turn, and each its piece in turn', async () => {
  const doInPieces = createPieceWork(createPace(1));
  const notes: string[] = [];
  const clients = Array.from({ length: 50 }, waiting);
  for (const [i, client] of clients.entries()) doInPieces(work(`${i}`, 3, notes), client);
  let most = 0;
  while (clients.some(({ ended }) => ended.length === 0)) {
    const before = notes.length;
    await turn();
    most = Math.max(most, notes.length - before);
  }
  // two fit into a turn, and two turns of work may pass between two looks
  assert.ok(most <= 6, `${most} pieces in a turn`);
  assert.is(notes.length, 150);
  assert.is(new Set(notes.slice(0, 50)).size, 50);
});

test('a small one does not wait for a large one, and who is gone is not worked for', async () => {
  const doInPieces = createPieceWork(createPace(0));
  const notes: string[] = [];
  const [large, small, gone] = [waiting(), waiting(), waiting()];
  doInPieces(work('large', 100, notes), large);
  doInPieces(work('small', 1, notes), small);
  doInPieces(work('gone', 1_000, notes), gone);
  while (small.ended.length === 0) await turn();
  assert.is(large.ended.length, 0);
  gone.isAway = true;
  while (large.ended.length === 0) await turn();
  assert.ok(notes.filter((name) => name === 'gone').length < 5);
  assert.equal(gone.ended, []);
});

test('an error is told to who waits for that work, and the rest goes on', async () => {
  const doInPieces = createPieceWork();
  const [bad, good] = [waiting(), waiting()];
  // biome-ignore lint/correctness/useYield: it fails before its first piece ends
  const fail = function* (): Generator<void, string, void> {
    throw new Error('no room');
  };
  doInPieces(fail(), bad);
  doInPieces(work('good', 2, []), good);
  while (good.ended.length === 0) await turn();
  assert.equal([bad.ended, good.ended], [['no room'], ['good']]);
});

test.run();
