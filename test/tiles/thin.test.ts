import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashId } from '../../src/dataset/thinning.js';
import { Suspended } from '../../src/query/suspended.js';
import { beginTile } from '../../src/tiles/tile.js';
import { acceptedMatches, engineOf, tailOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { decodeTile } from '../support/tiles.js';

const FROZEN = 100;
const ACCEPTED = 5_000;
const LIMIT = 10;
/** Nanoseconds of a piece. */
const PIECE = 2_000;

const notes = scatterNotes(77, FROZEN + ACCEPTED);
const engine = await engineOf(notes.slice(0, FROZEN), PIECE);
const tail = tailOf(notes.slice(FROZEN));

test('accepted points are thinned out in pieces, too', () => {
  const query = { address: { z: 0, x: 0, y: 0 }, filters: {}, grid: 16, limit: LIMIT };
  let step = beginTile(engine, query, acceptedMatches(tail, ACCEPTED, query.filters));
  let pieces = 1;
  for (; step instanceof Suspended; pieces++) step = step.resume();
  // 10 ns for each of them
  assert.ok(pieces >= 20, `${pieces} pieces`);
  const kept = notes.toSorted((a, b) => hashId(a.id) - hashId(b.id)).slice(0, LIMIT);
  const ids = (all: readonly { readonly id: number | undefined }[]): number[] =>
    all.map(({ id }) => id!).sort((a, b) => a - b);
  assert.equal(ids(decodeTile(step)['points'] ?? []), ids(kept));
});

test.run();
