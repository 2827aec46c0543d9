import { test } from 'uvu';
import { fuzzTiles } from '../support/tile-fuzzing.js';

// test/soak/tiles.soak.ts sends fifty times as many
test('2,000 hostile addresses of tiles: a tile or 4xx each, and memory does not grow', () =>
  fuzzTiles(2_000));

test.run();
