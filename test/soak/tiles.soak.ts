import { test } from 'uvu';
import { fuzzTiles } from '../support/tile-fuzzing.js';

test('100,000 hostile addresses of tiles: a tile or 4xx each, and memory does not grow', () =>
  fuzzTiles(100_000));

test.run();
