import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hashId } from '../../src/index/records.js';
import { makeTile } from '../../src/tiles/tile.js';
import { acceptedMatches, deltaOf, engineOf, Meter } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { decodeTile } from '../support/tiles.js';

const FROZEN = 100;
const ACCEPTED = 5_000;
const LIMIT = 10;

const notes = scatterNotes(77, FROZEN + ACCEPTED);
const engine = await engineOf(notes.slice(0, FROZEN));
const delta = deltaOf(notes.slice(FROZEN));

test('accepted points are thinned out and charged for, too', () => {
  const query = { address: { z: 0, x: 0, y: 0 }, filters: {}, grid: 16, limit: LIMIT };
  const meter = new Meter(2_000);
  const accepted = acceptedMatches(delta, ACCEPTED, query.filters);
  const tile = makeTile(engine, query, accepted, undefined, meter);
  // 10 ns for each of them
  assert.ok(meter.renewals >= 20, `${meter.renewals} times two microseconds`);
  const kept = notes.toSorted((a, b) => hashId(a.id) - hashId(b.id)).slice(0, LIMIT);
  const ids = (all: readonly { readonly id: number | undefined }[]): number[] =>
    all.map(({ id }) => id!).sort((a, b) => a - b);
  assert.equal(ids(decodeTile(tile)['points'] ?? []), ids(kept));
});

test.run();
