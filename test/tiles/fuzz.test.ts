import { test } from 'uvu';
import { fuzzTiles } from '../support/tile-fuzzing.js';

// test/soak/fuzz.soak.ts sends a hundred times as many
test('1,000 hostile addresses of tiles: a tile or 4xx each, and memory does not grow', () =>
  fuzzTiles(1_000));

test.run();
