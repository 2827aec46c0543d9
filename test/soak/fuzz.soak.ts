import { test } from 'uvu';
import { readDamaged } from '../support/damaging.js';
import { fuzzQueries } from '../support/fuzzing.js';
import { fuzzPosts } from '../support/post-fuzzing.js';
import { WRITERS } from '../support/rows.js';
import { fuzzTiles } from '../support/tile-fuzzing.js';

test('100,000 hostile queries: each is answered, none with 5xx, and memory does not grow', () =>
  fuzzQueries(100_000));

test('100,000 hostile addresses of tiles: a tile or 4xx each, and memory does not grow', () =>
  fuzzTiles(100_000));

test('10,000 hostile posts: each is answered, none with 5xx, and nothing is left but what was accepted', () =>
  fuzzPosts(10_000));

for (const [name, write] of Object.entries(WRITERS)) {
  test(`${name}: damage is survived or refused, and never more`, () => readDamaged(write, 1_500));
}

test.run();
